"""Mondrian: cuts the space of the quasi-identifiers into smaller and smaller regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import NoSolution
from kohorte.kernels import Cutter
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.models import KAnonymity
from kohorte.progress import Progress, Stage, tell
from kohorte.recoding.base import RecodingProblem, refuse_models, refuse_unordered
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.ticks import whole_weights
from kohorte.search import OutOfTime


class Mondrian:
    """Strict Mondrian: every region is cut in two as long as both parts satisfy the models.

    The attribute in which a region is widest is cut first, at the boundary nearest to the median; among equals, the
    first of the plan. If the models do not allow this cut, the other attributes are tried, then boundaries further from
    the median, eight in each attribute. The width of numbers and dates is the normalized range of values: highest minus
    lowest value in the region, divided by the same in the table. That of categories counts steps between neighbours
    on the line instead. Widths are multiplied by the weights and compared exactly.
    Numbers and dates are cut between any two values, other attributes between groups of the highest hierarchy level
    that separates rows of the region. A cell shows the interval from the lowest to the highest value in its region, or
    the groups of the hierarchy.

    Optimal or heuristic
        Heuristic; with k-anonymity, no region has more than 2d(k-1)+m rows (d attributes, m the largest number of
        equal rows).
    Complexity
        O(n log n) for n rows, times the attributes.
    Source
        LeFevre, DeWitt, Ramakrishnan, Mondrian Multidimensional k-Anonymity, ICDE 2006.
    """

    name: ClassVar[str] = "mondrian"
    options: ClassVar[tuple[str, ...]] = ()
    relaxed: ClassVar[bool] = False

    def refuse(self, problem: RecodingProblem) -> str | None:
        """Every attribute needs an order or a hierarchy, and the models must judge each class on its own."""
        return refuse_unordered(problem) or refuse_models(problem.goal.models)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Cut until no region can be cut or time runs out."""
        partition = _Partition(problem, relaxed=self.relaxed)
        if not partition.satisfied(np.zeros(len(problem.rows), dtype=np.uint32), 1):
            raise NoSolution(
                "not even one class of all rows satisfies the models, so that there is nothing to cut",
                code="recoding-no-solution",
            )
        complete = True
        try:
            partition.cut_all()
        except OutOfTime:
            complete = False
        tell(problem.goal.progress, Stage.GENERALIZING, "the rows of each region")
        return partition.recoding(complete=complete)


class MondrianRelaxed(Mondrian):
    """Relaxed Mondrian: regions that have no strict cut left are cut in the middle of their rows.

    Rows with equal values can then be on both sides, so regions can overlap. With k-anonymity, no region has more than
    2k-1 rows. Regions with equal cells are one class of the release.

    Optimal or heuristic
        Heuristic; with k-anonymity, rows / (regions * k) is below 2.
    Complexity
        O(n log n) for n rows, times the attributes.
    Source
        LeFevre, DeWitt, Ramakrishnan, Mondrian Multidimensional k-Anonymity, ICDE 2006, section 2.3.
    """

    name: ClassVar[str] = "mondrian_relaxed"
    relaxed: ClassVar[bool] = True


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


class _Partition:
    """The regions of a table. In each round, all regions that may still have a cut are cut together."""

    def __init__(self, problem: RecodingProblem, *, relaxed: bool) -> None:
        self.problem = problem
        self._cutter = Cutter(
            problem.positions,
            [line.ticks for line in problem.lines],
            whole_weights([problem.goal.weights.get(line.column.name, 1.0) for line in problem.lines]),
            [np.concatenate([[0], line.cut_levels]).astype(np.uint32) for line in problem.lines],
            problem.goal.smallest_class,
            relaxed,
        )
        everything = np.array([0]), np.array([len(problem.rows)]), np.array([0])
        self._open = _Regions(*everything)
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
        positions = self.problem.positions[rows, attributes[region_of]]
        below, at = positions < boundaries[region_of], positions == boundaries[region_of]
        at_so_far = np.cumsum(at) - np.repeat((np.cumsum(at) - at)[firsts], sizes)
        at_left = left - np.add.reduceat(below.astype(np.int64), firsts)
        is_left = below | (at & (at_so_far <= at_left[region_of]))
        verdicts = self.satisfied_each((2 * region_of + ~is_left).astype(np.uint32), 2 * len(regions), rows)
        both: Bools = verdicts[0::2] & verdicts[1::2]
        return both

    def satisfied_each(self, class_of: Codes, classes: int, rows: Codes | None = None) -> Bools:
        """Tell for each class whether it satisfies the models."""
        return self.problem.satisfied(self.problem.groups(class_of, classes, rows))

    def satisfied(self, class_of: Codes, classes: int) -> bool:
        """Tell whether all classes satisfy the models."""
        return bool(self.satisfied_each(class_of, classes).all())

    def recoding(self, *, complete: bool) -> Recoding:
        """The recoded table."""
        problem = self.problem
        ends = np.sort(np.concatenate([*self._ends, self._open.ends]))
        begins = np.concatenate([[0], ends[:-1]])
        order = self._cutter.ids()
        region_of = np.empty(len(order), dtype=np.uint32)
        region_of[order] = np.repeat(np.arange(len(ends)), ends - begins)
        columns = []
        for axis, line in enumerate(problem.lines):
            sorted_positions = problem.positions[order, axis]
            columns.append(
                Cells.of_intervals(
                    line,
                    np.minimum.reduceat(sorted_positions, begins),
                    np.maximum.reduceat(sorted_positions, begins),
                    problem.whole(region_of),
                    snapped=True,
                )
            )
        sizes = ends - begins
        facts = {
            "regions": len(ends),
            "largest_region": int(sizes.max()),
            "rows_per_region_and_k": len(order) / (len(ends) * problem.goal.smallest_class),
            "complete": complete,
        }
        return Recoding(tuple(columns), problem.table.included.copy(), self.checked, "regions", facts=facts)
