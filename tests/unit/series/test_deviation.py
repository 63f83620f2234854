"""Deviation from a target, overlaps and the order of generalizations, against definitions position by position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.series.domain.regions import Regions
from support.boxes import deviation_of_positions, deviations, generalizations, is_finer, painted, refined, sides, whole
from support.examples import examples


@st.composite
def pairs(draw, gaps=False):
    lengths = draw(sides)
    return lengths, draw(generalizations(lengths, gaps)), draw(generalizations(lengths, gaps))


@st.composite
def chains(draw):
    """A target, and generalizations that get finer and finer."""
    lengths = draw(sides)
    coarse = draw(generalizations(lengths))
    middle = draw(refined(coarse, most=4))
    return draw(generalizations(lengths)), coarse, middle, draw(refined(middle, most=4))


class TestByHand:
    target = Regions.of([[(0, 4), (0, 6)], [(4, 8), (0, 6)]])

    def test_a_region_that_contains_the_target_region_deviates_by_nothing(self):
        assert deviations(whole([8, 6]), self.target).tolist() == [0, 0]

    def test_all_intersections_but_the_largest_count(self):
        thirds = Regions.of([[(0, 8), (0, 1)], [(0, 8), (1, 4)], [(0, 8), (4, 6)]])
        assert deviations(thirds, self.target).tolist() == [4 + 8, 4 + 8]
        assert deviations(thirds, self.target).sum() == 24

    def test_of_equal_intersections_one_is_the_largest(self):
        halves = Regions.of([[(0, 8), (0, 3)], [(0, 8), (3, 6)]])
        assert deviations(halves, self.target).tolist() == [12, 12]

    def test_masses_are_spread_evenly(self):
        quarter = Regions.of([[(0, 1), (0, 6)], [(1, 8), (0, 6)]])
        assert deviations(quarter, self.target, np.array([100.0, 7.0])).tolist() == [25, 0]

    def test_what_the_candidate_does_not_cover_counts(self):
        part = Regions.of([[(0, 3), (0, 6)]])
        assert deviations(part, self.target).tolist() == [6, 24]
        assert not self.target.finer_than(part)


class TestAgainstDefinitions:
    @given(pairs(gaps=True))
    def test_deviation_counts_positions(self, case):
        lengths, candidate, target = case
        assert deviations(candidate, target) == pytest.approx(deviation_of_positions(candidate, target, lengths))

    @given(pairs(gaps=True), st.booleans())
    def test_deviation_is_zero_exactly_when_the_target_is_finer(self, case, by_mass):
        lengths, candidate, target = case
        masses = np.arange(1.0, len(target) + 1) / 3 if by_mass else None
        assert (deviations(candidate, target, masses).sum() == 0) == is_finer(target, candidate, lengths)
        assert target.finer_than(candidate) == is_finer(target, candidate, lengths)

    @given(pairs(gaps=True))
    def test_overlaps_are_the_pairs_that_share_a_position(self, case):
        lengths, one, other = case
        mine, others = painted(one, lengths), painted(other, lengths)
        both = (mine >= 0) & (others >= 0)
        wanted = sorted(set(zip(mine[both].tolist(), others[both].tolist(), strict=True)))
        assert list(zip(*(side.tolist() for side in one.overlaps(other)), strict=True)) == wanted

    @given(chains())
    def test_splitting_never_reduces_deviation(self, chain):
        target, *steps = chain
        values = [deviations(step, target).sum() for step in steps]
        assert values == pytest.approx(sorted(values))

    @given(chains())
    def test_finer_is_a_partial_order(self, chain):
        other, coarse, middle, fine = chain
        assert all(regions.finer_than(regions) for regions in chain)
        assert fine.finer_than(middle)
        assert fine.finer_than(coarse)
        for one in (coarse, middle, fine):
            if one.finer_than(other) and other.finer_than(one):
                assert sorted(one.boxes) == sorted(other.boxes)
            if other.finer_than(fine):
                assert other.finer_than(coarse)


def tiling(generator, lengths, count):
    """Many boxes: the first that is wide enough is halved along a random axis, or cut anywhere."""
    boxes, done = [[(0, length) for length in lengths]], []
    while len(boxes) + len(done) < count:
        box = boxes.pop(0)
        axis = int(generator.integers(len(lengths)))
        low, high = box[axis]
        if high - low < 2:
            (done if all(end - start < 2 for start, end in box) else boxes).append(box)
            continue
        position = (low + high) // 2 if generator.random() < 0.7 else int(generator.integers(low + 1, high))
        boxes += [[*box[:axis], (low, position), *box[axis + 1 :]], [*box[:axis], (position, high), *box[axis + 1 :]]]
    return Regions.of(boxes + done)


class TestManyRegions:
    @pytest.mark.parametrize("lengths", [(100_000,), (120, 1000, 365), (120, 3), (9, 8, 7, 6, 5)])
    def test_overlaps_of_many_regions_are_those_of_all_pairs(self, lengths):
        generator = np.random.default_rng(1)
        one, other = tiling(generator, lengths, 350), tiling(generator, lengths, 340)
        meet = (one.lows[:, None] < other.highs) & (other.lows < one.highs[:, None])
        own, others = one.overlaps(other)
        assert np.array_equal(np.argwhere(meet.all(axis=2)), np.stack([own, others], axis=1))
        assert one.disjoint()

    def test_a_region_that_stands_twice_is_found(self):
        regions = tiling(np.random.default_rng(2), (120, 1000, 365), 400)
        again = [*range(len(regions)), len(regions) // 2]
        twice = Regions(regions.lows[again], regions.highs[again])
        assert not twice.disjoint()

    @examples(10)
    @given(st.integers(0, 1000))
    def test_no_regions_share_nothing(self, seed):
        nothing = Regions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64))
        some = tiling(np.random.default_rng(seed), (50, 50), 40)
        assert [len(side) for side in (*nothing.overlaps(some), *some.overlaps(nothing))] == [0, 0, 0, 0]
        assert deviations(nothing, some).tolist() == some.volumes().tolist()
        assert deviations(some, nothing).tolist() == []
        assert nothing.disjoint()
