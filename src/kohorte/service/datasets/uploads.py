"""Uploaded files, which are encrypted while they arrive, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

LONGEST_FILE_NAME = 255
NAMELESS = "table"


@dataclass(frozen=True)
class Upload:
    """An uploaded file, encrypted in the vault."""

    file: str
    file_name: str
    bytes: int
    sha256: str


def safe_file_name(given: str) -> str:
    """Return the last part of a path, printable and not too long; it is never used as a path on this computer."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(sign for sign in last if sign.isprintable()).strip()
    if not name.strip("."):
        return NAMELESS
    if len(name) <= LONGEST_FILE_NAME:
        return name
    suffix = PurePosixPath(name).suffix
    return name[:LONGEST_FILE_NAME] if len(suffix) > 16 else name[: LONGEST_FILE_NAME - len(suffix)] + suffix
