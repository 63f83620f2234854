"""A lock on the folder of a series: one command at a time. It ends with the process, however that ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kohorte.errors import EngineError, InputError

LOCK = "lock"

if sys.platform == "win32":  # pragma: no cover - the same on another system
    import msvcrt

    def take(descriptor: int) -> None:
        """Lock an open file, or raise OSError if another process has locked it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def take(descriptor: int) -> None:
        """Lock an open file, or raise OSError if another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a series while the block runs; refuse at once if another process has it."""
    descriptor = _opened(folder)
    try:
        try:
            take(descriptor)
        except OSError:
            raise InputError(
                f"{folder}: another command is using this series; try again when it has ended",
                code="series-locked",
            ) from None
        yield
    finally:
        os.close(descriptor)


def _opened(folder: Path) -> int:
    """Open the lock file; a folder that can only be read can be locked as well."""
    path = folder / LOCK
    try:
        if path.exists():
            return os.open(path, os.O_RDONLY)
        return os.open(path, os.O_CREAT | os.O_RDONLY, 0o600)
    except OSError:
        raise EngineError(f"{folder}: the lock of the series could not be opened", code="series-lock-failed") from None
