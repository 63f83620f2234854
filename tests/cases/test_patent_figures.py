"""The figures of the European patent application EP 4 404 095 A1, "Anonymisieren von Daten" (2024), about regions."""

from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.series.domain.measures import NumberAxis
from kohorte.series.domain.regions import OUTSIDE, Regions, Split
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.splitting.refine import refine
from kohorte.series.target.guide import Guide
from kohorte.series.target.target import Target
from support.boxes import deviations


def intervals(*edges):
    """Neighbouring intervals of one attribute."""
    return Regions.of([[pair] for pair in pairwise(edges)])


def check_of(rows, k):
    """A check of this many rows for k-anonymity."""
    plan = ko.Plan({"q": ko.Attribute("quasi-identifying")}, [KAnonymity(k=k)])
    return GroupCheck.of(pl.DataFrame({"q": ["1"] * rows}), plan)


class TestFigure1:
    """Ages from 40 up to 100, paragraphs 0042 to 0051."""

    p = (
        intervals(40, 100),
        intervals(*range(40, 101, 10)),
        intervals(*range(40, 101, 15)),
        intervals(*range(40, 101, 5)),
    )

    @pytest.mark.parametrize(("fine", "coarse"), [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)])
    def test_finer(self, fine, coarse):
        assert self.p[fine].finer_than(self.p[coarse])
        assert not self.p[coarse].finer_than(self.p[fine])
        assert deviations(self.p[coarse], self.p[fine]).sum() == 0

    def test_p1_has_smaller_intervals_than_p2_and_is_not_finer(self):
        assert not self.p[1].finer_than(self.p[2])
        assert not self.p[2].finer_than(self.p[1])

    def test_52_lies_in_one_interval_of_each(self):
        found = [regions.boxes[int(regions.locate(np.array([[52]]))[0])] for regions in self.p[:3]]
        assert found == [[(40, 100)], [(50, 60)], [(40, 55)]]

    def test_the_interval_from_50_to_60_is_the_reason(self):
        """[50, 60) lies half in [40, 55) and half in [55, 70); so does [80, 90) around 85."""
        assert deviations(self.p[2], self.p[1]).tolist() == [0, 5, 0, 0, 5, 0]


class TestFigure2:
    """14 rows in intervals of width 4, then 18 in intervals of width 3: 4-anonymous both, but not together."""

    first = (0.5, 1, 1.5, 2.5, 3.5, 4.5, 5, 6.5, 7, 8.5, 9.5, 10, 10.5, 11.5)
    second = (*first, 2, 5.5, 7.5, 11)
    axis = NumberAxis("q", False, spans=((0, 12),), step=Decimal("0.5"))

    def positions(self, values):
        return self.axis.positions(pl.Series([f"{value:g}" for value in values]))[:, None]

    def in_steps(self, *edges):
        return intervals(*(2 * edge for edge in edges))

    def test_each_release_is_4_anonymous(self):
        for regions, values in ((self.in_steps(0, 4, 8, 12), self.first), (self.in_steps(0, 3, 6, 9, 12), self.second)):
            assert min(np.bincount(regions.locate(self.positions(values)))) >= 4

    def test_linking_independent_releases_leaves_one_candidate_between_3_and_4(self):
        rows = self.positions(self.first)
        left = candidates([self.in_steps(0, 4, 8, 12), self.in_steps(0, 3, 6, 9, 12)], rows)
        assert min(left) == 1
        assert left[self.first.index(3.5)] == 1

    def test_linking_the_releases_of_a_series_leaves_four(self):
        start = self.in_steps(0, 4, 8, 12)
        rows = self.positions(self.second)
        later = refine(start, rows, check_of(len(rows), 4), axes=[self.axis], weights=[1.0])
        assert later.regions.finer_than(start)
        assert min(candidates([start, later.regions], rows)) >= 4

    def test_the_attack_on_released_tables_finds_one_row_between_two_series_and_four_within_one(self, tmp_path):
        """The cells alone, linked by a tag that tells the same row."""
        fours, threes = ([[edge, edge + width] for edge in range(0, 12, width)] for width in (4, 3))
        together = self.released(tmp_path / "one", fours, self.first, self.second)
        apart = [*together[:1], *self.released(tmp_path / "two", threes, self.second)]
        assert len(self.same_cells(apart, self.first.index(3.5))) == 1
        assert min(len(self.same_cells(together, row)) for row in range(len(self.first))) >= 4

    def released(self, folder, pieces, *tables):
        """What a series shows of each tag; the tag of a row is its number."""
        attributes = {"q": ko.Attribute("quasi-identifying"), "tag": ko.Attribute("insensitive")}
        settings = {"regions": {"q": {"pieces": pieces, "step": 0.5}}}
        series = ko.Series.start(folder, ko.Plan(attributes, [KAnonymity(k=4)]), settings)
        frames = [pl.DataFrame({"q": [f"{q:g}" for q in rows], "tag": range(len(rows))}) for rows in tables]
        return [{tag: cell for cell, tag in series.release(frame).data.rows()} for frame in frames]

    def same_cells(self, releases, person):
        return [row for row in releases[0] if all(shown[row] == shown[person] for shown in releases)]

    @given(st.lists(st.integers(0, 23), min_size=4, max_size=60), st.integers(1, 5), st.data())
    def test_whatever_the_rows_a_series_never_leaves_fewer_than_k(self, values, k, data):
        rows = np.array(values)[:, None]
        sizes = sorted(data.draw(st.lists(st.integers(min(k, len(rows)), len(rows)), min_size=1, max_size=4)))
        releases = [self.in_steps(0, 12)]
        for size in sizes:
            releases.append(
                refine(releases[-1], rows[:size], check_of(size, k), axes=[self.axis], weights=[1.0]).regions
            )
        assert all(fine.finer_than(coarse) for coarse, fine in pairwise(releases))
        assert min(candidates(releases, rows[: sizes[-1]])) >= min(k, sizes[0])


