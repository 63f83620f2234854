"""Pieces of SVG, and whole drawings: for a page, or as a file of their own."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.drawing.style import RULES, css, safe

LETTER = 6.5
"""How wide a letter is about, in a text of 12 pixels: an image cannot ask."""


@dataclass(frozen=True)
class Heading:
    """What a chart is called: `name` in files, `title` above it, `caption` below it says how to read it."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Drawing:
    """A piece of SVG with its size; `title` says what it shows, `caption` how to read it.

    `rules` are those that it needs beyond the rules of every drawing.
    """

    name: str
    title: str
    caption: str
    width: int
    height: int
    body: str
    rules: str = ""

    def inline(self) -> str:
        """The drawing as a part of a page, which has the rules already."""
        return (
            f'<svg role="img" aria-label="{safe(self.title)}" viewBox="0 0 {self.width} {self.height}" '
            f'style="max-width:{self.width}px">\n{self.body}</svg>'
        )

    def file(self) -> str:
        """The drawing as an image of its own."""
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
            f'height="{self.height}" viewBox="0 0 {self.width} {self.height}">\n<title>{safe(self.title)}</title>\n'
            f"<style>\n{css(RULES + self.rules)}</style>\n"
            f'<rect class="paper" width="{self.width}" height="{self.height}"/>\n{self.body}</svg>\n'
        )


def text(x: float, y: float, words: object, kind: str = "", hint: str = "") -> str:
    """A line of text."""
    return f'<text{_kind(kind)} x="{x:.1f}" y="{y:.1f}">{_hint(hint)}{safe(words)}</text>\n'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<path{_kind(kind)} d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>\n'


def bar(x: float, y: float, width: float, height: float, kind: str, hint: str = "") -> str:
    """A rectangle, with what a viewer shows when the mouse rests on it."""
    size = f'width="{max(width, 0.5):.1f}" height="{height:.1f}"'
    return f'<rect{_kind(kind)} x="{x:.1f}" y="{y:.1f}" {size}>{_hint(hint)}</rect>\n'


def mark(x: float, y: float, kind: str, hint: str = "", *, diamond: bool = False) -> str:
    """A point: a circle, or a diamond."""
    if diamond:
        outline = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
    else:
        outline = f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"
    return f'<path{_kind(kind)} d="{outline}">{_hint(hint)}</path>\n'


def tooltip(words: str) -> str:
    """What a viewer shows when the mouse rests on a thing."""
    return f"<title>{safe(words)}</title>"


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _hint(hint: str) -> str:
    return tooltip(hint) if hint else ""
