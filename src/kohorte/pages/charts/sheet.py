"""A sheet of text and drawings from top to bottom, for images, in which no browser arranges the text."""

from __future__ import annotations

import textwrap

from markupsafe import Markup

from kohorte.pages.charts.svg import Drawing, cut_text, element, joined, line
from kohorte.pages.style import clean

MARGIN = 30
LINE = 19
WIDEST = 1200
CHARACTER = 6.6
"""The approximate width of a character in a text of 13 pixels: an image cannot measure text."""


class Sheet:
    """Writes from top to bottom; `y` is the height that it has reached."""

    def __init__(self, width: int) -> None:
        self.width = width + 2 * MARGIN
        self.room = width
        self.y: float = MARGIN
        self._parts: list[Markup] = []

    def drop(self, by: float) -> None:
        """Move down."""
        self.y += by

    def add(self, part: Markup) -> None:
        """Add an element that was drawn for this height."""
        self._parts.append(part)

    def text(self, x: float, words: str, kind: str = "", *, most: int = 10_000) -> None:
        """Write at the current height; text that is too long is cut."""
        self.add(cut_text(x, self.y, words, kind, most))

    def line(self, words: str, kind: str = "", *, drop: float = LINE) -> None:
        """Write a line below the previous content."""
        self.drop(drop)
        self.text(MARGIN, words, kind)

    def wrapped(self, words: str, x: float, room: float, kind: str = "") -> float:
        """Write a text in as many lines as it needs; return the height that they reach."""
        letters = room / (CHARACTER * (1.2 if kind == "strong" else 1))
        for one in textwrap.wrap(clean(words), int(letters)):
            self.drop(LINE)
            self.text(x, one, kind)
        return self.y

    def paragraph(self, words: str, kind: str = "") -> None:
        """Write a text over the whole width."""
        self.wrapped(words, MARGIN, min(self.room, WIDEST), kind)

    def rule(self) -> None:
        """Draw a line across."""
        self.add(line(MARGIN, self.y, self.width - MARGIN, self.y, "line"))

    def drawing(self, drawing: Drawing) -> None:
        """Add a drawing below the previous content."""
        self.add(element("g", {"transform": f"translate({MARGIN} {self.y:g})"}, drawing.body))
        self.drop(drawing.height)

    def body(self) -> Markup:
        """The content of the sheet."""
        return joined(self._parts)
