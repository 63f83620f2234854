"""Splitting regions, many at a time, until the models allow no more.

A split is allowed if both parts have rows and satisfy all models. Each round proposes candidates for all regions that
are not settled, tries the best of each region, then the second best of those where it failed, and so on; the halves of
what was split are proposed in the next round. A region without an allowed candidate is settled.

Without a target, the best candidate is the one that reduces the loss the most. With a target, candidates that cut
through none of its regions come first. If there are none, the region waits, or takes the candidate with the least
deviation, as long as the total deviation stays within the tolerance. A region inside one region of the target has
reached it, and is split further by the loss.

Complexity: a round sorts the rows of open regions once per attribute; there are as many rounds as the deepest region
is split one after another, some 15 to 20 for 100,000 rows. With models beyond k-anonymity, a region of n rows that
cannot be split tries all g positions between its rows, n * g steps; with k-anonymity alone the first one suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Bools, Integers
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Positions, Regions, Split
from kohorte.series.splitting.candidates import Candidates, OpenRegions
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.target.guide import Guide
from kohorte.series.target.target import Target


@dataclass(frozen=True, eq=False)
class Refined:
    """The regions after all splits, the splits in their order, and the region of every row.

    `waited` counts regions that could have been split, but not towards the target.
    """

    regions: Regions
    splits: tuple[Split, ...]
    region_of: Integers = field(repr=False)
    waited: int = 0


def refine(
    regions: Regions,
    positions: Positions,
    check: GroupCheck,
    *,
    axes: Sequence[Axis],
    weights: Sequence[float],
    target: Target | None = None,
    cohorts: Integers | None = None,
    region_of: Integers | None = None,
    progress: ProgressCallback | None = None,
) -> Refined:
    """Split regions as far as the models allow. Every row lies in a region; `check` knows the same rows.

    With `cohorts`, the rows of each cohort must satisfy the models on their own in every region that has some.
    `region_of` saves locating the rows if it is already known.
    """
    work = _Work(positions, check, cohorts, target)
    region_of = regions.locate(positions) if region_of is None else region_of.copy()
    guide = None if target is None else target.guide(regions)
    splits: list[Split] = []
    active, waited = np.unique(region_of), 0
    while len(active):
        rows = np.flatnonzero(np.isin(region_of, active))
        done, in_all = len(positions) - len(rows), len(positions)
        tell(progress, Stage.SEARCHING, "for regions that can be split", done=done, of=in_all, unit="rows")
        local = np.searchsorted(active, region_of[rows])
        around = OpenRegions(axes, weights, regions, active, local, positions[rows], check.least)
        taken, waiting = work.choose(around, rows, guide)
        made = [
            Split(int(active[region]), int(axis), int(position))
            for region, axis, position in zip(taken.region, taken.axis, taken.position, strict=True)
        ]
        upper = np.arange(len(regions), len(regions) + len(made))
        regions = regions.divided(made)
        guide = None if guide is None else guide.divided(made)
        splits += made
        waited += waiting
        here, which, above = _sides(taken, local, rows, positions)
        region_of[rows[here[above]]] = upper[which[above]]
        active = np.sort(np.concatenate([active[taken.region], upper]))
    return Refined(regions, tuple(splits), region_of, waited)


@dataclass(frozen=True, eq=False)
class _Work:
    """The rows, the models that check them, and the target."""

    positions: Positions
    check: GroupCheck
    cohorts: Integers | None
    target: Target | None

    def choose(self, around: OpenRegions, rows: Integers, guide: Guide | None) -> tuple[Candidates, int]:
        """At most one split for each open region, and how many regions wait for a split towards the target."""
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

    def _nearest(self, around: OpenRegions, rows: Integers, guide: Guide, left: Bools) -> Candidates:
        """The candidates that add the least deviation, as long as the total stays within the tolerance."""
        room = (0.0 if self.target is None else self.target.tolerated) - guide.deviation
        taken = self._allowed(around.by_deviation(left, guide, tolerated=room), around.local, rows)
        growth = guide.added_deviation(around.chosen[taken.region], taken.axis, taken.position)
        order = np.argsort(growth, kind="stable")
        within = order[np.cumsum(growth[order]) <= room]
        return taken.select(np.sort(within))

    def _allowed(self, candidates: Candidates, local: Integers, rows: Integers) -> Candidates:
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

    def _passes(self, tried: Candidates, local: Integers, rows: Integers) -> Bools:
        """Tell for each candidate (at most one per region) whether both parts satisfy the models."""
        here, which, above = _sides(tried, local, rows, self.positions)
        part, chosen = 2 * which + above, rows[here]
        if self.cohorts is None:
            verdicts = self.check.satisfied(part, 2 * len(tried), chosen)
            return np.asarray(verdicts[0::2] & verdicts[1::2], dtype=bool)
        kinds = int(self.cohorts.max(initial=0)) + 1
        keys, classes = np.unique(part * kinds + self.cohorts[chosen], return_inverse=True)
        failing = keys[~self.check.satisfied(classes, len(keys), chosen)] // kinds // 2
        passes = np.ones(len(tried), dtype=bool)
        passes[failing] = False
        return passes


def _sides(
    candidates: Candidates, local: Integers, rows: Integers, positions: Positions
) -> tuple[Integers, Integers, Bools]:
    """The rows that candidates (at most one per region) divide, the candidate of each, and whether it lies above."""
    number = np.full(int(local.max(initial=-1)) + 1, -1, dtype=np.int64)
    number[candidates.region] = np.arange(len(candidates))
    here = np.flatnonzero(number[local] >= 0)
    which = number[local[here]]
    return here, which, positions[rows[here], candidates.axis[which]] >= candidates.position[which]
