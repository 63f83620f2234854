"""The comparison as a page. Verdict, table and charts need no script; the script sorts the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kohorte.comparison.drawing import RULES, kind_of, plots
from kohorte.comparison.outcome import Outcome
from kohorte.comparison.words import LOSING, counted, reasons, smallest, verdict
from kohorte.in_words import cost, count, number, percent, seconds
from kohorte.models.words import model_in_words
from kohorte.pages import beside, page

if TYPE_CHECKING:
    from kohorte.comparison.compare import Comparison

Cell = tuple[str, float | str | None]
"""The text of a cell, and the value by which its column is sorted."""

TABLE_METRICS = ("loss", "non_uniform_entropy", "discernibility", "aecs")


def to_html(comparison: Comparison) -> str:
    """Return the comparison as one self-contained HTML page."""
    return page(
        __package__,
        "comparison.html.j2",
        "Algorithms compared",
        rules=RULES + beside(__file__, "page.css"),
        script=beside(__file__, "page.js"),
        comparison=comparison,
        verdict=verdict(comparison),
        counted=counted(comparison),
        models=", ".join(model_in_words(model) for model in comparison.plan.models),
        lines=[(kind_of(outcome).style, _line(comparison, outcome)) for outcome in comparison.released],
        plots=plots(comparison),
        guessed=any(outcome.accuracy and outcome.accuracy.guessed for outcome in comparison.released),
        refused=[(name, f"{status}: {reason}") for name, status, reason in reasons(comparison)],
    )


def _line(comparison: Comparison, outcome: Outcome) -> dict[str, Cell]:
    """The cells of a release, by column name."""
    error, accuracy, metric = outcome.query_error, outcome.accuracy, comparison.plan.metric.name
    cells: dict[str, Cell] = {
        "algorithm": (outcome.algorithm, outcome.algorithm),
        "time": (seconds(outcome.seconds), outcome.seconds),
        metric: (cost(outcome.cost), outcome.cost),
    }
    cells |= {
        "classes": (count(outcome.classes), outcome.classes),
        smallest(comparison): (count(outcome.smallest_class), outcome.smallest_class),
        f"average ({comparison.unit.many})": (number(outcome.average_class), outcome.average_class),
        "suppressed rows": (count(outcome.suppressed), outcome.suppressed),
    }
    if comparison.people is not None:
        cells[LOSING] = (count(outcome.people_losing_all_rows), outcome.people_losing_all_rows)
    cells |= {name: (cost(outcome.costs[name]), outcome.costs[name]) for name in TABLE_METRICS if name in outcome.costs}
    if error is not None:
        cells["query error"] = (percent(error.median), error.median)
        cells["of nine in ten"] = (percent(error.ninetieth), error.ninetieth)
    if accuracy is not None:
        cells["accuracy"] = (percent(accuracy.value) + ("*" if accuracy.guessed else ""), accuracy.value)
    return cells | {"verdict": (outcome.verdict, outcome.verdict)}
