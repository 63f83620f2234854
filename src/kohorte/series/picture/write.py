"""Writing the page of a series."""

from __future__ import annotations

from pathlib import Path

from kohorte.pages import write_text
from kohorte.series.definition import Definition
from kohorte.series.memory.state import State
from kohorte.series.picture.page import to_html
from kohorte.series.picture.story import Story
from kohorte.series.status.status import SeriesStatus


def write_page(definition: Definition, state: State, status: SeriesStatus, path: Path, *, force: bool) -> None:
    """Write the page, whole or not at all; with what the next release would be where the status tells it."""
    write_text(path, to_html(Story.of(definition, state, status)), force=force)
