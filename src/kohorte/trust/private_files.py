"""Files and folders that belong to one account: nobody else can read them, and one process at a time changes them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from kohorte.errors import EngineError, InputError

OTHERS = 0o077


def refuse_open_to_others(path: Path, *, what: str, mode: str) -> None:
    """Refuse a file or folder that others can read or write, or that belongs to another account."""
    status = path.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise InputError(f"{path}: the {what} belongs to another account; give it to this one", code="trust-owner")
    if status.st_mode & OTHERS:
        raise InputError(f"{path}: others can use the {what}; chmod {mode} it", code="trust-mode")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on an existing file or folder while the block runs; wait for it if necessary.

    The lock ends with the process, however that ends.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        raise EngineError(f"{path}: could not be locked", code="trust-lock") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
