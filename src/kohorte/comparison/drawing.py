"""The charts of a comparison: time and cost, cost in several metrics, count queries, the accuracy of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohorte.comparison.outcome import Outcome
from kohorte.comparison.words import families, several
from kohorte.in_words import compact, cost, count, number, percent, seconds
from kohorte.pages import Drawing, Heading, Kind, Point, Row, Rows, scatter

if TYPE_CHECKING:
    from kohorte.comparison.compare import Comparison

LEVELS = Kind("levels", "one level for each attribute")
CELLS = Kind("cells", "cells differ from row to row", diamond=True)
RULES = """\
.levels{fill:@shade1}
.cells{fill:@mark}
"""
METRICS = ("loss", "precision", "non_uniform_entropy", "discernibility", "aecs")


def plots(comparison: Comparison) -> list[Drawing]:
    """All charts for which there is data."""
    if not comparison.released:
        return []
    drawn = (time_and_cost(comparison), costs(comparison), query_errors(comparison), accuracies(comparison))
    return [drawing for drawing in drawn if drawing is not None]


def kind_of(outcome: Outcome) -> Kind:
    """The kind of an algorithm."""
    return CELLS if outcome.recodes else LEVELS


def time_and_cost(comparison: Comparison) -> Drawing:
    """Every release as a point: its time, on a logarithmic axis, and its cost by the plan's metric."""
    metric = comparison.plan.metric.name
    heading = Heading(
        "time",
        f"Time and {metric} of every algorithm",
        "Further down is better, further left is faster. The axis of the time is logarithmic.",
    )
    points = [
        Point(one.algorithm, one.seconds or 0.0, one.cost or 0.0, kind_of(one), _hint(one, metric))
        for one in comparison.released
    ]
    return scatter(
        heading,
        points,
        axes=("time of the algorithm alone", metric),
        shown=(seconds, number),
        kinds=(LEVELS, CELLS),
        rules=RULES,
    )


def _hint(outcome: Outcome, metric: str) -> str:
    return f"{outcome.algorithm}: {seconds(outcome.seconds)}, {metric} {cost(outcome.cost)}"


def costs(comparison: Comparison) -> Drawing:
    """The cost of every release in several metrics, each as a share of the worst."""
    heading = Heading(
        "costs",
        "Cost in several metrics",
        "In every metric less is better; a bar is drawn against the worst of its column. "
        "Algorithms that made the same release share a line.",
    )
    found = families(comparison.released)
    metrics = [name for name in METRICS if name in found[0][0].costs]
    columns = [(metric, [family[0].costs[metric] for family in found]) for metric in metrics]
    return _rows(found).columns(heading, columns, compact)


def query_errors(comparison: Comparison) -> Drawing | None:
    """The relative error of count queries: the bar is the median, the line the 90th percentile."""
    measured = [(family, family[0].query_error) for family in families(comparison.released)]
    found = [(family, (error.median, error.ninetieth)) for family, error in measured if error is not None]
    if not found:
        return None
    heading = Heading(
        "queries",
        "Relative error of count queries",
        f"{count(comparison.queries)} random queries that count rows, about one to three quasi-identifiers. Half of "
        "them are off by no more than the bar, nine in ten by no more than the line.",
    )
    rows = _rows([family for family, _ in found])
    return rows.whiskers(heading, [span for _, span in found], ("median", "nine in ten"), percent)


def accuracies(comparison: Comparison) -> Drawing | None:
    """The accuracy after learning from each release, compared with guessing and with the original rows."""
    task = comparison.task
    measured = [(family, family[0].accuracy) for family in families(comparison.released)]
    found = [(family, accuracy.value) for family, accuracy in measured if accuracy is not None]
    if task is None or not found:
        return None
    heading = Heading(
        "accuracy",
        f"Accuracy of predicting {task.column}",
        f"A logistic regression learns from {count(task.training_rows, 'row')} as the release shows them, and predicts "
        f"{task.column} of {count(task.test_rows)} others{_of_others(comparison)} from their original values. "
        "Shares are of rows.",
    )
    limits = (("guessing", task.majority), ("original rows", task.original))
    return _rows([family for family, _ in found]).points(heading, [value for _, value in found], limits, percent)


def _of_others(comparison: Comparison) -> str:
    return "" if comparison.people is None else ", about other people,"


def _rows(found: Sequence[Sequence[Outcome]]) -> Rows:
    """A row for each family of algorithms that made the same release."""
    names = [[outcome.algorithm for outcome in family] for family in found]
    rows = [Row(several(some), ", ".join(some), kind_of(family[0])) for some, family in zip(names, found, strict=True)]
    return Rows(rows, (LEVELS, CELLS), RULES)
