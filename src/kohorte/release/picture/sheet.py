"""The picture as one SVG image: the drawing, the neighbours and the best as text, without any script."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kohorte.drawing import Drawing, css, safe, short, tooltip
from kohorte.drawing.style import RULES
from kohorte.release.picture.cells import cell_map
from kohorte.release.picture.drawing import legend, swatch
from kohorte.release.picture.facts import Facts, Step
from kohorte.release.picture.hasse import fits, hasse
from kohorte.release.picture.page import around, heads, listed, row, sentence
from kohorte.search import Evaluation

if TYPE_CHECKING:
    from kohorte.release.space import SolutionSpace

MARGIN = 30
LINE = 19
CHARACTER = 6.6
"""How wide a character is, about: an image cannot ask."""


def to_svg(space: SolutionSpace) -> str:
    """Return the picture as one self-contained SVG image."""
    facts = Facts(space)
    drawing = hasse(facts) if fits(facts) else cell_map(facts)
    width = drawing.width + 2 * MARGIN
    sheet = _Sheet(width)
    sheet.line(facts.title, "title", drop=10)
    sheet.drop(8)
    sheet.paragraph(facts.answer, "strong")
    sheet.paragraph(f"{facts.counts} {facts.demand}")
    sheet.drop(14)
    _legend(sheet, facts)
    sheet.drawing(drawing)
    sheet.paragraph(f"Order of the attributes: {', '.join(space.attributes)}. {drawing.caption}", "soft")
    _neighbours(sheet, facts)
    _best(sheet, facts)
    height = sheet.y + MARGIN
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height:g}" viewBox="0 0 {width} {height:g}" role="img" aria-labelledby="named">\n'
        f'<title id="named">{safe(facts.title)}</title>\n<desc>{safe(facts.answer)} {safe(facts.counts)}</desc>\n'
        f'<style>\n{css(RULES + drawing.rules)}</style>\n<rect class="paper" width="100%" height="100%"/>\n'
        f"{''.join(sheet.parts)}</svg>\n"
    )


class _Sheet:
    """Writes from top to bottom."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.room = width - 2 * MARGIN
        self.y: float = MARGIN
        self.parts: list[str] = []

    def drop(self, by: float) -> None:
        self.y += by

    def text(self, x: float, text: str, kind: str = "", *, most: int = 10_000) -> None:
        """Write at the current height, cut where there is no room; the whole text is in its tooltip then."""
        whole = tooltip(text) if len(text) > most else ""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{self.y:g}">{whole}{safe(short(text, most))}</text>\n')

    def line(self, text: str, kind: str = "", *, drop: float = LINE) -> None:
        self.drop(drop)
        self.text(MARGIN, text, kind)

    def paragraph(self, text: str, kind: str = "") -> None:
        wide = CHARACTER * (1.2 if kind == "strong" else 1)
        for line in textwrap.wrap(text, int(min(self.room, 1200) / wide)):
            self.line(line, kind)

    def drawing(self, drawing: Drawing) -> None:
        self.parts.append(f'<g transform="translate({MARGIN} {self.y:g})">\n{drawing.body}</g>\n')
        self.drop(drawing.height)

    def rule(self) -> None:
        self.parts.append(f'<path class="line" d="M{MARGIN} {self.y:g}H{self.width - MARGIN}"/>\n')


def _legend(sheet: _Sheet, facts: Facts) -> None:
    x: float = MARGIN
    sheet.drop(LINE)
    for kind, name in legend(facts):
        wide = 20 + len(name) * CHARACTER + 18
        if x + wide > sheet.width - MARGIN:
            x = MARGIN
            sheet.drop(LINE)
        sheet.parts.append(swatch(kind, x, sheet.y - 11))
        sheet.text(x + 20, name)
        x += wide
    sheet.drop(18)


def _neighbours(sheet: _Sheet, facts: Facts) -> None:
    sheet.line(around(facts), "head", drop=44)
    column = sheet.room * 0.39
    centre = MARGIN + sheet.room / 2
    sheet.drop(26)
    sheet.text(MARGIN, "one step finer", "small soft strong")
    sheet.text(centre, facts.mark, "small soft strong mid")
    sheet.text(MARGIN + sheet.room - column, "one step coarser", "small soft strong")
    for step in facts.steps:
        sheet.drop(8)
        sheet.rule()
        start = sheet.y
        ends = [_side(sheet, facts, step, step.finer, x=MARGIN, wide=column)]
        sheet.y = start
        ends.append(
            _side(sheet, facts, step, step.coarser, x=MARGIN + sheet.room - column, wide=column),
        )
        sheet.y = start + LINE
        sheet.text(centre, step.attribute, "strong mid", most=int(sheet.room * 0.16 / CHARACTER))
        sheet.drop(8)
        _gauge(sheet, step, centre)
        sheet.drop(24)
        sheet.text(centre, f"level {step.level} of {step.top}", "small soft mid")
        sheet.y = max(*ends, sheet.y)


def _gauge(sheet: _Sheet, step: Step, centre: float) -> None:
    left = centre - step.top * 6
    for level in range(step.top):
        kind = "gauge" if level < step.level else "gap"
        sheet.parts.append(f'<rect class="{kind}" x="{left + level * 12 + 1:g}" y="{sheet.y:g}" width="9" height="9"/>')
    sheet.parts.append("\n")


def _side(sheet: _Sheet, facts: Facts, step: Step, node: Evaluation | None, *, x: float, wide: float) -> float:
    """Write what happens one step away; return where it ends."""
    if node is None:
        lines, kind = ["no further level"], "soft"
    else:
        text = f"{'✓' if node.solution else '✗'} {sentence(facts, step, node)}"
        lines, kind = textwrap.wrap(text, int(wide / CHARACTER)), "" if node.solution else "soft"
    for line in lines:
        sheet.drop(LINE)
        sheet.text(x, line, kind)
    return sheet.y


def _best(sheet: _Sheet, facts: Facts) -> None:
    sheet.line(listed(facts), "head", drop=48)
    names = heads(facts)
    step = min((sheet.room - 30) / (len(names) - 1), 130)
    places = [MARGIN + 20 + step * number for number in range(len(names))]
    most = max(4, int((step - 8) / 6.8))
    for number, cells in enumerate([names, *(row(facts, place, node) for place, node in enumerate(facts.listed, 1))]):
        sheet.drop(LINE + 3 if number else 26)
        kind = ("small soft strong end", "strong end")[number] if number < 2 else "end"
        for x, cell in zip(places, cells, strict=True):
            sheet.text(x, cell, kind, most=most)
        sheet.drop(6)
        sheet.rule()
