"""Where to cut a region: the compiled kernel, its NumPy twin and plain Python agree."""

from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.kernels import Cutter, cuts_reference
from support.examples import examples

try:
    from kohorte.kernels import _native as native
except ImportError:  # the reference has to be right by itself
    native = None

CUTTERS = [cuts_reference.Cutter] + ([native.Cutter] if native else [])
NO_CUT = (-1, 0, 0)


class Task:
    """Rows as places on lines, and what a cutter gets besides."""

    def __init__(self, places, ticks, levels, least=1, relaxed=False, *, weights=None):
        self.places = np.array(places, dtype=np.uint32).reshape(-1, len(ticks))
        self.ticks = [np.array(line, dtype=np.int64) for line in ticks]
        self.weights = np.array(weights or [1] * len(ticks), dtype=np.int64)
        self.levels = [np.array(level, dtype=np.uint32) for level in levels]
        self.least = least
        self.relaxed = relaxed

    def cutters(self):
        given = (self.places, self.ticks, self.weights, self.levels, self.least, self.relaxed)
        return [cutter(*given) for cutter in CUTTERS]

    def width(self, attribute, low, high):
        line = self.ticks[attribute].tolist()
        return Fraction(int(self.weights[attribute]) * (line[high] - line[low]), max(1, line[-1] - line[0]))


def plain_line(*lengths):
    """Lines without a hierarchy, in even steps."""
    return [np.arange(length) for length in lengths], [np.zeros(length) for length in lengths]


