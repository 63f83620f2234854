"""Mondrian: cuts the space of the quasi-identifiers into smaller and smaller regions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kohorte.errors import NoSolution
from kohorte.kernels import Cutter
from kohorte.kernels.arrays import Codes
from kohorte.progress import Stage, tell
from kohorte.recoding.base import RecodingProblem, refuse_models, refuse_unordered
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.regions import Partition
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
        cutter = widest_first(problem, relaxed=self.relaxed)
        partition = Partition(problem, cutter, problem.positions)
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
        return _recoding(problem, partition, cutter.ids(), complete=complete)


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


def widest_first(problem: RecodingProblem, *, relaxed: bool) -> Cutter:
    """A cutter that proposes cuts of the widest attribute first."""
    return Cutter(
        problem.positions,
        [line.ticks for line in problem.lines],
        whole_weights([problem.goal.weights.get(line.column.name, 1.0) for line in problem.lines]),
        [np.concatenate([[0], line.cut_levels]).astype(np.uint32) for line in problem.lines],
        problem.goal.smallest_class,
        relaxed,
    )


def _recoding(problem: RecodingProblem, partition: Partition, order: Codes, *, complete: bool) -> Recoding:
    """The recoded table."""
    ends, region_of = partition.ends, partition.region_of
    begins = np.concatenate([[0], ends[:-1]])
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
    return Recoding(tuple(columns), problem.table.included.copy(), partition.checked, "regions", facts=facts)
