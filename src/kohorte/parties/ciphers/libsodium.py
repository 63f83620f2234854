"""libsodium, which computes in the group ristretto255: the library of the system, or the copy in the package rbcl."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from kohorte.errors import InputError
from kohorte.kernels import Ristretto

_NAMES = {
    "linux": ("libsodium.so.26", "libsodium.so.23"),
    "darwin": ("libsodium.26.dylib", "libsodium.23.dylib", "libsodium.dylib"),
    "win32": ("libsodium.dll",),
}
"""Names of versions with ristretto255: 1.0.18 and later."""

_FUNCTIONS = {
    "multiply": "crypto_scalarmult_ristretto255",
    "multiply_base": "crypto_scalarmult_ristretto255_base",
    "add": "crypto_core_ristretto255_add",
    "subtract": "crypto_core_ristretto255_sub",
    "from_hash": "crypto_core_ristretto255_from_hash",
    "is_valid": "crypto_core_ristretto255_is_valid_point",
}


@cache
def ristretto() -> Ristretto:
    """Return the operations on rows of points."""
    return Ristretto(**addresses())


def addresses() -> dict[str, int]:
    """Return where the functions of the library are, by the names that the kernels use."""
    library = libsodium()
    return {name: ctypes.cast(library[symbol], ctypes.c_void_p).value or 0 for name, symbol in _FUNCTIONS.items()}


@cache
def libsodium() -> ctypes.CDLL:
    """Return the first libsodium that knows the group."""
    for library in _libraries():
        if all(hasattr(library, name) for name in _FUNCTIONS.values()) and library.sodium_init() >= 0:
            return library
    raise InputError(
        "no libsodium with ristretto255 was found; install kohorte[parties], or libsodium 1.0.18 or later "
        "(if /tmp does not allow programs, set TMPDIR to a folder that does)",
        code="party-library-missing",
    )


def _libraries() -> Iterator[ctypes.CDLL]:
    for name in _NAMES.get(sys.platform, _NAMES["linux"]):
        with suppress(OSError):
            yield ctypes.CDLL(name)
    with suppress(ImportError, OSError):
        yield _bundled()


def _bundled() -> ctypes.CDLL:
    """Load the copy in rbcl, which writes it to a temporary file; the file is removed once it is loaded."""
    module = importlib.import_module("rbcl._sodium")
    if sys.platform != "win32":
        Path(module.lib_path).unlink(missing_ok=True)
    library: ctypes.CDLL = module._sodium  # noqa: SLF001 - rbcl has no public name for the library
    return library
