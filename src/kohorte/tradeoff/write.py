"""Writes the page of a tradeoff."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.languages import ENGLISH, Language
from kohorte.pages import refuse_page, write_text

if TYPE_CHECKING:
    from kohorte.tradeoff.curves import Tradeoff


def write_page(found: Tradeoff, path: Path, *, force: bool, language: Language = ENGLISH) -> None:
    """Write the page, whole or not at all."""
    refuse_page(path, needed=found.plan.files(), force=force)
    write_text(path, found.to_html(language), force=force)
