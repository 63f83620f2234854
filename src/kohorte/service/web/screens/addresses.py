"""Addresses of the interface, and which of them a visitor may be sent to."""

from __future__ import annotations

import re

ROOT = "/app"
SIGN_IN = f"{ROOT}/sign-in"
_LOCAL = re.compile(rf"{ROOT}(?:/[A-Za-z0-9._~%/-]*)?(?:\?[A-Za-z0-9._~%&=+-]*)?")
LONGEST = 500


def is_screen(path: str) -> bool:
    """Whether a path belongs to the web interface."""
    return path == ROOT or path.startswith(f"{ROOT}/")


def local(address: str) -> str:
    """Return an address within the interface as it is, and the home page for any other: nobody is sent elsewhere."""
    fits = len(address) <= LONGEST and _LOCAL.fullmatch(address) is not None and "//" not in address
    return address if fits and not address.startswith(SIGN_IN) else ROOT
