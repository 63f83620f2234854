"""Pieces of SVG, and whole drawings: for a page, or as a file of their own."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.release.picture.style import css, safe

RULES = """\
.paper{fill:@paper}
text{fill:@ink;font-family:system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:12px}
.soft{fill:@soft}
.small{font-size:11px}
.strong{font-weight:600}
.end{text-anchor:end}
.mid{text-anchor:middle}
.axis{stroke:@hollow;fill:none}
.grid{stroke:@line;fill:none}
.leader{stroke:@hollow;stroke-width:.8;fill:none}
.whisker{stroke:@ink;stroke-width:1.5;fill:none}
.dash{stroke-dasharray:4 3}
.levels{fill:@shade1}
.cells{fill:@mark}
"""
"""The rules of every drawing; `levels` and `cells` are the colours of the two kinds of algorithms."""

LETTER = 6.5
"""How wide a letter is about, in a text of 12 pixels."""


@dataclass(frozen=True)
class Drawing:
    """A piece of SVG with its size; `title` says what it shows, `caption` how to read it."""

    name: str
    title: str
    caption: str
    width: int
    height: int
    body: str

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
            f'<style>\n{css(RULES)}</style>\n<rect class="paper" width="{self.width}" height="{self.height}"/>\n'
            f"{self.body}</svg>\n"
        )


def text(x: float, y: float, words: object, kind: str = "") -> str:
    """A line of text."""
    return f'<text{_kind(kind)} x="{x:.1f}" y="{y:.1f}">{safe(words)}</text>\n'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<path{_kind(kind)} d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>\n'


def bar(x: float, y: float, width: float, height: float, kind: str, hint: str = "") -> str:
    """A rectangle, with what a viewer shows when the mouse rests on it."""
    size = f'width="{max(width, 0.5):.1f}" height="{height:.1f}"'
    return f'<rect{_kind(kind)} x="{x:.1f}" y="{y:.1f}" {size}>{_hint(hint)}</rect>\n'


def mark(x: float, y: float, kind: str, hint: str = "") -> str:
    """A point: a circle for one level in all rows, a diamond where cells differ from row to row."""
    if kind == "cells":
        outline = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
    else:
        outline = f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"
    return f'<path{_kind(kind)} d="{outline}">{_hint(hint)}</path>\n'


def legend(x: float, y: float) -> str:
    """Which mark is which kind of algorithm."""
    return (
        mark(x, y, "levels")
        + text(x + 12, y + 4, "one level for each attribute", "small soft")
        + mark(x + 190, y, "cells")
        + text(x + 202, y + 4, "cells differ from row to row", "small soft")
    )


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _hint(hint: str) -> str:
    return f"<title>{safe(hint)}</title>" if hint else ""
