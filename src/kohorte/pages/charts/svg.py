"""SVG elements, and drawings for a page or as separate files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from kohorte.pages.style import beside, css, safe, short

LETTER = 6.5
"""The approximate width of a letter in a text of 12 pixels: an image cannot measure text."""

SMALLEST, LEGIBLE = 11, 10
"""The smallest type of a drawing in its own units, and how many pixels it has at least on a page."""

PHONE = 366
"""The width of a page on a phone of 390 pixels, without its margins."""


@dataclass(frozen=True)
class Heading:
    """The names of a chart: `name` in files, `title` above it, and `caption`, which says how to read it."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Drawing:
    """A piece of SVG with its size; `title` says what it shows, `caption` how to read it.

    `rules` are additional CSS rules.
    """

    name: str
    title: str
    caption: str
    width: int
    height: int
    body: Markup
    rules: str = ""

    @property
    def view_box(self) -> str:
        """The frame of the drawing."""
        return f"0 0 {self.width} {self.height}"

    @property
    def least_width(self) -> int:
        """The width on a page from which on the smallest type is legible; narrower screens scroll."""
        return math.ceil(self.width * LEGIBLE / SMALLEST)

    @property
    def scrolls(self) -> bool:
        """Whether it is wider than a phone, so that it has to be moved there, by the keyboard as well."""
        return self.least_width > PHONE

    def inline(self) -> Markup:
        """The drawing as a part of a page, which has the rules already.

        It is a group: what it shows are images with names of their own, which a screen reader finds one by one.
        """
        return self._group(style=f"min-width:{self.least_width}px;max-width:{self.width}px")

    def without_style(self) -> Markup:
        """The same for pages whose Content-Security-Policy allows no style attributes.

        Its size is that of the drawing; the rules of the page let those that do not scroll shrink.
        """
        size = {"width": str(self.width), "height": str(self.height)}
        return self._group(**size, **{"class": "scrolls" if self.scrolls else "shrinks"})

    def _group(self, **more: str) -> Markup:
        labelled = {"role": "group", "aria-label": self.title, "viewBox": self.view_box, **more}
        return element("svg", labelled, self.body)

    def file(self, description: str = "") -> str:
        """The drawing as a separate image."""
        size = {"width": self.width, "height": self.height}
        parts = [
            element("title", {}, self.title),
            element("desc", {}, description) if description else Markup(),
            element("style", {}, css(chart_rules() + self.rules)),
            element("rect", {"class": "paper", **size}),
            self.body,
        ]
        root = {"xmlns": "http://www.w3.org/2000/svg", **size, "viewBox": self.view_box, "role": "img"}
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{element("svg", root, joined(parts))}'


def chart_rules() -> str:
    """The rules of every drawing."""
    return beside(__file__, "charts.css")


SHAPES = ("rect", "path", "g")
ATTRIBUTE = Markup(' {}="{}"')
EMPTY = Markup("<{}{}/>\n")
SILENT = Markup('<g aria-hidden="true">{}</g>\n')
WITH_CONTENT = Markup("<{0}{1}>{2}</{0}>\n")


def joined(parts: Iterable[Markup]) -> Markup:
    """Elements one after the other."""
    return Markup("").join(parts)


def element(name: str, attributes: Mapping[str, object], content: str = "", hint: str = "") -> Markup:
    """An element; content that is not markup is escaped, `hint` is its tooltip, empty attributes are left out.

    A shape with a hint is an image with this name for screen readers.
    """
    named = {"role": "img", "aria-label": hint} if hint and name in SHAPES else {}
    given = ((key.replace("_", "-"), value) for key, value in {**attributes, **named}.items() if value != "")
    written = joined(ATTRIBUTE.format(key, _written(value)) for key, value in given)
    inside = (element("title", {}, hint).rstrip() if hint else Markup()) + safe(content)
    return (WITH_CONTENT if inside else EMPTY).format(name, written, inside)


def silent(part: Markup) -> Markup:
    """A part that screen readers leave out, because a shape beside it has the same name."""
    return SILENT.format(part)


def text(x: float, y: float, words: object, kind: str = "", hint: str = "") -> Markup:
    """A line of text."""
    return element("text", {"class": kind, "x": x, "y": y}, safe(words), hint)


def cut_text(x: float, y: float, words: str, kind: str, most: int) -> Markup:
    """A line of text; if it is too long, it is cut and its tooltip has the whole text."""
    return text(x, y, short(words, most), kind, hint=words if len(words) > most else "")


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """A straight line."""
    return path(f"M{_written(x1)} {_written(y1)}L{_written(x2)} {_written(y2)}", kind)


def path(outline: str, kind: str, hint: str = "", **attributes: object) -> Markup:
    """An outline; an attribute such as `data_node` is written as `data-node`."""
    return element("path", {"class": kind, "d": outline, **attributes}, hint=hint)


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle as a part of an outline."""
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"


def bar(x: float, y: float, width: float, height: float, kind: str, hint: str = "", **attributes: object) -> Markup:
    """A rectangle."""
    size = {"x": x, "y": y, "width": max(width, 0.5), "height": height}
    return element("rect", {"class": kind, **size, **attributes}, hint=hint)


def mark(x: float, y: float, kind: str, hint: str = "", *, diamond: bool = False) -> Markup:
    """A point: a circle, or a diamond."""
    if diamond:
        return path(f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", kind, hint)
    return path(f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", kind, hint)


def _written(value: object) -> object:
    """A number with one decimal at most; any other attribute as safe text."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else safe(value)
