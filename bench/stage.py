"""What the benchmarks of this folder share: the processes of a run, the machine, where a report goes."""

import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILT = ROOT / "target" / "bench"
START_LIMIT_S = 60
LOAD_BEFORE = os.getloadavg()[0]


def say(text):
    print(text, file=sys.stderr, flush=True)


def die(text):
    sys.exit("run: " + text)


def need(program, how):
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/go/bin")
    if not found:
        die(f"{program} is not on the PATH: {how}")
    return found


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(url, key="", body=None):
    """Whether the URL answers 200."""
    headers = {"Authorization": "Bearer " + key} if key else {}
    data = json.dumps(body).encode() if body else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=5) as reply:
            return reply.status == 200
    except (OSError, urllib.error.URLError):
        return False


class Stage:
    """The processes of one run. Ends all of them, the last first, whatever ends the run: an error, Ctrl-C, TERM."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flotilla-bench-"))
        self.processes = []

    def __enter__(self):
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
        return self

    def __exit__(self, *what):
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, signal.SIG_IGN)  # it takes some seconds, and no second word of it helps
        for process in reversed(self.processes):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name, *command, **environment):
        log = open(self.folder / (name + ".log"), "wb")
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, **environment})
        process.name = name
        self.processes.append(process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.processes:
            self.processes.remove(process)

    def wait(self, process, ready, what):
        """Until ready() holds; returns the seconds that it took."""
        begun = time.monotonic()
        while not ready():
            if process.poll() is not None or time.monotonic() - begun > START_LIMIT_S:
                log = (self.folder / (process.name + ".log")).read_text(errors="replace")
                die(f"{what} did not come up. The end of its log:\n{log[-3000:]}")
            time.sleep(0.005)
        return time.monotonic() - begun


def go():
    return need("go", "get Go 1.23 or newer from go.dev/dl")


def build_servers():
    """Builds the fake upstream and the load client of bench/gateway into BUILT."""
    BUILT.mkdir(parents=True, exist_ok=True)
    subprocess.run([go(), "build", "-o", f"{BUILT}/", "./..."], cwd=HERE / "gateway", check=True)


def write(text, file, marker):
    """Puts the report in place of the last one: below the marker and before the next heading. A new file is the report alone."""
    if not file.exists():
        file.write_text(text)
        return
    head, found, last = file.read_text().partition(marker)
    if not found:
        die(f"{file} has no line '{marker}', below which the report goes")
    _, heading, after = last.partition("\n## ")
    file.write_text(head + marker + "\n\n" + text + heading + after)


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return (f"{os.cpu_count()} cores ({names[0] if names else platform.machine()}), {memory:.0f} GiB, "
            f"{platform.system()} {platform.release()}")


def revision():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
