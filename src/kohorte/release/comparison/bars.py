"""Bars: the cost in several metrics, the error of count queries, the accuracy of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohorte.drawing import Drawing, bar, line, text
from kohorte.drawing.svg import LETTER
from kohorte.release.comparison.drawing import RULES, kind_of, legend, mark
from kohorte.release.comparison.outcome import Outcome
from kohorte.release.comparison.scatter import shares_of
from kohorte.release.comparison.words import compact, families, figure, percent, several

if TYPE_CHECKING:
    from kohorte.release.comparison.compare import Comparison, TaskFacts

ROW, THICK = 24, 12
TOP = 64
SHOWN_METRICS = ("loss", "precision", "non_uniform_entropy", "discernibility", "aecs")
PANEL = 138
ACROSS = 560

Family = Sequence[Outcome]


def costs(comparison: Comparison) -> Drawing:
    """The cost of every release in several metrics, each as a share of the worst."""
    found = families(comparison.released)
    left = _margin(found)
    metrics = [name for name in SHOWN_METRICS if name in found[0][0].costs]
    parts = [legend(left, 16), _names(found, left)]
    for place, metric in enumerate(metrics):
        x = left + place * (PANEL + 12)
        values = [family[0].costs[metric] for family in found]
        parts.append(text(x, TOP - 14, metric, "small strong"))
        for number, (family, value, share) in enumerate(zip(found, values, shares_of(values), strict=True)):
            y, width = TOP + number * ROW, share * (PANEL - 44)
            parts.append(bar(x, y, width, THICK, kind_of(family[0]), f"{_all(family)}: {metric} {figure(value)}"))
            parts.append(text(x + width + 4, y + 10, compact(value), "small soft"))
    return Drawing(
        name="costs",
        title="Cost in several metrics",
        caption="In every metric less is better; a bar is drawn against the worst of its column. "
        "Algorithms that made the same release share a line.",
        width=round(left + len(metrics) * (PANEL + 12)),
        height=TOP + len(found) * ROW + 8,
        body="".join(parts),
        rules=RULES,
    )


def query_errors(comparison: Comparison) -> Drawing | None:
    """The relative error of count queries: half of them are in the bar, nine in ten up to the line's end."""
    found = [family for family in families(comparison.released) if family[0].query_error is not None]
    errors = [family[0].query_error for family in found]
    if not found:
        return None
    left = _margin(found)
    largest = max((error.ninetieth for error in errors if error), default=0.0) or 1.0
    parts = [legend(left, 16), _names(found, left)]
    for number, (family, error) in enumerate(zip(found, errors, strict=True)):
        if error is None:
            continue
        y = TOP + number * ROW
        middle, end = (left + value / largest * (ACROSS - 60) for value in (error.median, error.ninetieth))
        hint = f"{_all(family)}: median {percent(error.median)}, nine in ten {percent(error.ninetieth)}"
        parts.append(bar(left, y, middle - left, THICK, kind_of(family[0]), hint))
        parts.append(line(middle, y + THICK / 2, end, y + THICK / 2, "whisker"))
        parts.append(line(end, y + 1, end, y + THICK - 1, "whisker"))
        parts.append(text(end + 6, y + 10, f"{percent(error.median)} / {percent(error.ninetieth)}", "small soft"))
    return Drawing(
        name="queries",
        title="Relative error of count queries",
        caption=f"{comparison.queries:,} random count queries about one to three quasi-identifiers. Half of them are "
        "off by no more than the bar, nine in ten by no more than the line.",
        width=round(left + ACROSS + 60),
        height=TOP + len(found) * ROW + 8,
        body="".join(parts),
        rules=RULES,
    )


def accuracies(comparison: Comparison) -> Drawing | None:
    """The accuracy after learning from each release, between guessing and learning from the original rows."""
    task = comparison.task
    found = [family for family in families(comparison.released) if family[0].accuracy is not None]
    if task is None or not found:
        return None
    left = _margin(found)
    values = [family[0].accuracy.value if family[0].accuracy else 0.0 for family in found]
    low, high = min(*values, task.majority, task.original), max(*values, task.majority, task.original)
    room = max(0.01, 0.08 * (high - low))
    low, high = max(0.0, low - room), min(1.0, high + room)

    def at(value: float) -> float:
        return left + (value - low) / (high - low) * (ACROSS - 60)

    bottom = TOP + len(found) * ROW
    parts = [legend(left, 16), _names(found, left), _baselines(task, at(task.majority), at(task.original), bottom)]
    for number, (family, value) in enumerate(zip(found, values, strict=True)):
        y = TOP + number * ROW + THICK / 2
        parts.append(line(at(task.majority), y, at(value), y, "axis"))
        parts.append(mark(at(value), y, kind_of(family[0]), f"{_all(family)}: {percent(value)}"))
        parts.append(text(left + ACROSS - 40, y + 4, percent(value), "small soft"))
    return Drawing(
        name="accuracy",
        title=f"Accuracy of predicting {task.column}",
        caption=f"A logistic regression learns from the release what {task.training_rows:,} people look like, and "
        f"predicts {task.column} of {task.test_rows:,} others from their original values.",
        width=round(left + ACROSS + 20),
        height=bottom + 8,
        body="".join(parts),
        rules=RULES,
    )


def _baselines(task: TaskFacts, majority: float, original: float, bottom: float) -> str:
    """The two lines between which the accuracies should lie; their names in two rows, so that they may be near."""
    return (
        line(majority, TOP - 10, majority, bottom, "axis dash")
        + text(majority, TOP - 14, f"guessing {percent(task.majority)}", "small soft")
        + line(original, TOP - 24, original, bottom, "axis")
        + text(original, TOP - 28, f"original rows {percent(task.original)}", "small soft end")
    )


def _names(found: Sequence[Family], left: float) -> str:
    return "".join(
        text(left - 10, TOP + number * ROW + 10, several([outcome.algorithm for outcome in family]), "small end")
        for number, family in enumerate(found)
    )


def _all(family: Family) -> str:
    return ", ".join(outcome.algorithm for outcome in family)


def _margin(found: Sequence[Family]) -> float:
    """How much room the names need."""
    return 24 + LETTER * max(len(several([outcome.algorithm for outcome in family])) for family in found)
