"""Addresses of the interface, and which of them a visitor may be sent to."""

from __future__ import annotations

import re

ROOT = "/app"
SIGN_IN = f"{ROOT}/sign-in"
_LOCAL = re.compile(rf"{ROOT}(?:/[A-Za-z0-9._~%/-]*)?(?:\?[A-Za-z0-9._~%&=+-]*)?")
_UPWARDS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\?|$)", re.IGNORECASE)
"""Browsers follow these parts of a path upwards, out of the interface."""
LONGEST = 500


def is_screen(path: str) -> bool:
    """Whether a path belongs to the web interface."""
    return path == ROOT or path.startswith(f"{ROOT}/")


def local(address: str) -> str:
    """Return an address within the interface as it is, and the home page for any other: nobody is sent elsewhere."""
    fits = len(address) <= LONGEST and _LOCAL.fullmatch(address) is not None
    leaves = "//" in address or _UPWARDS.search(address) is not None or address.startswith(SIGN_IN)
    return address if fits and not leaves else ROOT
