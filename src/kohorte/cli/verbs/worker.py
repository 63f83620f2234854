"""`kohorte worker`: run the jobs of a service, one after the other."""

from __future__ import annotations

import argparse
import signal
import sys

from kohorte.service.processes.opening import opened

EPILOG = """\
examples:
  kohorte worker --folder service                one worker, until Ctrl-C or SIGTERM
  kohorte worker --folder service --name night   with a name of its own in the log

Any number of workers may serve one folder. One that stops puts its job back; the job of one that died is
taken over by another half a minute later."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("--folder", metavar="FOLDER", required=True, help="the folder of the service")
    parser.add_argument("--name", metavar="N", help="the name of the worker in the log")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Work until a signal is received."""
    with opened(options.folder) as service:
        from kohorte.service.jobs.worker import Worker

        worker = Worker(service, options.name)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: worker.stop())
        print(f"kohorte worker: {worker.name} works for {options.folder}", file=sys.stderr, flush=True)
        worker.run()
    return 0