def candidates(releases, rows):
    """For every row, how many share its regions in all releases: if an attacker recognises rows."""
    seen = np.stack([regions.locate(rows) for regions in releases], axis=1)
    assert (seen != OUTSIDE).all()
    return [int((seen == row).all(axis=1).sum()) for row in seen]


class TestPartitionWithGaps:
    """P4 of paragraph 0096: ages 16 to 22 and 50 to 80; everybody else is held back."""

    axis = NumberAxis("age", False, spans=((16, 22), (50, 80)), step=1)
    ends = ((16, 18), (18, 20), (20, 22), (50, 55), (55, 60), (60, 65), (65, 70), (70, 75), (75, 80))

    def positions(self, *ages):
        return self.axis.positions(pl.Series([str(age) for age in ages]))

    @property
    def p4(self):
        edges = [(int(self.positions(low)[0]), int(self.positions(high - 1)[0]) + 1) for low, high in self.ends]
        return Regions.of([[edge] for edge in edges])

    def test_p4_is_finer_than_the_pieces(self):
        pieces = Regions.of([[piece] for piece in self.axis.pieces])
        assert self.p4.finer_than(pieces)
        assert deviations(pieces, self.p4).sum() == 0
        assert [self.axis.label(*box[0]) for box in self.p4.boxes[2:4]] == ["20-21", "50-54"]

    def test_values_in_the_gap_belong_to_no_region(self):
        ages = self.positions(16, 21, 22, 49, 50, 79)
        assert self.p4.locate(ages[:, None]).tolist() == [0, 2, OUTSIDE, OUTSIDE, 3, 8]

    def test_no_region_reaches_over_the_gap(self):
        ages = np.repeat(self.positions(20, 21, 50, 51), 3)[:, None]
        start = Regions.of([[piece] for piece in self.axis.pieces])
        found = refine(start, ages, check_of(len(ages), 3), axes=[self.axis], weights=[1.0]).regions
        assert all(high <= 6 or low >= 6 for [(low, high)] in found.boxes)


