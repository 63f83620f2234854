"""A private folder for rows that do not fit into memory: beside the output, and removed with the last user.

What a killed command left is found by its lock, which ends with the process, and removed by the next command that
writes to the same folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp

PREFIX = ".kohorte-spill-"
LOCK = "lock"
_SPILL = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_]{8}")


class SpillFolder:
    """A folder that only its owner can read; it is removed when nothing uses it any more, or at the end."""

    def __init__(self, beside: Path | None = None) -> None:
        self.path = Path(mkdtemp(prefix=PREFIX, dir=beside))
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_WRONLY, 0o600)
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.remove = weakref.finalize(self, _remove, self.path, self._lock)

    def file(self, name: str) -> Path:
        """The path of a file in the folder."""
        return self.path / name


def remove_spilled(folder: Path) -> int:
    """Remove the spill folders of killed commands, and return how many; those of running commands are locked."""
    found = 0
    for path in folder.iterdir():
        if _SPILL.fullmatch(path.name) is None or path.is_symlink():
            continue
        with contextlib.suppress(OSError), (path / LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
            found += 1
    return found


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
