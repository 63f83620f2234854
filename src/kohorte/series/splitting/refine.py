"""Refining: splitting regions, many at a time, until nothing more is allowed.

A split is allowed if both parts have rows and satisfy all models. Each round proposes candidates for all regions that
are not settled, tries the best of each region, then the second best of those where it failed, and so on; the halves of
what was split are proposed in the next round. A region without an allowed candidate is settled.

Without a target the best candidate is the one that lessens the loss the most. With one, a candidate that cuts through
no region of the target comes first. Where there is none, the region waits, or takes the candidate with the least
deviation, as long as the deviation in all stays within the tolerance. A region inside one of the target has reached
it, and goes on by the loss.

Complexity: a round sorts the rows of open regions once per attribute; there are as many rounds as the deepest region
is split one after another, some 15 to 20 for 100,000 rows. With models beyond k, a region of n rows that cannot be
split tries all g places between its rows, n * g steps; with k alone the first place does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Places, Regions, Split
from kohorte.series.judge import Judge
from kohorte.series.splitting.candidates import Candidates, OpenRegions
from kohorte.series.target.guide import Guide
from kohorte.series.target.target import Target

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Refined:
    """The regions after all splits, the splits in their order, and the region of every row.

    `waited` counts regions that could have been split, but not along the target.
    """

    regions: Regions
    splits: tuple[Split, ...]
    region_of: Numbers = field(repr=False)
    waited: int = 0


def refine(
    regions: Regions,
    places: Places,
    judge: Judge,
    *,
    axes: Sequence[Axis],
    weights: Sequence[float],
    target: Target | None = None,
    cohorts: Numbers | None = None,
    region_of: Numbers | None = None,
) -> Refined:
    """Split regions as far as the models allow. Every row lies in a region; `judge` knows the same rows.

    With `cohorts`, the rows of each cohort must satisfy the models on their own in every region that has some.
    `region_of` may be given where it is known.
    """
    work = _Work(places, judge, cohorts, target)
    region_of = regions.locate(places) if region_of is None else region_of.copy()
    guide = None if target is None else target.guide(regions)
    splits: list[Split] = []
    active, waited = np.unique(region_of), 0
    while len(active):
        rows = np.flatnonzero(np.isin(region_of, active))
        local = np.searchsorted(active, region_of[rows])
        around = OpenRegions(axes, weights, regions, active, local, places[rows], judge.least)
        taken, waiting = work.choose(around, rows, guide)
        made = [
            Split(int(active[region]), int(axis), int(place))
            for region, axis, place in zip(taken.region, taken.axis, taken.place, strict=True)
        ]
        upper = np.arange(len(regions), len(regions) + len(made))
        regions = regions.divided(made)
        guide = None if guide is None else guide.divided(made)
        splits += made
        waited += waiting
        _move(region_of, rows, local, places, taken, upper)
        active = np.sort(np.concatenate([active[taken.region], upper]))
    return Refined(regions, tuple(splits), region_of, waited)


@dataclass(frozen=True, eq=False)
class _Work:
    """The rows, and who is asked about them."""

    places: Places
    judge: Judge
    cohorts: Numbers | None
    target: Target | None

    def choose(self, around: OpenRegions, rows: Numbers, guide: Guide | None) -> tuple[Candidates, int]:
        """At most one split for each open region, and how many regions wait for one along the target."""
        everywhere = np.ones(len(around.chosen), dtype=bool)
        if guide is None or self.target is None:
            return self._allowed(around.by_information(everywhere), around.local, rows), 0
        reached = guide.reached[around.chosen]
        proposed = (around.by_information(reached), around.by_target(~reached, guide))
        taken = Candidates.joined([self._allowed(candidates, around.local, rows) for candidates in proposed])
        left = ~reached
        left[taken.region] = False
        if self.target.policy == "nearest":
            near = self._nearest(around, rows, guide, left)
            left[near.region] = False
            taken = Candidates.joined([taken, near])
        return taken, len(np.unique(around.by_information(left).region))

    def _nearest(self, around: OpenRegions, rows: Numbers, guide: Guide, left: Bools) -> Candidates:
        """The candidates of least deviation, those that add the least first, as long as all stay tolerable."""
        room = (0.0 if self.target is None else self.target.tolerated) - guide.deviation
        taken = self._allowed(around.by_deviation(left, guide, tolerated=room), around.local, rows)
        growth = guide.added_deviation(around.chosen[taken.region], taken.axis, taken.place)
        order = np.argsort(growth, kind="stable")
        within = order[np.cumsum(growth[order]) <= room]
        return taken.select(np.sort(within))

    def _allowed(self, candidates: Candidates, local: Numbers, rows: Numbers) -> Candidates:
        """The first candidate of each region whose parts satisfy the models."""
        taken: list[Candidates] = [Candidates.none()]
        still_open = np.ones(int(local.max(initial=-1)) + 1, dtype=bool)
        while len(candidates):
            first = np.flatnonzero(np.diff(candidates.region, prepend=-1))
            tried = candidates.select(first)
            passed = tried.select(self._passes(tried, local, rows))
            taken.append(passed)
            still_open[passed.region] = False
            left = still_open[candidates.region]
            left[first] = False
            candidates = candidates.select(left)
        return Candidates.joined(taken)

    def _passes(self, tried: Candidates, local: Numbers, rows: Numbers) -> Bools:
        """Tell for each candidate, one for a region at most, whether both parts satisfy the models."""
        here, which, above = _sides(tried, local, rows, self.places)
        part, chosen = 2 * which + above, rows[here]
        if self.cohorts is None:
            verdicts = self.judge.satisfied(part, 2 * len(tried), chosen)
            return np.asarray(verdicts[0::2] & verdicts[1::2], dtype=bool)
        kinds = int(self.cohorts.max(initial=0)) + 1
        keys, classes = np.unique(part * kinds + self.cohorts[chosen], return_inverse=True)
        failing = keys[~self.judge.satisfied(classes, len(keys), chosen)] // kinds // 2
        passes = np.ones(len(tried), dtype=bool)
        passes[failing] = False
        return passes


def _sides(candidates: Candidates, local: Numbers, rows: Numbers, places: Places) -> tuple[Numbers, Numbers, Bools]:
    """The rows that candidates (one for a region at most) divide, the candidate of each, and whether it lies above."""
    number = np.full(int(local.max(initial=-1)) + 1, -1, dtype=np.int64)
    number[candidates.region] = np.arange(len(candidates))
    here = np.flatnonzero(number[local] >= 0)
    which = number[local[here]]
    return here, which, places[rows[here], candidates.axis[which]] >= candidates.place[which]


def _move(region_of: Numbers, rows: Numbers, local: Numbers, places: Places, taken: Candidates, upper: Numbers) -> None:
    """Give the rows of upper parts the numbers of their new regions."""
    here, which, above = _sides(taken, local, rows, places)
    region_of[rows[here[above]]] = upper[which[above]]
