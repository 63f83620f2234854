"""The process that runs the jobs of a worker: orders on standard input, answers on standard output.

Each line is one JSON object. Every answer names its order, so that it cannot be mistaken for the answer to another. The
process knows the vault and the key file, not the database. When its standard input ends, the worker is gone: the
process then removes the files that it was writing, and exits.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from kohorte.errors import InternalError, KohorteError
from kohorte.service.disclosures.examined import Withheld
from kohorte.service.jobs.error_location import error_location
from kohorte.service.jobs.files import remove
from kohorte.service.jobs.queue import Kind, State
from kohorte.service.jobs.tasks import TASKS, Work, warm_up
from kohorte.service.problems import problem_of
from kohorte.service.settings import UNPACKED_LIMIT
from kohorte.service.trust.leaving.releases import Places
from kohorte.service.vault import Vault


class Stopped(Exception):
    """The worker asked to stop."""


class Channel:
    """The connection to the worker; a thread reads orders, so that a request to stop is noticed during work."""

    def __init__(self, orders: BinaryIO, answers: BinaryIO) -> None:
        self._answers = answers
        self._stop = threading.Event()
        self._orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._files: list[str] = []
        self._order = ""
        first = json.loads(orders.readline())
        self.vault = Vault.at(Path(first["folder"]), Path(first["key_file"]))
        threading.Thread(target=self._read, args=(orders,), daemon=True).start()

    def _read(self, orders: BinaryIO) -> None:
        try:
            with suppress(ValueError):  # an incomplete line: the worker was killed while writing
                for line in orders:
                    order = json.loads(line)
                    if "stop" in order:
                        self._stop.set()
                    else:
                        self._orders.put(order)
            for name in list(self._files):
                remove(self.vault, name)
        finally:
            os._exit(1)  # the other thread may be busy

    def next_order(self) -> dict[str, Any]:
        """Wait for the next job."""
        order = self._orders.get()
        self._order = order["order"]
        self._stop.clear()
        return order

    def progress(self, share: float, message: str) -> None:
        """Report the progress of the job."""
        self._answer({"progress": share, "message": message})
        if self._stop.is_set():
            raise Stopped

    def file(self, name: str) -> None:
        """Name a file before it is written, so that the worker removes it if this process dies."""
        self._files.append(name)
        self._answer({"file": name})
        if self._stop.is_set():
            raise Stopped

    def end(self, outcome: dict[str, Any]) -> None:
        """Send the outcome; the files then belong to the worker."""
        if outcome["state"] != State.DONE:
            for name in self._files:
                remove(self.vault, name)
        self._files.clear()
        self._answer({"outcome": outcome})

    def ready(self) -> None:
        """Report that the process is ready for the first job."""
        self._answer({"ready": True})

    def _answer(self, message: dict[str, Any]) -> None:
        self._answers.write(json.dumps({"order": self._order, **message}).encode() + b"\n")
        self._answers.flush()


def perform(channel: Channel, order: dict[str, Any]) -> dict[str, Any]:
    """Run a job; a failure is an outcome, too, without the messages of libraries."""
    work = Work(
        order["request"],
        order["table_file"],
        order["most_cells"],
        channel.vault,
        channel,
        unpacked_limit=order.get("unpacked_limit", UNPACKED_LIMIT),
        ledger=order.get("ledger"),
        places=Places(**order["places"]) if "places" in order else None,
    )
    try:
        done = TASKS[Kind(order["kind"])].run(work)
        outcome = {"state": State.DONE, "result": done.result, "values": done.values, "noted": done.noted}
        json.dumps(outcome, allow_nan=False)  # a result that the database cannot store is a bug of the job
    except Stopped:
        return {"state": State.CANCELLED}
    except Withheld as error:
        outcome = {"state": State.FAILED, "problem": problem_of(error), "location": error_location(error)}
        return outcome | {"noted": error.reason}
    except KohorteError as error:
        return {"state": State.FAILED, "problem": problem_of(error), "location": error_location(error)}
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - includes panics of Rust, which are not of type Exception
        unexpected = InternalError("unexpected", code="internal")
        return {"state": State.FAILED, "problem": problem_of(unexpected), "location": error_location(error)}
    return outcome


def main() -> None:
    """Run orders until the worker is gone."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not look like an answer
    channel = Channel(sys.stdin.buffer, answers)
    warm_up()
    channel.ready()
    while True:
        order = channel.next_order()
        channel.end(perform(channel, order))


if __name__ == "__main__":
    main()
