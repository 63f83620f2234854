"""Write pages and images: problems are found before the work, and files are written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kohorte.data import atomic_write, refuse_same_file
from kohorte.data.files import refuse_output
from kohorte.errors import InputError


def refuse_file(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse a file that cannot be written or would replace an input, before any work is done."""
    for source in needed:
        refuse_same_file(source, path)
    refuse_output(path, force=force)


def refuse_page(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse a page that cannot be written, or whose name does not end in .html."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a page is written as .html", code="page-format")
    refuse_file(path, needed=needed, force=force)


def write_text(path: Path, text: str, *, force: bool) -> None:
    """Write a text completely or not at all."""
    with atomic_write(path, force=force) as temporary:
        temporary.write_bytes(text.encode())