class TestFigure7:
    """X is finer than Y: every rectangle of X lies in one of Y."""

    y: ClassVar = {
        "1": [(0, 4), (8, 12)],
        "2": [(4, 12), (6, 12)],
        "3": [(0, 4), (4, 8)],
        "4": [(0, 4), (0, 4)],
        "5": [(4, 6), (0, 6)],
        "6": [(6, 9), (0, 6)],
        "7": [(9, 12), (0, 6)],
    }
    x: ClassVar = {
        "1a": [(0, 2), (8, 12)],
        "1b": [(2, 4), (8, 12)],
        "2a": [(4, 12), (6, 9)],
        "2b": [(4, 7), (9, 12)],
        "2c": [(7, 12), (9, 12)],
        "3a": [(0, 4), (6, 8)],
        "3b": [(0, 4), (4, 6)],
        "4a": [(0, 1), (0, 4)],
        "4b": [(1, 4), (0, 4)],
        "5": [(4, 6), (0, 6)],
        "6a": [(6, 9), (0, 2)],
        "6b": [(6, 9), (2, 6)],
        "7a": [(9, 11), (0, 6)],
        "7b": [(11, 12), (0, 6)],
    }

    def test_both_cover_the_same_without_overlap(self):
        for boxes in (self.x, self.y):
            regions = Regions.of(boxes.values())
            assert regions.disjoint()
            assert regions.volumes().sum() == 144

    def test_x_is_finer_than_y(self):
        fine, coarse = Regions.of(self.x.values()), Regions.of(self.y.values())
        parents = [list(self.y)[parent] for parent in fine.parents(coarse)]
        assert parents == [name[0] for name in self.x]
        assert fine.finer_than(coarse)
        assert not coarse.finer_than(fine)
        assert deviations(coarse, fine).sum() == 0

    def test_moving_one_border_makes_it_incomparable(self):
        moved = Regions.of((self.x | {"1b": [(2, 5), (8, 12)], "2b": [(5, 7), (9, 12)]}).values())
        assert not moved.finer_than(Regions.of(self.y.values()))


def steered(start, rows, target, *, k=4, masses=None, **options):
    """The splits that a target lets pass, and how many regions wait; the axes have 12 positions each."""
    goal = Target(target, np.ones(len(target)) if masses is None else masses, expected_rows=100, **options)
    axes = [NumberAxis(name, False, spans=((0, 12),), step=1) for name in "xy"]
    found = refine(start, rows, check_of(len(rows), k), axes=axes, weights=[1.0, 1.0], target=goal)
    return found.splits, found.waited


class TestFigure8:
    """Region 2 has eight rows and may be divided in four ways that keep 4-anonymity; the target lets only H pass."""

    region = Regions.of([[(0, 8), (0, 12)]])
    rows = np.array([(1, 1), (5, 2), (2, 2), (6, 3), (3, 8), (7, 9), (2, 10), (6, 10)])
    target = Regions.of([[(0, 8), (0, 6)], [(0, 3), (6, 12)], [(3, 8), (6, 12)]])  # 2a, 2b, 2c
    candidates: ClassVar = {"V": Split(0, 0, 4), "Hu": Split(0, 1, 8), "H": Split(0, 1, 6), "Hl": Split(0, 1, 4)}

    def test_all_four_keep_4_anonymity(self):
        for split in self.candidates.values():
            assert np.bincount(self.region.divided([split]).locate(self.rows)).tolist() == [4, 4]

    def test_only_h_is_coarser_than_the_target(self):
        coarser = [
            name for name, split in self.candidates.items() if self.target.finer_than(self.region.divided([split]))
        ]
        assert coarser == ["H"]

    def test_the_guide_knows_h_as_the_only_cut_and_the_others_cost(self):
        guide = Guide.of(self.region, self.target, self.target.volumes())
        assert [position.tolist() for _, position in (guide.coarser_cuts(np.array([0]), axis) for axis in (0, 1))] == [
            [],
            [6],
        ]
        splits = np.array([(split.region, split.axis, split.position) for split in self.candidates.values()]).T
        assert guide.added_deviation(*splits).tolist() == [24 + 6, 6 + 10, 0, 16]

    @pytest.mark.parametrize("policy", ["wait", "nearest"])
    def test_a_series_chooses_h_and_nothing_else(self, policy):
        assert steered(self.region, self.rows, self.target, policy=policy, tolerance=1.0)[0] == (self.candidates["H"],)

    def test_it_is_the_target_that_chooses(self):
        """Another target lets another of the four pass."""
        for name, boxes in {
            "V": [[(0, 4), (0, 12)], [(4, 8), (0, 12)]],
            "Hu": [[(0, 8), (0, 8)], [(0, 8), (8, 12)]],
            "Hl": [[(0, 8), (0, 4)], [(0, 8), (4, 12)]],
        }.items():
            assert steered(self.region, self.rows, Regions.of(boxes))[0] == (self.candidates[name],)

    def test_where_h_is_not_allowed_the_region_waits(self):
        """A fifth row below H: the upper part has three. V is still allowed, but cuts the target."""
        moved = np.where(self.rows == (3, 8), (3, 5), self.rows)
        assert steered(self.region, moved, self.target) == ((), 1)

    def test_every_later_step_towards_the_target_is_still_possible(self):
        guide = Guide.of(self.region, self.target, self.target.volumes()).divided([self.candidates["H"]])
        which, position = guide.coarser_cuts(np.array([0, 1]), 0)
        assert (which.tolist(), position.tolist()) == ([1], [3])


