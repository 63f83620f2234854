"""Writes a picture; the suffix of the file name selects the format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.errors import InputError
from kohorte.pages import refuse_file, write_text
from kohorte.space.page import to_html
from kohorte.space.sheet import to_svg

if TYPE_CHECKING:
    from kohorte.space.solution_space import SolutionSpace

KINDS = {".html": to_html, ".htm": to_html, ".svg": to_svg}


def refuse_picture(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse, before any work is done, a picture that cannot be written or would replace an input file."""
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path}: a picture is written as .html or .svg", code="picture-format")
    refuse_file(path, needed=needed, force=force)


def write_picture(space: SolutionSpace, path: Path, *, force: bool) -> None:
    """Write the picture of a solution space, as a page or an image."""
    refuse_picture(path, needed=space.plan.files(), force=force)
    write_text(path, KINDS[path.suffix.lower()](space), force=force)
