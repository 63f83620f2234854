"""The worker's side of its child process: starting it, talking to it, watching its memory, ending it."""

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
    """A warm process for one job after the other; started anew when it was killed or died."""

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
                stderr=subprocess.DEVNULL,  # a library that panics quotes data
                env=environment,
                start_new_session=True,  # Ctrl-C is for the worker
            )
        except OSError:
            raise EngineError("the process that does the work could not be started", code="job-process") from None
        assert self._process.stdout is not None
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        with suppress(ChildDied):  # whoever listens next will notice
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
        """Return the next answer, or None when there is none for so long."""
        try:
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            return None
        if answer is None:
            raise ChildDied
        return answer

    def resident(self) -> int:
        """Return how many bytes of memory the process holds; 0 where the system does not say."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """End the process, whatever it does."""
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
    with suppress(OSError, ValueError):  # a killed process leaves half a line; a closed stream cannot be read
        for line in stream:
            answers.put(json.loads(line))
    answers.put(None)
