"""Give memory that is no longer needed back to the operating system.

The C library keeps what was freed between small pieces that are still in use: after previews on many tables, half of
the memory of a server was of this kind.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache


def return_memory() -> None:
    """Give back what was freed, where the C library can do that (glibc)."""
    with suppress(OSError, AttributeError):
        _library().malloc_trim(0)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)
