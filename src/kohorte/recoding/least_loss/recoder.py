"""Least loss: groups of rows whose cells cost least."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kohorte.errors import NoSolution
from kohorte.progress import Stage, tell
from kohorte.recoding.base import RecodingProblem, refuse_models, refuse_unordered
from kohorte.recoding.cells import Recoding
from kohorte.recoding.least_loss.costs import CELLS
from kohorte.recoding.least_loss.grouping import Grouping
from kohorte.search import OutOfTime


class LeastLoss:
    """Groups rows so that their cells cost least under the metric of the plan; every group is shown by its own cells.

    Regions are cut in two where their two parts cost least together, as long as both satisfy the models. Then, round
    by round, a few groups that lie close together are pooled: their rows are grouped again from scratch, or moved and
    swapped between them, and what costs less is kept. Where the models are more than k-anonymity and distinct
    l-diversity, only rows with the same sensitive values change places, so that every class keeps its histogram, and
    groups are cut again after the swaps. Rows are left out only where the suppression limit allows it and a row costs
    the others more than it tells itself. With `strict`, regions do not overlap: nothing is moved after the cuts.

    Optimal or heuristic
        Heuristic; never more expensive than Mondrian with the same kind of cells.
    Complexity
        O(n log n) for the cuts of n rows; each round is linear.
    Source
        Our own. The cuts follow LeFevre, DeWitt, Ramakrishnan, Mondrian Multidimensional k-Anonymity, ICDE 2006; groups
        are built as by Byun, Kamra, Bertino, Li, Efficient k-Anonymization Using Clustering Techniques, DASFAA 2007.
    """

    name: ClassVar[str] = "least_loss"
    options: ClassVar[tuple[str, ...]] = ("seed", "cells", "strict")

    def refuse(self, problem: RecodingProblem) -> str | None:
        """The models must judge each class on its own; intervals need an order or a hierarchy."""
        unordered = refuse_unordered(problem) if problem.goal.options.cells == "intervals" else None
        return unordered or refuse_models(problem.goal.models)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Cut, then improve until nothing worth mentioning is saved or time runs out."""
        grouping = Grouping(problem, problem.goal.options.cells or CELLS[0])
        if not problem.satisfied(problem.groups(np.zeros(len(problem.rows), dtype=np.uint32), 1)).all():
            raise NoSolution(
                "not even one class of all rows satisfies the models, so that there is nothing to cut",
                code="recoding-no-solution",
            )
        complete = True
        try:
            grouping.cut()
            if not problem.goal.options.strict:
                grouping.improve()
        except OutOfTime:
            complete = False
        tell(problem.goal.progress, Stage.GENERALIZING, "the rows of each group")
        return grouping.recoding(complete=complete)