def all_cuts(task, rows):
    """All cuts of a region, the first one first: (attribute, boundary, rows on the left), by their definition."""
    if len(rows) < 2 * task.least:
        return []
    ranked, anywhere = [], []
    for attribute in range(len(task.ticks)):
        values = sorted(int(task.places[row, attribute]) for row in rows)
        span = task.width(attribute, values[0], values[-1])
        median = values[(len(values) + 1) // 2 - 1]
        anywhere.append((inf, -span, attribute, median, len(values) // 2))
        distinct = sorted(set(values))
        walls = {
            above: max(int(level) for level in task.levels[attribute][below + 1 : above + 1])
            for below, above in pairwise(distinct)
        }
        possible = []
        for boundary, wall in walls.items():
            left = sum(value < boundary for value in values)
            if wall == max(walls.values()) and left >= task.least and len(values) - left >= task.least:
                possible.append((abs(2 * left - len(values)), boundary, left))
        ranked += [(rank, -span, attribute, *cut[1:]) for rank, cut in enumerate(sorted(possible)[:8])]
    if task.relaxed:
        ranked += [cut for cut in anywhere if cut[1] < 0] or anywhere[:1]
    return [cut[2:] for cut in sorted(ranked)]


def sides(task, rows, cut):
    """The rows of a region on the left and on the right of a cut, in the order in which they stood."""
    attribute, boundary, left = cut
    at = left - sum(int(task.places[row, attribute]) < boundary for row in rows)
    first, second = [], []
    for row in rows:
        place = int(task.places[row, attribute])
        stays = place < boundary
        if place == boundary and at > 0:
            at -= 1
            stays = True
        (first if stays else second).append(row)
    return first, second


def propose(cutter, regions, attempts):
    begins, ends = (np.array([region[end] for region in regions], dtype=np.int64) for end in (0, 1))
    attributes, boundaries, left = cutter.propose(begins, ends, np.array(attempts, dtype=np.int64))
    assert (attributes.dtype, boundaries.dtype, left.dtype) == (np.int32, np.uint32, np.int64)
    return list(zip(attributes.tolist(), boundaries.tolist(), left.tolist(), strict=True))


def split(cutter, regions, cuts):
    begins, ends = (np.array([region[end] for region in regions], dtype=np.int64) for end in (0, 1))
    attributes, boundaries, left = (
        np.array([cut[part] for cut in cuts], dtype=kind) for part, kind in enumerate((np.int32, np.uint32, np.int64))
    )
    cutter.split(begins, ends, attributes, boundaries, left)


def cut_on(task, cutter, order, regions, random):
    """Cut some regions by some of their cuts, all at once; return the order and the regions that follow."""
    chosen, cuts, after, others = [], [], list(order), []
    for begin, end in regions:
        every = all_cuts(task, order[begin:end])
        attempts = list(range(len(every) + 2))
        assert propose(cutter, [(begin, end)] * len(attempts), attempts) == [*every, NO_CUT, NO_CUT]
        if not every or random.random() < 0.2:
            others.append((begin, end))
            continue
        cut = every[int(random.integers(len(every)))]
        left, right = sides(task, order[begin:end], cut)
        assert len(left) == cut[2]
        after[begin:end] = left + right
        chosen.append((begin, end))
        cuts.append(cut)
        others += [(begin, begin + len(left)), (begin + len(left), end)]
    split(cutter, chosen, cuts)
    return after, others


@st.composite
def tasks(draw):
    """Lines with uneven steps and walls between groups; some places are far apart, many rows are equal."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = [draw(st.sampled_from([1, 2, 3, 7, 40, 500])) for _ in range(draw(st.integers(1, 4)))]
    rows = draw(st.one_of(st.integers(0, 3), st.integers(4, 40)))
    step = draw(st.sampled_from([1, 3, 2**50]))  # such long lines that doubles cannot tell all widths apart
    ticks = [np.cumsum(random.integers(0, 4 * step, length)) for length in lengths]
    weights = [draw(st.sampled_from([4, 2, 1, 0, 2**61, 2**61 - 1])) for _ in lengths]
    walled = draw(st.booleans())
    levels = [random.integers(0, 3, length) if walled else np.zeros(length) for length in lengths]
    few = draw(st.booleans())
    places = [random.integers(min(3, length) if few else length, size=rows) for length in lengths]
    least, relaxed = draw(st.integers(1, 6)), draw(st.booleans())
    task = Task(np.stack(places, axis=1), ticks, levels, least, relaxed, weights=weights)
    return task, draw(st.integers(0, 2**32 - 1))


@examples(150)
@given(tasks())
def test_cutters_agree_with_plain_python_round_by_round(task):
    task, seed = task
    for cutter in task.cutters():
        random = np.random.default_rng(seed)
        order, regions = list(range(len(task.places))), [(0, len(task.places))]
        for _ in range(5):
            order, regions = cut_on(task, cutter, order, regions, random)
            assert cutter.ids().tolist() == order
            assert cutter.ids().dtype == np.uint32


@examples(100)
@given(tasks(), st.data())
def test_cutters_agree_on_many_regions_with_attempts_of_their_own(task, data):
    task, _ = task
    rows = len(task.places)
    ends = st.tuples(st.integers(0, rows), st.integers(0, rows)).map(sorted)
    regions = data.draw(st.lists(ends, max_size=6))  # they may even overlap: nothing is moved
    attempts = data.draw(st.lists(st.integers(0, 12), min_size=len(regions), max_size=len(regions)))
    wanted = []
    for (begin, end), attempt in zip(regions, attempts, strict=True):
        cuts = all_cuts(task, range(begin, end))
        wanted.append(cuts[attempt] if attempt < len(cuts) else NO_CUT)
    for cutter in task.cutters():
        assert propose(cutter, regions, attempts) == wanted
        assert cutter.ids().tolist() == list(range(rows))


def test_huge_sparse_lines_are_cut_as_small_ones():
    length = 300_000
    places = [[5], [299_999], [70], [100_000], [70], [200_000]]
    ticks, levels = plain_line(length)
    strict, relaxed = (Task(places, ticks, levels, 2, relaxed) for relaxed in (False, True))
    for task in (strict, relaxed):
        for cutter in task.cutters():
            assert propose(cutter, [(0, 6)] * 4, [0, 1, 2, 3]) == (all_cuts(task, range(6)) + [NO_CUT] * 4)[:4]
    assert all_cuts(strict, range(6)) == [(0, 100_000, 3), (0, 200_000, 4)]
    assert all_cuts(relaxed, range(6)) == [(0, 100_000, 3), (0, 200_000, 4), (0, 70, 3)]


def test_huge_sparse_lines_have_walls_at_places_where_no_row_stands():
    ticks, levels = plain_line(100_000)
    levels[0][60_000] = 2
    task = Task([[10], [20], [90_000], [95_000]], ticks, levels)
    for cutter in task.cutters():
        assert propose(cutter, [(0, 4)] * 2, [0, 1]) == [(0, 90_000, 2), NO_CUT]


@pytest.mark.parametrize("relaxed", [False, True])
def test_one_row_and_no_row_have_no_cut(relaxed):
    task = Task([[0, 1]], *plain_line(2, 2), relaxed=relaxed)
    for cutter in task.cutters():
        assert propose(cutter, [(0, 1), (0, 0), (1, 1)], [0, 0, 0]) == [NO_CUT] * 3
        assert propose(cutter, [], []) == []
        assert cutter.ids().tolist() == [0]


def test_no_rows_at_all_are_no_region():
    for cutter in Task([], *plain_line(2, 2)).cutters():
        assert propose(cutter, [(0, 0)], [0]) == [NO_CUT]
        assert cutter.ids().tolist() == []


def test_equal_rows_are_cut_in_the_middle_by_a_relaxed_cut_only():
    for cutter in Task([[1, 2]] * 7, *plain_line(3, 3), least=3).cutters():
        assert propose(cutter, [(0, 7)], [0]) == [NO_CUT]
    for cutter in Task([[1, 2]] * 7, *plain_line(3, 3), least=3, relaxed=True).cutters():
        assert propose(cutter, [(0, 7)] * 2, [0, 1]) == [(0, 1, 3), NO_CUT]
        split(cutter, [(0, 7)], [(0, 1, 3)])
        assert cutter.ids().tolist() == list(range(7))


def test_the_widest_attribute_comes_first_then_the_second_boundaries():
    """Worked by hand: attribute 0 is 0.3 wide, attribute 1 is 1 wide; the median lies between rows 2 and 3."""
    ticks, levels = plain_line(4, 4)
    places = [[0, 3], [1, 2], [2, 1], [3, 0]]
    for cutter in Task(places, ticks, levels, weights=[3, 10]).cutters():
        cuts = propose(cutter, [(0, 4)] * 7, list(range(7)))
        assert cuts == [(1, 2, 2), (0, 2, 2), (1, 1, 1), (0, 1, 1), (1, 3, 3), (0, 3, 3), NO_CUT]


def test_equal_widths_are_equal_however_they_come_about():
    """As doubles, 0.3 - 0.1 is less than 0.2 - 0: the second attribute was cut although both are a fifth wide."""
    ticks, levels = [[0, 1, 3, 10], [0, 2, 10]], [np.zeros(4), np.zeros(3)]
    for cutter in Task([[1, 0], [2, 1]], ticks, levels).cutters():
        assert propose(cutter, [(0, 2)] * 2, [0, 1]) == [(0, 2, 1), (1, 1, 1)]
    for cutter in Task([[1, 0], [2, 1]], [ticks[0], [0, 5, 25]], levels).cutters():
        assert propose(cutter, [(0, 2)], [0]) == [(0, 2, 1)]


def test_widths_that_differ_by_less_than_doubles_can_tell_are_told_apart():
    huge = 2**62
    ticks, levels = [[0, huge - 2, huge], [0, huge - 1, huge]], [np.zeros(3), np.zeros(3)]
    for cutter in Task([[0, 0], [1, 1]], ticks, levels).cutters():
        assert propose(cutter, [(0, 2)], [0]) == [(1, 1, 1)]


def test_rows_keep_their_order_on_both_sides_of_a_cut():
    places = [[2], [1], [1], [0], [1], [2], [0]]
    for cutter in Task(places, *plain_line(3), relaxed=True).cutters():
        split(cutter, [(1, 7)], [(0, 1, 4)])  # of the three at the boundary the first two go to the left
        assert cutter.ids().tolist() == [0, 1, 2, 3, 6, 4, 5]
        split(cutter, [(0, 5), (5, 7)], [(0, 1, 2), (0, 2, 1)])
        assert cutter.ids().tolist() == [3, 6, 0, 1, 2, 4, 5]


def test_the_rows_of_the_caller_stay_as_they_are():
    task = Task([[1], [0]], *plain_line(2))
    for cutter in task.cutters():
        split(cutter, [(0, 2)], [(0, 1, 1)])
        assert cutter.ids().tolist() == [1, 0]
        assert task.places.tolist() == [[1], [0]]
        cutter.ids()[0] = 7
        assert cutter.ids().tolist() == [1, 0]


@pytest.mark.parametrize("cutter", CUTTERS)
class TestBadInput:
    places = np.zeros((2, 2), dtype=np.uint32)
    ticks = (np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64))
    weights = np.ones(2, dtype=np.int64)
    levels = (np.zeros(3, dtype=np.uint32), np.zeros(3, dtype=np.uint32))

    def test_what_does_not_fit_together_is_refused(self, cutter):
        places, ticks, weights, levels = self.places, list(self.ticks), self.weights, list(self.levels)
        for bad in (
            (places, [], weights[:0], [], 1, False),
            (places, ticks[:1], weights[:1], levels[:1], 1, False),
            (places, [*ticks, ticks[0]], np.ones(3, dtype=np.int64), [*levels, levels[0]], 1, False),
            (np.zeros((2, 3), dtype=np.uint32), ticks, weights, levels, 1, False),
            (places, ticks, weights, levels[:1], 1, False),
            (places, ticks, weights[:1], levels, 1, False),
            (places, ticks, -weights, levels, 1, False),
            (places, [ticks[0], np.array([0, 2, 1])], weights, levels, 1, False),
            (places, [ticks[0], np.array([-1, 0, 1])], weights, levels, 1, False),
            (places, ticks, weights, [levels[0], levels[1][:2]], 1, False),
            (places, ticks, weights, levels, 0, False),
            (places, ticks, weights, levels, -1, True),
            (places + np.uint32(3), ticks, weights, levels, 1, False),
        ):
            with pytest.raises(ValueError, match=r"."):
                cutter(*bad)

    @pytest.mark.parametrize("region", [(-1, 1), (1, 0), (0, 3), (3, 3)])
    def test_regions_beyond_the_rows_are_refused(self, cutter, region):
        made = cutter(self.places, list(self.ticks), self.weights, list(self.levels), 1, False)
        with pytest.raises(ValueError, match="beyond the rows"):
            propose(made, [region], [0])
        with pytest.raises(ValueError, match="beyond the rows"):
            split(made, [region], [(0, 0, 1)])

    @pytest.mark.parametrize("attribute", [-1, 2])
    def test_a_cut_along_no_attribute_is_refused(self, cutter, attribute):
        made = cutter(self.places, list(self.ticks), self.weights, list(self.levels), 1, False)
        with pytest.raises(ValueError, match="no attribute"):
            split(made, [(0, 2)], [(attribute, 0, 1)])

    def test_lists_of_unequal_length_are_refused(self, cutter):
        made = cutter(self.places, list(self.ticks), self.weights, list(self.levels), 1, False)
        one, two = np.array([0]), np.array([0, 0])
        with pytest.raises(ValueError, match="without end"):
            made.propose(one, two, one)
        with pytest.raises(ValueError, match="do not fit"):
            made.propose(one, one, two)
        attributes, codes = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint32)
        for bad in (
            (one, two, attributes, codes, one),
            (one, one, np.zeros(2, dtype=np.int32), codes, one),
            (one, one, attributes, np.zeros(2, dtype=np.uint32), one),
            (one, one, attributes, codes, two),
        ):
            with pytest.raises(ValueError, match=r"."):
                made.split(*bad)


def test_the_chosen_kernel_is_one_of_them():
    assert Cutter in CUTTERS
