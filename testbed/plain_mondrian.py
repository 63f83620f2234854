"""Mondrian as a few lines of plain code that keep its regions, which a release does not show.

A release by Mondrian shows the values that occur in a region, from the least to the greatest. A series cannot: what
occurs changes with every release. To compare like with like, the regions themselves are needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kohorte.series.domain.regions import Regions

Numbers = NDArray[np.int64]
NEAREST = 8


def mondrian_regions(
    places: Numbers, sensitive: Numbers, lengths: Sequence[int], *, k: int, distinct: int
) -> tuple[Regions, Numbers]:
    """The regions of strict Mondrian with k-anonymity and distinct l-diversity, and the region of every row."""
    region_of = np.empty(len(places), dtype=np.int64)
    boxes: list[list[tuple[int, int]]] = []
    waiting = [(np.arange(len(places)), [(0, length) for length in lengths])]
    while waiting:
        rows, box = waiting.pop()
        cut = _cut(places[rows], sensitive[rows], lengths, k=k, distinct=distinct)
        if cut is None:
            region_of[rows] = len(boxes)
            boxes.append(box)
            continue
        axis, last, first = cut
        middle, above = (last + 1 + first) // 2, places[rows, axis] >= first
        low, high = list(box), list(box)
        low[axis], high[axis] = (box[axis][0], middle), (middle, box[axis][1])
        waiting += [(rows[~above], low), (rows[above], high)]
    return Regions.of(boxes), region_of


def _cut(
    places: Numbers, sensitive: Numbers, lengths: Sequence[int], *, k: int, distinct: int
) -> tuple[int, int, int] | None:
    """The axis, the last place below and the first above the cut; None where no cut is allowed."""
    widths = (places.max(axis=0) - places.min(axis=0)) / (np.array(lengths) - 1)
    found: list[tuple[int, int, int, int, int]] = []
    for rank, axis in enumerate(np.argsort(-widths, kind="stable").tolist()):
        values, counts = np.unique(places[:, axis], return_counts=True)
        below = counts.cumsum()[:-1]
        enough = np.flatnonzero((below >= k) & (len(places) - below >= k))
        nearest = enough[np.argsort(np.abs(below[enough] - len(places) / 2), kind="stable")][:NEAREST]
        found += [(turn, rank, axis, int(values[at]), int(values[at + 1])) for turn, at in enumerate(nearest.tolist())]
    for _, _, axis, last, first in sorted(found):
        above = places[:, axis] >= first
        if min(len(np.unique(sensitive[side])) for side in (above, ~above)) >= distinct:
            return axis, last, first
    return None
