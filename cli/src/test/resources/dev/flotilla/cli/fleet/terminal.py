"""Runs a command on a terminal of its own: what comes in is typed, what it shows goes out."""

import os
import pty
import select
import signal
import sys

child, terminal = pty.fork()
if child == 0:
    # As a login does: a build that runs in the background hands down that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
watched = [terminal, 0]
while terminal in watched:
    for ready in select.select(watched, [], [])[0]:
        try:
            data = os.read(ready, 65536)
        except OSError:  # Linux says that the other end of a terminal is closed by an error
            data = b""
        if not data:
            watched.remove(ready)
        else:
            os.write(1 if ready == terminal else terminal, data)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code if code >= 0 else 128 - code)
