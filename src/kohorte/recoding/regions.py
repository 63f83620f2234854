"""Regions of rows that are cut in two as long as both parts satisfy the models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.kernels import Cutter, LossCutter
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.models import KAnonymity
from kohorte.progress import Progress
from kohorte.recoding.base import RecodingProblem


@dataclass
class _Regions:
    """Ranges of the rows, and how many cuts of each were refused."""

    begins: Counts
    ends: Counts
    attempts: Counts

    def __len__(self) -> int:
        return len(self.begins)

    def where(self, chosen: Bools) -> _Regions:
        return _Regions(self.begins[chosen], self.ends[chosen], self.attempts[chosen])


class Partition:
    """The regions of a table. In each round, all regions that may still have a cut are cut together.

    The cutter proposes cuts of rows at `positions`; the models decide. By default there is one region of all included
    rows. With `groups`, the group of each included row, their groups are cut further; `sorted_by` gives the order of
    the cutter's rows.
    """

    def __init__(
        self, problem: RecodingProblem, cutter: Cutter | LossCutter, positions: Codes, groups: Codes | None = None
    ) -> None:
        self.problem = problem
        self._cutter = cutter
        self._positions = positions
        self._rows = None if groups is None else sorted_by(groups)  # the included row of each row of the cutter
        sizes = np.array([len(positions)]) if groups is None else np.bincount(groups)
        firsts = np.cumsum(sizes) - sizes
        self._open = _Regions(firsts, np.append(firsts[1:], len(positions)), np.zeros(len(firsts), dtype=np.int64))
        self._ends: list[Counts] = []  # of regions that cannot be cut further
        by_size = all(isinstance(model, KAnonymity) for model in problem.goal.models)
        self._sizes_suffice = by_size and problem.table.persons is None
        self.checked = 1

    def cut_all(self) -> None:
        """Cut until no region can be cut further."""
        while len(self._open):
            self.problem.watch_time()
            done = sum(len(ends) for ends in self._ends)
            left = len(self.problem.rows) - int((self._open.ends - self._open.begins).sum())
            self.problem.report(Progress(done + len(self._open), max(1, len(self.problem.rows)), left, unit="rows"))
            self._round()

    def _round(self) -> None:
        regions = self._open
        attributes, boundaries, left = self._cutter.propose(regions.begins, regions.ends, regions.attempts)
        has_cut = attributes >= 0
        self._ends.append(regions.ends[~has_cut])
        regions, attributes = regions.where(has_cut), attributes[has_cut]
        boundaries, left = boundaries[has_cut], left[has_cut]
        self.checked += 2 * len(regions)
        allowed = self._allowed(regions, attributes, boundaries, left)
        cut, refused = regions.where(allowed), regions.where(~allowed)
        self._cutter.split(cut.begins, cut.ends, attributes[allowed], boundaries[allowed], left[allowed])
        middles = cut.begins + left[allowed]
        fresh = np.zeros(2 * len(cut), dtype=np.int64)
        self._open = _Regions(
            np.concatenate([cut.begins, middles, refused.begins]),
            np.concatenate([middles, cut.ends, refused.ends]),
            np.concatenate([fresh, refused.attempts + 1]),
        )

    def _allowed(self, regions: _Regions, attributes: np.ndarray, boundaries: Codes, left: Counts) -> Bools:
        """Tell for which cuts both parts satisfy the models; the kernel has already checked the sizes."""
        if self._sizes_suffice or not len(regions):
            return np.ones(len(regions), dtype=bool)
        sizes = regions.ends - regions.begins
        firsts = np.cumsum(sizes) - sizes
        region_of = np.repeat(np.arange(len(regions)), sizes)
        rows = self._cutter.ids()[np.arange(len(region_of)) + np.repeat(regions.begins - firsts, sizes)]
        positions = self._positions[rows, attributes[region_of]]
        below, at = positions < boundaries[region_of], positions == boundaries[region_of]
        at_so_far = np.cumsum(at) - np.repeat((np.cumsum(at) - at)[firsts], sizes)
        at_left = left - np.add.reduceat(below.astype(np.int64), firsts)
        is_left = below | (at & (at_so_far <= at_left[region_of]))
        verdicts = self.satisfied_each((2 * region_of + ~is_left).astype(np.uint32), 2 * len(regions), rows)
        both: Bools = verdicts[0::2] & verdicts[1::2]
        return both

    def satisfied_each(self, class_of: Codes, classes: int, rows: Codes | None = None) -> Bools:
        """Tell for each class whether it satisfies the models."""
        chosen = rows if self._rows is None else self._rows if rows is None else self._rows[rows]
        return self.problem.satisfied(self.problem.groups(class_of, classes, chosen))

    def satisfied(self, class_of: Codes, classes: int) -> bool:
        """Tell whether all classes satisfy the models."""
        return bool(self.satisfied_each(class_of, classes).all())

    @property
    def ends(self) -> Counts:
        """Where the regions end, in the order of the cutter."""
        return np.sort(np.concatenate([*self._ends, self._open.ends]))

    @property
    def region_of(self) -> Codes:
        """The region of each included row."""
        ends, order = self.ends, self._cutter.ids()
        region_of = np.empty(len(order), dtype=np.uint32)
        region_of[order if self._rows is None else self._rows[order]] = np.repeat(
            np.arange(len(ends)), np.diff(ends, prepend=0)
        )
        return region_of


def sorted_by(groups: Codes) -> Codes:
    """The included rows, one group after the other."""
    return np.argsort(groups, kind="stable").astype(np.uint32)
