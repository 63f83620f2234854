"""The whole solution space: every node with its verdict and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kohorte.data import to_polars
from kohorte.release.anonymization import prepare
from kohorte.release.plan import Plan
from kohorte.search import Evaluation, ProgressCallback
from kohorte.search.base import OutOfTime


@dataclass(frozen=True)
class SolutionSpace:
    """All nodes of a plan's lattice, evaluated; `best` is the optimum, or None."""

    attributes: tuple[str, ...]
    shape: tuple[int, ...]
    nodes: tuple[Evaluation, ...]
    best: Evaluation | None

    def solutions(self) -> list[Evaluation]:
        """The nodes that satisfy the plan, the best first."""
        return sorted(
            (node for node in self.nodes if node.solution), key=lambda node: (node.cost, sum(node.node), node.node)
        )

    def to_dict(self) -> dict[str, object]:
        """The solution space as `kohorte lattice --json` prints it."""
        return {
            "attributes": list(self.attributes),
            "levels": list(self.shape),
            "best": list(self.best.node) if self.best else None,
            "nodes": [
                {
                    "levels": list(node.node),
                    "anonymous": node.solution,
                    "cost": node.cost if node.solution else None,
                    "suppressed": node.suppressed,
                }
                for node in self.nodes
            ],
        }


def solution_space(frame: object, plan: Plan, *, progress: ProgressCallback | None = None) -> SolutionSpace:
    """Evaluate every node; `progress` may stop it by returning False, which raises KeyboardInterrupt."""
    table, _ = to_polars(frame)
    setting = prepare(table, plan, progress=progress)
    problem = setting.problem
    problem.time_limit = None
    nodes = []
    try:
        for node in problem.lattice.nodes():
            nodes.append(problem.evaluate(node))
            problem.report(lambda: problem.checked, lambda: -math.inf)
    except OutOfTime:
        raise KeyboardInterrupt from None
    return SolutionSpace(plan.quasi_identifiers, problem.lattice.shape, tuple(nodes), problem.best)
