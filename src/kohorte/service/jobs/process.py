"""The child process as the worker sees it: start it, exchange messages, watch its memory, kill it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from kohorte.errors import EngineError
from kohorte.service.settings import DATABASE_VARIABLE, METRICS_VARIABLE, Settings

COMMAND = (sys.executable, "-m", "kohorte.service.jobs.child")
NOT_FOR_THE_CHILD = (DATABASE_VARIABLE, METRICS_VARIABLE, "PGPASSWORD")


class ChildDied(Exception):
    """The child process has ended by itself."""


class Child:
    """A process that runs one job after the other; it is restarted after it was killed or died."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """The number of the process, while there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, unless there is one already."""
        if self._process is not None:
            return
        environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_THE_CHILD}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a panic message of a library may contain data
                env=environment,
                start_new_session=True,  # Ctrl-C is for the worker
            )
        except OSError:
            raise EngineError("the process that does the work could not be started", code="job-process") from None
        assert self._process.stdout is not None
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        with suppress(ChildDied):  # the next call of `receive` notices
            self.send(
                {
                    "folder": str(self._settings.vault_folder.absolute()),
                    "key_file": str(self._settings.key_path.absolute()),
                }
            )

    def send(self, message: dict[str, Any]) -> None:
        """Write one line."""
        if self._process is None or self._process.stdin is None:
            raise ChildDied
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise ChildDied from None

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next answer, or None if none arrives within this time."""
        try:
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            return None
        if answer is None:
            raise ChildDied
        return answer

    def resident(self) -> int:
        """Return the resident memory of the process in bytes; 0 if the system does not provide it."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _read(stream: IO[bytes], answers: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    with suppress(OSError, ValueError):  # a killed process leaves an incomplete line; a closed stream cannot be read
        for line in stream:
            answers.put(json.loads(line))
    answers.put(None)
