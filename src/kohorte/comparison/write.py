"""Writes the page of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.pages import refuse_page, write_text

if TYPE_CHECKING:
    from kohorte.comparison.compare import Comparison


def write_page(comparison: Comparison, path: Path, *, force: bool) -> None:
    """Write the page, whole or not at all."""
    refuse_page(path, needed=comparison.plan.files(), force=force)
    write_text(path, comparison.to_html(), force=force)
