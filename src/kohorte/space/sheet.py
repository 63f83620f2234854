"""The picture as one SVG image without script: the drawing, the neighbours and the best nodes as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kohorte.pages import Sheet
from kohorte.pages.charts.sheet import CHARACTER, LINE, MARGIN
from kohorte.pages.charts.svg import bar
from kohorte.search import Evaluation
from kohorte.space.cells import cell_map
from kohorte.space.drawing import legend, swatch
from kohorte.space.facts import Facts, Step
from kohorte.space.hasse import fits, hasse
from kohorte.space.page import around, heads, listed, row, side

if TYPE_CHECKING:
    from kohorte.space.solution_space import SolutionSpace


def to_svg(space: SolutionSpace) -> str:
    """Return the picture as one self-contained SVG image."""
    facts = Facts(space)
    drawing = hasse(facts) if fits(facts) else cell_map(facts)
    sheet = Sheet(drawing.width)
    sheet.line(facts.title, "title", drop=10)
    sheet.drop(8)
    sheet.paragraph(facts.answer, "strong")
    sheet.paragraph(f"{facts.counts} {facts.demand}")
    for note in space.notes:
        sheet.paragraph(f"Note: {note}", "soft")
    sheet.drop(14)
    _legend(sheet, facts)
    sheet.drawing(drawing)
    sheet.paragraph(f"Order of the attributes: {', '.join(space.attributes)}. {drawing.caption}", "soft")
    _meanings(sheet, facts)
    _neighbours(sheet, facts)
    _best(sheet, facts)
    image = replace(drawing, width=sheet.width, height=round(sheet.y + MARGIN), body=sheet.body())
    return image.file(f"{facts.answer} {facts.counts}")


def _legend(sheet: Sheet, facts: Facts) -> None:
    x: float = MARGIN
    sheet.drop(LINE)
    for kind, name in legend(facts):
        wide = 20 + len(name) * CHARACTER + 18
        if x + wide > sheet.width - MARGIN:
            x = MARGIN
            sheet.drop(LINE)
        sheet.add(swatch(kind, x, sheet.y - 11))
        sheet.text(x + 20, name)
        x += wide
    sheet.drop(18)


def _meanings(sheet: Sheet, facts: Facts) -> None:
    """Say what the numbers in the drawing and in the table mean."""
    sheet.line("What the levels mean", "head", drop=44)
    lowest = facts.space.levels(facts.space.lattice.bottom)
    for name, first, words in zip(facts.space.attributes, lowest, facts.space.meanings, strict=True):
        sheet.drop(4)
        sheet.paragraph(f"{name}: " + "; ".join(f"{level} {said}" for level, said in enumerate(words, first)))


def _neighbours(sheet: Sheet, facts: Facts) -> None:
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


def _gauge(sheet: Sheet, step: Step, centre: float) -> None:
    left = centre - step.top * 6
    for level in range(step.top):
        kind = "gauge" if level < step.level else "gap"
        sheet.add(bar(left + level * 12 + 1, sheet.y, 9, 9, kind))


def _side(sheet: Sheet, facts: Facts, step: Step, node: Evaluation | None, *, x: float, wide: float) -> float:
    """Write the sentence about a neighbour; return the vertical position of its end."""
    kind, sign, sentence = side(facts, step, node)
    return sheet.wrapped(f"{sign} {sentence}".strip(), x, wide, "" if kind == "yes" else "soft")


def _best(sheet: Sheet, facts: Facts) -> None:
    sheet.line(listed(facts), "head", drop=48)
    names = heads(facts)
    step = min((sheet.room - 30) / (len(names) - 1), 130)
    positions = [MARGIN + 20 + step * number for number in range(len(names))]
    most = max(4, int((step - 8) / 6.8))
    rows = [
        row(facts, rank, node, map(str, facts.space.levels(node.node))) for rank, node in enumerate(facts.listed, 1)
    ]
    for number, cells in enumerate([names, *rows]):
        sheet.drop(LINE + 3 if number else 26)
        kind = ("small soft strong end", "strong end")[number] if number < 2 else "end"
        for x, cell in zip(positions, cells, strict=True):
            sheet.text(x, cell, kind, most=most)
        sheet.drop(6)
        sheet.rule()
