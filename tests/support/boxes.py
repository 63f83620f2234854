"""Small generalizations to test with, and what they mean, position by position."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from kohorte.series.domain.regions import Regions, Split
from kohorte.series.target.guide import Guide


def whole(lengths):
    """One region that covers everything."""
    return Regions.of([[(0, length) for length in lengths]])


@st.composite
def refined(draw, regions, most=8):
    """Some generalization that is finer than another."""
    for _ in range(draw(st.integers(0, most))):
        options = [
            Split(number, axis, position)
            for number, box in enumerate(regions.boxes)
            for axis, (low, high) in enumerate(box)
            for position in range(low + 1, high)
        ]
        if not options:
            break
        regions = regions.divided([draw(st.sampled_from(options))])
    return regions


@st.composite
def generalizations(draw, lengths, gaps=False):
    """Some generalization of everything; with gaps, of a part of it."""
    regions = draw(refined(whole(lengths)))
    if not gaps:
        return regions
    kept = draw(st.lists(st.integers(0, len(regions) - 1), min_size=1, unique=True))
    return Regions(regions.lows[kept], regions.highs[kept])


sides = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def painted(regions, lengths):
    """The region of every position; -1 where there is none."""
    canvas = np.full(tuple(lengths), -1)
    for number, box in enumerate(regions.boxes):
        for position in product(*(range(low, high) for low, high in box)):
            assert canvas[position] == -1, "regions overlap"
            canvas[position] = number
    return canvas


def is_finer(fine, coarse, lengths):
    """The definition: all positions of each region lie in one region of the other."""
    mine, other = painted(fine, lengths), painted(coarse, lengths)
    met = [set(other[mine == number].tolist()) for number in range(len(fine))]
    return all(len(regions) == 1 and -1 not in regions for regions in met)


def deviation_of_positions(candidate, target, lengths):
    """The definition: all positions of a target region but those in the region that has most of them."""
    mine, other = painted(target, lengths), painted(candidate, lengths)
    found = []
    for number in range(len(target)):
        met = other[mine == number]
        counts = [int((met == region).sum()) for region in set(met.tolist()) - {-1}]
        found.append(len(met) - max(counts, default=0))
    return found


def deviations(candidate, target, masses=None):
    """The deviation of each region of a target, as a guide made for the candidate counts it."""
    return Guide.of(candidate, target, target.volumes() if masses is None else masses).deviations
