"""The process that does the work of a worker: takes orders on standard input, answers on standard output.

Each line is one JSON object. Every answer carries the name of its order, so that none is taken for that to another. The
process knows the folder of locked files and where the key is, not the database. When its standard input ends, the
worker is gone: it removes what it was writing, and ends, whatever it is doing.
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
from kohorte.service.jobs.files import remove
from kohorte.service.jobs.places import place_of
from kohorte.service.jobs.queue import Kind, State
from kohorte.service.jobs.tasks import TASKS, Work, warm_up
from kohorte.service.problems import problem_of
from kohorte.service.vault import Vault


class Stopped(Exception):
    """The worker asked to stop."""


class Desk:
    """Where orders come in and answers go out; a thread reads, so that a stop is heard while work goes on."""

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
            with suppress(ValueError):  # half a line: the worker was killed while it wrote
                for line in orders:
                    order = json.loads(line)
                    if "stop" in order:
                        self._stop.set()
                    else:
                        self._orders.put(order)
            for name in list(self._files):
                remove(self.vault, name)
        finally:
            os._exit(1)  # whatever the other thread does

    def next_order(self) -> dict[str, Any]:
        """Wait for the next job."""
        order = self._orders.get()
        self._order = order["order"]
        self._stop.clear()
        return order

    def progress(self, share: float, message: str) -> None:
        """Say how far the job is."""
        self._answer({"progress": share, "message": message})
        if self._stop.is_set():
            raise Stopped

    def file(self, name: str) -> None:
        """Name a file before it is written, so that somebody removes it if this process dies."""
        self._files.append(name)
        self._answer({"file": name})
        if self._stop.is_set():
            raise Stopped

    def end(self, outcome: dict[str, Any]) -> None:
        """Hand over the outcome, and the files with it."""
        if outcome["state"] != State.DONE:
            for name in self._files:
                remove(self.vault, name)
        self._files.clear()
        self._answer({"outcome": outcome})

    def ready(self) -> None:
        """Say that the first job may come."""
        self._answer({"ready": True})

    def _answer(self, message: dict[str, Any]) -> None:
        self._answers.write(json.dumps({"order": self._order, **message}).encode() + b"\n")
        self._answers.flush()


def perform(desk: Desk, order: dict[str, Any]) -> dict[str, Any]:
    """Do a job; whatever goes wrong is an outcome, too, without the words of libraries."""
    work = Work(order["request"], order["table_file"], order["most_cells"], desk.vault, desk)
    try:
        done = TASKS[Kind(order["kind"])](work)
        outcome = {"state": State.DONE, "result": done.result, "values": done.values}
        json.dumps(outcome, allow_nan=False)  # what no database keeps is a bug of the job
    except Stopped:
        return {"state": State.CANCELLED}
    except KohorteError as error:
        return {"state": State.FAILED, "problem": problem_of(error), "place": place_of(error)}
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - also panics of Rust, which are no Exception
        unexpected = InternalError("unexpected", code="internal")
        return {"state": State.FAILED, "problem": problem_of(unexpected), "place": place_of(error)}
    return outcome


def main() -> None:
    """Take orders until the worker is gone."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that a library prints is an answer
    desk = Desk(sys.stdin.buffer, answers)
    warm_up()
    desk.ready()
    while True:
        order = desk.next_order()
        desk.end(perform(desk, order))


if __name__ == "__main__":
    main()
