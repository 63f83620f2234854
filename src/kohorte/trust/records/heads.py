"""log.head: how far a log was, in a file beside it. A log that ends before that was cut, or is an older copy.

The file is written after each entry. A process that is killed in between leaves a log that is longer than the file
says, which is allowed: nobody without the key can write an entry. The file has a keyed code, so that only a copy of an
older file could make a cut log look whole.
"""

from __future__ import annotations

import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from kohorte.data import atomic_write
from kohorte.errors import EngineError, InputError

START = "0" * 64


@dataclass(frozen=True)
class Head:
    """The number and the code of the last entry; noted elsewhere, it proves that nothing was removed since."""

    number: int = 0
    code: str = START

    def __str__(self) -> str:
        return f"{self.number}:{self.code}"


NONE = Head()


def head_of(text: str) -> Head:
    """Read a head that was noted before, as `str` wrote it."""
    number, _, code = text.strip().partition(":")
    if not number.isdecimal() or len(code) != len(START):
        raise InputError("--head: a head is a number, a colon and a code of 64 characters", code="trust-head")
    return Head(int(number), code)


class HeadFile:
    """The file of one log."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key

    def read(self) -> Head | None:
        """What the file says; None if there is none. A file that is not as it was written is refused."""
        try:
            text = self.path.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return None
        except OSError:
            raise cut(self.path.parent, "log.head cannot be read") from None
        number, _, rest = text.strip().partition(":")
        code, _, mark = rest.partition(" ")
        if not number.isdecimal() or not hmac.compare_digest(mark.encode(), self._mark(f"{number}:{code}").encode()):
            raise cut(self.path.parent, "log.head was changed, or is of another folder")
        return Head(int(number), code)

    def write(self, head: Head) -> None:
        """Replace what the file says."""
        with atomic_write(self.path, force=True, private=True) as temporary:
            temporary.write_text(f"{head} {self._mark(str(head))}\n", encoding="ascii")

    def _mark(self, head: str) -> str:
        return hmac.digest(self._key, head.encode(), "sha256").hex()


def cut(folder: Path, what: str) -> EngineError:
    """The error of a log that lacks entries."""
    return EngineError(
        f"{folder}{os.sep}log.jsonl: {what}; put the newest copy of the folder back, or see 'kohorte folder confirm'",
        code="trust-log-cut",
    )
