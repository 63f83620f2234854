"""Writing the page of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.data import atomic_write, refuse_same_file
from kohorte.data.files import refuse_output
from kohorte.errors import InputError

if TYPE_CHECKING:
    from kohorte.release.comparison.compare import Comparison


def refuse_page(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse, before any work is done, a page that could not be written or would replace a file that is read."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: the page of a comparison is written as .html", code="page-format")
    for source in needed:
        refuse_same_file(source, path)
    refuse_output(path, force=force)


def write_page(comparison: Comparison, path: Path, *, force: bool) -> None:
    """Write the page, whole or not at all."""
    refuse_page(path, needed=comparison.plan.files(), force=force)
    text = comparison.to_html()
    with atomic_write(path, force=force) as temporary:
        temporary.write_bytes(text.encode())
