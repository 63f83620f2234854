"""The comparison as a page: verdict, table and plots are there without the script, which sorts the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kohorte.drawing import Drawing, beside, page, safe
from kohorte.release.comparison.bars import accuracies, costs, query_errors
from kohorte.release.comparison.drawing import RULES, kind_of
from kohorte.release.comparison.outcome import Outcome
from kohorte.release.comparison.scatter import time_and_cost
from kohorte.release.comparison.words import NONE, figure, percent, reasons, seconds, verdict
from kohorte.release.words import model_in_words

if TYPE_CHECKING:
    from kohorte.release.comparison.compare import Comparison

Cell = tuple[str, float | str | None]
"""What a cell of the table shows, and what it is sorted by."""


def to_html(comparison: Comparison) -> str:
    """Return the comparison as one self-contained HTML page."""
    body = f"""<header>
<h1>Algorithms compared</h1>
<p class="answer">{safe(verdict(comparison))}</p>
<p>{safe(demand(comparison))}</p>
</header>
{_figures(comparison)}
{"".join(_plot(drawing) for drawing in plots(comparison))}
{_refused(comparison)}
<section>
<h2>What the algorithms are</h2>
{_rows([(outcome.algorithm, outcome.what_it_is) for outcome in comparison.outcomes])}
</section>
<section>
<h2>How this was measured</h2>
<p class="note">{safe(how(comparison))}</p>
</section>
"""
    rules = RULES + beside(__file__, "page.css")
    return page("Algorithms compared", body, rules=rules, script=beside(__file__, "page.js"))


def plots(comparison: Comparison) -> list[Drawing]:
    """All drawings for which there are figures."""
    if not comparison.released:
        return []
    drawn = (
        time_and_cost(comparison),
        costs(comparison),
        query_errors(comparison),
        accuracies(comparison),
    )
    return [drawing for drawing in drawn if drawing is not None]


def demand(comparison: Comparison) -> str:
    """What was asked of all algorithms."""
    plan = comparison.plan
    models = ", ".join(model_in_words(model) for model in plan.models)
    return (
        f"{comparison.rows:,} rows, {len(plan.quasi_identifiers)} quasi-identifiers "
        f"({', '.join(plan.quasi_identifiers)}); {models}; at most {percent(plan.suppression_limit)} of the rows "
        f"suppressed; metric {plan.metric.name}."
    )


def how(comparison: Comparison) -> str:
    """What the figures mean."""
    said = (
        "The table was read and encoded once; the time is that of the algorithm alone (the fastest of three "
        f"runs where it is quick), and was limited to {comparison.time_limit:g} seconds. Every "
        "release was verified: its rows were counted anew and the models asked about them. Costs are computed for all "
        "releases in the same way; less is better. The error of a count query is relative to its true answer; within a "
        "cell every value counts as equally likely, and a suppressed row may be anywhere. Queries and "
        f"test rows are drawn with the seed {comparison.seed}, the same for all."
    )
    task = comparison.task
    if task is None:
        return said
    said += f" {task.column} has {task.classes} classes{task.coarsened}."
    if any(outcome.accuracy and outcome.accuracy.guessed for outcome in comparison.released):
        said += " *: nothing could be learnt from the release, so that the most frequent class is guessed."
    return said


def _plot(drawing: Drawing) -> str:
    return (
        f'<section>\n<h2>{safe(drawing.title)}</h2>\n<div class="scroll">{drawing.inline()}</div>\n'
        f'<p class="note">{safe(drawing.caption)}</p>\n</section>\n'
    )


def _figures(comparison: Comparison) -> str:
    if not comparison.released:
        return ""
    lines = [_line(comparison, outcome) for outcome in comparison.released]
    head = "".join(f'<th scope="col">{safe(name)}</th>' for name in lines[0])
    body = "".join(
        f'<tr><th scope="row" data-value="{safe(outcome.algorithm)}"><span class="key {kind_of(outcome)}"></span>'
        f"{safe(outcome.algorithm)}</th>{''.join(_cell(cell) for cell in list(cells.values())[1:])}</tr>\n"
        for outcome, cells in zip(comparison.released, lines, strict=True)
    )
    return (
        '<section>\n<h2>All releases</h2>\n<div class="scroll"><table id="figures" class="figures">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
        '<p class="note"><span class="key levels"></span>one level for each attribute, in all rows &nbsp; '
        '<span class="key cells"></span>cells differ from row to row. A click on a column sorts by it.</p>\n</section>'
    )


def _line(comparison: Comparison, outcome: Outcome) -> dict[str, Cell]:
    """The cells of a release by the names of their columns."""
    error, accuracy, metric = outcome.query_error, outcome.accuracy, comparison.plan.metric.name
    cells: dict[str, Cell] = {
        "algorithm": (outcome.algorithm, outcome.algorithm),
        "time": (seconds(outcome.seconds), outcome.seconds),
        metric: (figure(outcome.cost), outcome.cost),
    }
    wanted = ("loss", "non_uniform_entropy", "discernibility", "aecs")
    cells |= {name: (figure(outcome.costs[name]), outcome.costs[name]) for name in wanted if name in outcome.costs}
    cells |= {
        "classes": (f"{outcome.classes:,}", outcome.classes),
        "smallest": (NONE if outcome.smallest_class is None else f"{outcome.smallest_class:,}", outcome.smallest_class),
        "average": (figure(outcome.average_class), outcome.average_class),
        "suppressed": (f"{outcome.suppressed:,}", outcome.suppressed),
    }
    if error is not None:
        cells["query error"] = (percent(error.median), error.median)
        cells["of nine in ten"] = (percent(error.ninetieth), error.ninetieth)
    if accuracy is not None:
        cells["accuracy"] = (percent(accuracy.value) + ("*" if accuracy.guessed else ""), accuracy.value)
    cells["verdict"] = (outcome.verdict, outcome.verdict)
    return cells


def _cell(cell: Cell) -> str:
    shown, value = cell
    return f'<td data-value="{safe("" if value is None else value)}">{safe(shown)}</td>'


def _refused(comparison: Comparison) -> str:
    if not comparison.others:
        return ""
    rows = [(name, f"{status}: {reason}") for name, status, reason in reasons(comparison)]
    return f"<section>\n<h2>No release</h2>\n{_rows(rows)}\n</section>"


def _rows(pairs: list[tuple[str, str]]) -> str:
    body = "".join(f'<tr><th scope="row">{safe(name)}</th><td>{safe(said)}</td></tr>\n' for name, said in pairs)
    return f'<div class="scroll"><table><tbody>\n{body}</tbody></table></div>'
