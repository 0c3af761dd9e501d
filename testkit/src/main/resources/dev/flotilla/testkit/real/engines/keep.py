"""Runs a program for as long as this one's standard input is open.

usage: keep.py PROGRAM ARGUMENT...

When the input ends, because its writer closed it or died, or when this program is told to end, the program and all that it
started are asked to end, and killed five seconds later. Ends with the program's exit code.
"""

import os
import signal
import subprocess
import sys
import threading


def end_with_input(child):
    while os.read(0, 4096):
        pass
    end(child)


def end(child):
    for number, wait in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, number)
            child.wait(wait)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def main():
    ends = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # until somebody is there to end the program
    child = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
    )
    threading.Thread(target=end_with_input, args=(child,), daemon=True).start()
    for number in ends:
        signal.signal(number, lambda *_: threading.Thread(target=end, args=(child,), daemon=True).start())
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = child.wait()
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what the program left behind
    except (ProcessLookupError, PermissionError):
        pass
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