class TestFigure9:
    """Neither C1 nor C2 is coarser than G; the one that deviates less is taken."""

    y = Regions.of([[(0, 12), (0, 6)]])
    g = Regions.of([[(0, 5), (0, 3)], [(5, 12), (0, 3)], [(0, 7), (3, 6)], [(7, 12), (3, 6)]])
    c1, c2 = Split(0, 0, 6), Split(0, 1, 2)

    def test_neither_is_coarser(self):
        assert not any(self.g.finer_than(self.y.divided([split])) for split in (self.c1, self.c2))

    def test_by_volume_c1_is_nearer(self):
        """C1 cuts 1 x 3 off the second region and off the third, C2 5 x 1 off the first and 7 x 1 off the second."""
        c1, c2 = (self.y.divided([split]) for split in (self.c1, self.c2))
        assert deviations(c1, self.g).tolist() == [0, 3, 3, 0]
        assert deviations(c2, self.g).tolist() == [5, 7, 0, 0]
        assert self.nearest(self.g.volumes()) == self.c1

    def test_by_mass_c2_is_nearer_where_hardly_anybody_is_expected_in_what_it_cuts(self):
        """C1 costs 7/7 + 70/7 = 11 expected rows, C2 3/3 + 7/3."""
        masses = np.array([3.0, 7.0, 70.0, 10.0])
        c1, c2 = (self.y.divided([split]) for split in (self.c1, self.c2))
        assert deviations(c1, self.g, masses).sum() == pytest.approx(11)
        assert deviations(c2, self.g, masses).sum() == pytest.approx(1 + 7 / 3)
        assert self.nearest(masses) == self.c2

    # Four rows on each side of x = 6, and of y = 2: with k = 4 nothing but C1 and C2 is allowed.
    rows = np.array([(5, 0), (4, 1), (3, 2), (2, 3), (6, 1), (7, 0), (8, 2), (9, 4)])

    def test_the_policy_nearest_takes_c1(self):
        """C1 deviates by 6 of 72, C2 by 12."""
        assert steered(self.y, self.rows, self.g, policy="nearest", tolerance=0.1) == ((self.c1,), 0)
        assert steered(self.y, self.rows, self.g, policy="nearest", tolerance=1.0) == ((self.c1,), 0)

    def test_by_mass_it_takes_c2(self):
        masses = np.array([3.0, 7.0, 70.0, 10.0])
        found = steered(self.y, self.rows, self.g, masses=masses, size="mass", policy="nearest", tolerance=0.1)
        assert found == ((self.c2,), 0)

    def test_with_too_small_a_tolerance_nothing_happens(self):
        assert steered(self.y, self.rows, self.g, policy="nearest", tolerance=0.08) == ((), 1)

    def test_the_policy_wait_takes_neither_whatever_the_tolerance(self):
        assert steered(self.y, self.rows, self.g, policy="wait", tolerance=1.0) == ((), 1)

    def nearest(self, sizes):
        splits = (self.c1, self.c2)
        columns = np.array([(split.region, split.axis, split.position) for split in splits]).T
        return splits[int(Guide.of(self.y, self.g, sizes).added_deviation(*columns).argmin())]


def test_the_regions_of_all_figures_are_disjoint():
    figures = (*TestFigure1.p, TestFigure8.target, TestFigure9.g, TestPartitionWithGaps().p4)
    assert all(regions.disjoint() for regions in figures)
