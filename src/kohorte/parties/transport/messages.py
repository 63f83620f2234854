"""What a channel keeps of the messages of a run: who, to whom, how large, when; on request also their bytes."""

from __future__ import annotations

import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from kohorte.errors import EngineError, InternalError

KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_KIND = 40


@dataclass(frozen=True)
class Message:
    """One message of a run; `size` is in bytes as sent, `seconds` counts from the start of the run."""

    sender: str
    receiver: str
    kind: str
    size: int
    seconds: float
    phase: str


def is_kind(text: str) -> bool:
    """Whether a text can be the kind of a message or a phase: up to 40 small letters, digits and hyphens."""
    return len(text) <= LONGEST_KIND and KIND.fullmatch(text) is not None


def checked_kind(kind: str) -> str:
    """Return the kind of a message, or a phase, which stand in headers and in names of files."""
    if not is_kind(kind):
        raise InternalError(
            f"a kind of message or a phase has at most {LONGEST_KIND} small letters, digits and hyphens",
            code="party-kind-name",
        )
    return kind


class Recording:
    """Keeps every payload that is sent, as it was before compression, in one file each.

    The files are named 0001-clinic-a-to-helper-rows.bin; only their owner can read them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = 0
        self._lock = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            raise _not_recorded(folder) from None

    def keep(self, sender: str, receiver: str, kind: str, payload: bytes) -> None:
        """Write one payload to its file; an existing file is refused."""
        with self._lock:
            self._numbers += 1
            number = self._numbers
        path = self.folder / f"{number:04d}-{sender}-to-{receiver}-{kind}.bin"
        try:
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(payload)
        except OSError:
            raise _not_recorded(self.folder) from None


def _not_recorded(folder: Path) -> EngineError:
    return EngineError(
        f"{folder}: a message could not be recorded; give a new folder with enough space", code="party-record"
    )


class MessageLog:
    """Counts the messages of one party in one run, and records their payloads if asked to."""

    def __init__(self, recording: Recording | None = None, *, started: float | None = None) -> None:
        self._recording = recording
        self._started = time.monotonic() if started is None else started
        self._messages: list[Message] = []
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Count the seconds from now on."""
        self._started = time.monotonic()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages that were sent and received so far, in their order."""
        with self._lock:
            return tuple(self._messages)

    def note(self, sender: str, receiver: str, kind: str, *, size: int, phase: str) -> None:
        """Count a message that was sent or received."""
        seconds = time.monotonic() - self._started
        with self._lock:
            self._messages.append(Message(sender, receiver, kind, size, seconds, phase))

    def record(self, sender: str, receiver: str, kind: str, payload: bytes) -> None:
        """Keep the payload of a message that is about to be sent, if payloads are recorded."""
        if self._recording is not None:
            self._recording.keep(sender, receiver, kind, payload)
