"""From a node to its verdict and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.engines import Engine
from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.models import PrivacyModel
from kohorte.quality import Costing
from kohorte.search.base import Evaluation


@dataclass(frozen=True)
class Evaluator:
    """Counts a node with an engine and asks the models and the metric about its groups."""

    engine: Engine
    models: Sequence[PrivacyModel]
    costing: Costing
    limit: int

    def __call__(self, node: Node) -> Evaluation:
        """Return the verdict and the cost of a node."""
        return self.judge(self.engine.groups(node))

    @cached_property
    def monotone(self) -> bool:
        """Whether every generalization of a solution is a solution under this suppression limit."""
        return all(model.monotone_with_suppression or (self.limit == 0 and model.monotone) for model in self.models)

    def judge(self, groups: Groups) -> Evaluation:
        """Return the verdict and the cost of the classes of a node."""
        kept = self.kept(groups)
        kept_sizes = groups.sizes[kept]
        suppressed = groups.rows - int(kept_sizes.sum())
        solution = suppressed <= self.limit
        return Evaluation(
            node=groups.node,
            solution=solution,
            cost=self.costing.cost(groups, kept, suppressed) if solution else math.inf,
            suppressed=suppressed,
            classes=len(kept_sizes),
            smallest_class=int(kept_sizes.min()) if len(kept_sizes) else None,
            floor=self.costing.floor(groups) if self.costing.raises_floor else -math.inf,
            gone=suppressed if self.monotone else self._too_small(groups),
        )

    def _too_small(self, groups: Groups) -> int:
        """The rows in classes below the smallest size that the models allow: finer classes are smaller still."""
        return groups.excluded + int(groups.sizes[groups.sizes < self.costing.smallest_class].sum())

    def kept(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies all models and so stays in the release."""
        verdicts = [model.satisfied(groups) for model in self.models]
        return verdicts[0] if len(verdicts) == 1 else np.logical_and.reduce(verdicts)
