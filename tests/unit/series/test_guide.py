"""What a target says about splits: against counting the deviation again after each of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InternalError
from kohorte.series.domain.regions import Regions, Split
from kohorte.series.target.guide import Guide
from support.boxes import deviations, generalizations, sides, whole


def all_splits(regions):
    return [
        Split(number, axis, position)
        for number, box in enumerate(regions.boxes)
        for axis, (low, high) in enumerate(box)
        for position in range(low + 1, high)
    ]


def columns(splits):
    return np.array([(split.region, split.axis, split.position) for split in splits], dtype=np.int64).reshape(-1, 3).T


@st.composite
def guided(draw):
    """Regions and a target, with gaps or not, by volume or by mass."""
    lengths, gaps = draw(sides), draw(st.booleans())
    regions, target = draw(generalizations(lengths, gaps)), draw(generalizations(lengths, gaps))
    masses = np.array(draw(st.lists(st.integers(0, 9), min_size=len(target), max_size=len(target))), dtype=np.float64)
    return regions, target, masses if draw(st.booleans()) else None


def guide_of(regions, target, masses):
    return Guide.of(regions, target, target.volumes() if masses is None else masses)


class TestGuide:
    @given(guided())
    def test_added_deviation_is_what_counting_again_finds(self, case):
        regions, target, masses = case
        splits = all_splits(regions)
        before = deviations(regions, target, masses).sum()
        wanted = [deviations(regions.divided([split]), target, masses).sum() - before for split in splits]
        guide = guide_of(*case)
        assert guide.deviation == pytest.approx(before)
        assert guide.added_deviation(*columns(splits)) == pytest.approx(wanted, abs=1e-9)

    @given(guided())
    def test_a_cut_is_coarser_if_it_goes_through_no_box(self, case):
        regions, target, _ = case
        chosen = np.arange(len(regions))[::2]
        for axis in range(regions.axes):
            wanted = [
                (index, split.position)
                for index, number in enumerate(chosen.tolist())
                for split in all_splits(regions)
                if (split.region, split.axis) == (number, axis) and not cuts_a_box(regions, split, target)
            ]
            which, position = guide_of(*case).coarser_cuts(chosen, axis)
            assert list(zip(which.tolist(), position.tolist(), strict=True)) == wanted

    @given(guided(), st.data())
    def test_after_splits_the_guide_is_the_same_as_one_made_from_scratch(self, case, data):
        _, target, masses = case
        guide = guide_of(*case)
        for _ in range(3):
            if options := all_splits(guide.regions):
                some = st.lists(st.sampled_from(options), unique_by=lambda split: split.region)
                guide = guide.divided(data.draw(some))
        fresh = guide_of(guide.regions, target, masses)
        assert pieces(guide) == pieces(fresh)
        assert guide.deviation == pytest.approx(deviations(guide.regions, target, masses).sum())

    @given(guided())
    def test_what_cuts_no_box_adds_exactly_nothing(self, case):
        regions, _, _ = case
        guide = guide_of(*case)
        for axis in range(regions.axes):
            which, position = guide.coarser_cuts(np.arange(len(regions)), axis)
            assert not guide.added_deviation(which, np.full(len(which), axis), position).any()

    def test_a_region_has_reached_the_target_when_it_meets_one_box(self):
        target = Regions.of([[(0, 4)], [(4, 6)], [(6, 9)]])
        regions = Regions.of([[(0, 2)], [(2, 4)], [(4, 9)], [(9, 12)]])
        assert Guide.of(regions, target, target.volumes()).reached.tolist() == [True, True, False, True]

    def test_a_region_is_split_once_at_a_time(self):
        guide = Guide.of(whole([4]), whole([4]), np.ones(1))
        with pytest.raises(InternalError, match="once"):
            guide.divided([Split(0, 0, 2), Split(0, 0, 1)])

    def test_of_a_box_that_was_cut_before_only_what_the_largest_piece_loses_counts(self):
        """A box of 10 is in pieces of 6 and 4: cutting 3 off the 6 leaves 4 as the largest, so that 2 are lost."""
        halves = Regions.of([[(0, 6)], [(6, 10)]])
        guide = Guide.of(halves, whole([10]), np.array([10.0]))
        assert guide.deviation == 4
        splits = [Split(0, 0, 1), Split(0, 0, 3), Split(1, 0, 8)]
        assert guide.added_deviation(*columns(splits)).tolist() == [1, 2, 0]


def cuts_a_box(regions, split, target):
    """Whether a box has positions on both sides of the cut inside the region."""
    box = regions.boxes[split.region]
    for other in target.boxes:
        meets = all(low < high_ and low_ < high for (low, high), (low_, high_) in zip(box, other, strict=True))
        if meets and other[split.axis][0] < split.position < other[split.axis][1]:
            return True
    return False


def pieces(guide):
    return sorted(
        zip(guide.region.tolist(), guide.box.tolist(), guide.lows.tolist(), guide.highs.tolist(), strict=True)
    )
