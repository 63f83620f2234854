"""The picture as a page. It is complete without the script, which adds tooltips and re-centring on another node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kohorte.in_words import NONE, cost, count
from kohorte.pages import Drawing, beside, page
from kohorte.search import Evaluation
from kohorte.space.cells import CellMap, cell_map
from kohorte.space.drawing import legend, rules, swatch
from kohorte.space.facts import Facts, Step
from kohorte.space.hasse import fits, hasse

if TYPE_CHECKING:
    from kohorte.space.solution_space import SolutionSpace


def to_html(space: SolutionSpace) -> str:
    """Return the picture as one self-contained HTML page."""
    facts = Facts(space)
    drawing = hasse(facts) if fits(facts) else cell_map(facts)
    return page(
        __package__,
        "space.html.j2",
        facts.title,
        rules=rules() + beside(__file__, "page.css"),
        script=beside(__file__, "page.js"),
        facts=facts,
        drawing=drawing,
        legend=[(swatch(kind, 0, 0), name) for kind, name in legend(facts)],
        around=around(facts),
        steps=[(step, *(side(facts, step, node) for node in (step.finer, step.coarser))) for step in facts.steps],
        listed=listed(facts),
        heads=heads(facts),
        best=[
            (space.index(node.node), row(facts, number, node, facts.short_levels(node)))
            for number, node in enumerate(facts.listed, start=1)
        ],
        meanings=list(zip(space.attributes, space.levels(space.lattice.bottom), space.meanings, strict=True)),
        data=_data(facts, drawing),
    )


def around(facts: Facts) -> str:
    """The title above the neighbours."""
    return "One step away from the optimum" if facts.space.best else "One step away from the nearest combination"


def listed(facts: Facts) -> str:
    """The title above the table of the best nodes."""
    number = len(facts.listed)
    if facts.space.best is None:
        return f"The {number} with the fewest suppressed rows" if number > 1 else "The one combination"
    return f"The {number} best solutions" if number > 1 else "The only solution"


def side(facts: Facts, step: Step, node: Evaluation | None) -> tuple[str, str, str]:
    """The effect of one step of one attribute: style class, sign, and sentence."""
    if node is None:
        return "none", "", "no further level"
    axis = facts.space.attributes.index(step.attribute)
    before, after = facts.short_levels(facts.middle)[axis], facts.short_levels(node)[axis]
    sentence = f"{step.attribute}: {before} → {after}: {facts.verdict(node)}"
    return ("yes", "✓", sentence) if node.solution else ("no", "✗", sentence)


def heads(facts: Facts) -> list[str]:
    """The header of the table of the best nodes."""
    smallest = f"smallest ({facts.space.unit.many})"
    return ["", *facts.space.attributes, facts.metric, "to optimum", "suppressed rows", "classes", smallest]


def row(facts: Facts, number: int, node: Evaluation, levels: Iterable[str]) -> list[str]:
    """One row of the table of the best nodes, with its levels as they shall be written."""
    costs = [cost(node.cost), facts.more(node) if number > 1 else "optimum"] if node.solution else [NONE, NONE]
    sizes = (count(size) for size in (node.suppressed, node.classes, node.smallest_class))
    return [str(number), *levels, *costs, *sizes]


def _data(facts: Facts, drawing: Drawing) -> dict[str, object]:
    """The data for the script."""
    space = facts.space
    return {
        "names": space.attributes,
        "shape": space.shape,
        "lowest": space.levels(space.lattice.bottom),
        "meanings": space.meanings,
        "short_meanings": space.short_meanings,
        "unit": [space.unit.one, space.unit.many],
        "smallest_head": facts.smallest_head,
        "limit": space.limit,
        "at_least": facts.at_least,
        "rows": space.rows,
        "metric": facts.metric,
        "middle": space.index(facts.middle.node),
        "solved": space.best is not None,
        "cost": [float(f"{node.cost:.9g}") if node.solution else None for node in space.nodes],
        "suppressed": [node.suppressed for node in space.nodes],
        "smallest": [node.smallest_class if node.solution else None for node in space.nodes],
        "cells": drawing.cells if isinstance(drawing, CellMap) else {},
    }
