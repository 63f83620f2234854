"""Writing a picture: the name of the file says which kind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.drawing import refuse_file, write_text
from kohorte.errors import InputError
from kohorte.release.picture.page import to_html
from kohorte.release.picture.sheet import to_svg

if TYPE_CHECKING:
    from kohorte.release.space import SolutionSpace

KINDS = {".html": to_html, ".htm": to_html, ".svg": to_svg}


def refuse_picture(path: Path, *, needed: Iterable[Path | str], force: bool) -> None:
    """Refuse, before any work is done, a picture that could not be written or would replace a file that is read."""
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path}: a picture is written as .html or .svg", code="picture-format")
    refuse_file(path, needed=needed, force=force)


def write_picture(space: SolutionSpace, path: Path, *, force: bool) -> None:
    """Write the picture of a solution space, as a page or an image."""
    refuse_picture(path, needed=space.plan.files(), force=force)
    write_text(path, KINDS[path.suffix.lower()](space), force=force)
