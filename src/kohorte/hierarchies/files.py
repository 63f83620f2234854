"""Read the files that a plan names; messages never contain their content."""

from __future__ import annotations

from pathlib import Path

from kohorte.errors import EngineError, InputError


def file_name(value: object, *, option: str) -> str:
    """The name of a file as a plan writes it."""
    name = str(value) if isinstance(value, Path) else value
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(f"{option} must be the name of a file", code="hierarchy-option-invalid")
    return name


def read_text(name: str, *, folder: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; line ends stay as they are."""
    path = folder / name
    if not path.is_file():
        raise InputError(f"the hierarchy file {name} does not exist", code="hierarchy-file-missing")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"the hierarchy file {name} is not UTF-8", code="hierarchy-file-encoding") from None
    except OSError:
        raise EngineError(f"the hierarchy file {name} cannot be read", code="hierarchy-file-unreadable") from None
