"""Writes the curves; the suffix of the file name selects the format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kohorte.errors import InputError
from kohorte.pages import refuse_file, write_text
from kohorte.survey.picture.curves import RiskCurves
from kohorte.survey.picture.drawing import to_html, to_svg

KINDS = {".html": to_html, ".htm": to_html, ".svg": to_svg}


def refuse_plot(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse, before any work is done, a picture that cannot be written or would replace an input file."""
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path}: a picture is written as .html or .svg", code="picture-format")
    refuse_file(path, needed=needed, force=force)


def write_plot(curves: RiskCurves, path: Path, *, force: bool) -> None:
    """Write the curves, whole or not at all."""
    refuse_plot(path, needed=(), force=force)
    write_text(path, KINDS[path.suffix.lower()](curves), force=force)
