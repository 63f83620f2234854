"""The picture as a page: all of it is there without the script, which adds tooltips and other middles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kohorte.drawing import Drawing, beside, page, safe
from kohorte.release.picture.cells import CellMap, cell_map
from kohorte.release.picture.drawing import RULES, legend, swatch
from kohorte.release.picture.facts import Facts, Step, figure
from kohorte.release.picture.hasse import fits, hasse
from kohorte.search import Evaluation

if TYPE_CHECKING:
    from kohorte.release.space import SolutionSpace


def to_html(space: SolutionSpace) -> str:
    """Return the picture as one self-contained HTML page."""
    facts = Facts(space)
    drawing = hasse(facts) if fits(facts) else cell_map(facts)
    body = f"""<header>
<h1>{safe(facts.title)}</h1>
<p class="answer" id="answer">{safe(facts.answer)}</p>
<p>{safe(facts.counts)} {safe(facts.demand)}</p>
</header>
<section>
<h2>All combinations of levels</h2>
{_key(facts)}
{_figure(facts, drawing)}
<p class="note">{safe(drawing.caption)}</p>
</section>
<section>
<h2 id="around">{safe(around(facts))}</h2>
{_neighbours(facts)}
</section>
<section>
<h2>{safe(listed(facts))}</h2>
{_best(facts)}
</section>
<div id="tip" role="status" hidden></div>
<script type="application/json" id="space">{_data(facts, drawing)}</script>
"""
    return page(facts.title, body, rules=RULES + beside(__file__, "page.css"), script=beside(__file__, "page.js"))


def around(facts: Facts) -> str:
    """The title above the neighbours."""
    return "One step away from the optimum" if facts.space.best else "One step away from the nearest combination"


def listed(facts: Facts) -> str:
    """The title above the table of the best."""
    count = len(facts.listed)
    if facts.space.best is None:
        return f"The {count} with the fewest suppressed rows" if count > 1 else "The one combination"
    return f"The {count} best solutions" if count > 1 else "The only solution"


def _key(facts: Facts) -> str:
    entries = (
        f'<li><svg width="14" height="14" aria-hidden="true">{swatch(kind, 0, 0)}</svg> {safe(name)}</li>'
        for kind, name in legend(facts)
    )
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _figure(facts: Facts, drawing: Drawing) -> str:
    names = ", ".join(facts.space.attributes)
    return (
        f'<div class="scroll"><svg id="drawing" role="img" aria-labelledby="drawn" viewBox="0 0 {drawing.width} '
        f'{drawing.height}" style="min-width:{drawing.width // 2}px;max-width:{drawing.width}px">'
        f'<title id="drawn">{safe(facts.counts)} {safe(facts.answer)}</title>\n'
        f"{drawing.body}</svg></div>\n"
        f'<p class="note">Order of the attributes: <b>{safe(names)}</b></p>'
    )


def _neighbours(facts: Facts) -> str:
    rows = "".join(
        f"<tr>{_side(facts, step, step.finer)}"
        f'<th scope="row">{safe(step.attribute)}<span class="level">{_gauge(step)} level {step.level} of {step.top}'
        f"</span></th>{_side(facts, step, step.coarser)}</tr>\n"
        for step in facts.steps
    )
    return (
        '<div class="scroll"><table class="around"><thead><tr><th scope="col">one step finer</th>'
        f'<th scope="col">{facts.mark}</th>'
        f'<th scope="col">one step coarser</th></tr></thead>\n<tbody id="steps">\n{rows}</tbody></table></div>'
    )


def _gauge(step: Step) -> str:
    return f'<span class="gauge-text" aria-hidden="true">{"■" * step.level}{"□" * (step.top - step.level)}</span>'


def _side(facts: Facts, step: Step, node: Evaluation | None) -> str:
    if node is None:
        return '<td class="none">no further level</td>'
    sign, kind = ("✓", "yes") if node.solution else ("✗", "no")
    return f'<td class="{kind}"><b>{sign}</b> {safe(sentence(facts, step, node))}</td>'


def sentence(facts: Facts, step: Step, node: Evaluation) -> str:
    """What happens when one attribute takes one step."""
    level = facts.space.levels(node.node)[facts.space.attributes.index(step.attribute)]
    return f"{step.attribute} {step.level} → {level}: {facts.verdict(node)}"


def heads(facts: Facts) -> list[str]:
    """The first line of the table of the best."""
    return ["", *facts.space.attributes, facts.metric, "to optimum", "suppressed", "classes", "smallest"]


def _best(facts: Facts) -> str:
    head = "".join(f'<th scope="col">{safe(name)}</th>' for name in heads(facts))
    rows = "".join(
        f'<tr data-node="{facts.space.place(node.node)}">'
        f"{''.join(f'<td>{safe(cell)}</td>' for cell in row(facts, number, node))}</tr>\n"
        for number, node in enumerate(facts.listed, start=1)
    )
    return (
        f'<div class="scroll"><table class="best"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'
    )


def row(facts: Facts, number: int, node: Evaluation) -> list[str]:
    """One line of the table of the best."""
    cost = [figure(node.cost), facts.more(node) if number > 1 else "optimum"] if node.solution else ["–", "–"]
    smallest = "–" if node.smallest_class is None else f"{node.smallest_class:,}"
    return [
        str(number),
        *map(str, facts.space.levels(node.node)),
        *cost,
        f"{node.suppressed:,}",
        f"{node.classes:,}",
        smallest,
    ]


def _data(facts: Facts, drawing: Drawing) -> str:
    """What the script needs, as JSON that cannot end the element it stands in."""
    space = facts.space
    data = {
        "names": space.attributes,
        "shape": space.shape,
        "lowest": space.levels(space.lattice.bottom),
        "limit": space.limit,
        "at_least": facts.at_least,
        "rows": space.rows,
        "metric": facts.metric,
        "middle": space.place(facts.middle.node),
        "solved": space.best is not None,
        "cost": [float(f"{node.cost:.7g}") if node.solution else None for node in space.nodes],
        "suppressed": [node.suppressed for node in space.nodes],
        "cells": drawing.cells if isinstance(drawing, CellMap) else {},
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
