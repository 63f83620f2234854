"""Time against cost: what an algorithm takes, and what it loses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohorte.drawing import Drawing, line, text
from kohorte.drawing.axis import ceiling
from kohorte.drawing.labels import Box, place
from kohorte.release.comparison.drawing import RULES, kind_of, legend, mark
from kohorte.release.comparison.outcome import Outcome
from kohorte.release.comparison.words import figure, seconds

if TYPE_CHECKING:
    from kohorte.release.comparison.compare import Comparison

WIDTH, HEIGHT = 860, 460
FRAME = Box(64, 40, WIDTH - 20, HEIGHT - 48)


def time_and_cost(comparison: Comparison) -> Drawing:
    """Every release as a point: its time, on a logarithmic axis, and its cost by the plan's metric."""
    metric, released = comparison.plan.metric.name, comparison.released
    times = [max(outcome.seconds or 0.0, 1e-5) for outcome in released]
    first, last = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    last = max(last, first + 1)
    top = ceiling(max(outcome.cost or 0.0 for outcome in released))

    def at(outcome: Outcome) -> tuple[float, float]:
        along = (math.log10(max(outcome.seconds or 0.0, 1e-5)) - first) / (last - first)
        up = max(outcome.cost or 0.0, 0.0) / top
        return FRAME.left + along * (FRAME.right - FRAME.left), FRAME.bottom - up * (FRAME.bottom - FRAME.top)

    parts = [legend(FRAME.left + 6, 18), _axes(metric, first, last, top)]
    points = [(*at(outcome), outcome.algorithm) for outcome in released]
    for label, (x, y, _) in zip(place(points, FRAME), points, strict=True):
        if label.far:
            end = min(max(x, label.box.left), label.box.right)
            parts.append(line(x, y, end, label.box.top if label.box.top > y else label.box.bottom, "leader"))
        parts.append(text(label.x, label.y, label.name, "small"))
    parts += [mark(*at(outcome), kind_of(outcome), _hint(outcome, metric)) for outcome in released]
    return Drawing(
        name="time",
        title=f"Time and {metric} of every algorithm",
        caption="Further down is better, further left is faster. The axis of the time is logarithmic.",
        width=WIDTH,
        height=HEIGHT,
        body="".join(parts),
        rules=RULES,
    )


def _hint(outcome: Outcome, metric: str) -> str:
    return f"{outcome.algorithm}: {seconds(outcome.seconds)}, {metric} {figure(outcome.cost)}"


def _axes(metric: str, first: int, last: int, top: float) -> str:
    parts = []
    for power in range(first, last + 1):
        x = FRAME.left + (power - first) / (last - first) * (FRAME.right - FRAME.left)
        parts.append(line(x, FRAME.top, x, FRAME.bottom, "grid"))
        parts.append(text(x, FRAME.bottom + 18, seconds(10.0**power), "small soft mid"))
    for step in range(5):
        y = FRAME.bottom - step / 4 * (FRAME.bottom - FRAME.top)
        parts.append(line(FRAME.left, y, FRAME.right, y, "axis" if step == 0 else "grid"))
        parts.append(text(FRAME.left - 8, y + 4, figure(top * step / 4, 3), "small soft end"))
    parts.append(text((FRAME.left + FRAME.right) / 2, FRAME.bottom + 38, "time of the algorithm alone", "small mid"))
    parts.append(text(FRAME.left, FRAME.top - 6, metric, "small"))
    return "".join(parts)


def shares_of(values: Sequence[float]) -> list[float]:
    """The values as shares of the largest."""
    largest = max(values, default=0.0)
    return [value / largest if largest > 0 else 0.0 for value in values]
