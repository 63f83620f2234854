"""End a process when its parent ends, for any reason: standard input is connected to the parent.

`python -m kohorte.service.processes.lifeline MODULE ARGUMENTS` runs a module in this way.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

GRACE_SECONDS = 8.0


def end_with_parent() -> None:
    """Watch standard input from now on: when it ends, send SIGTERM to this process, and kill it after a delay."""
    threading.Thread(target=_watch, args=(sys.stdin.fileno(),), name="lifeline", daemon=True).start()


def _watch(descriptor: int) -> None:
    while os.read(descriptor, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of the terminal; the parent decides
    end_with_parent()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
