"""What the kinds of t-closeness share."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.groups import Groups, Histogram
from kohorte.kernels import Tree
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.sensitive import SensitiveModel


@dataclass(frozen=True)
class Closeness(SensitiveModel):
    """The distribution of the sensitive attribute in every class is within t of that in the whole table."""

    t: float

    def __post_init__(self) -> None:
        super().__post_init__()
        number("t", self.t, least=0, most=1)

    @property
    def promises_nothing(self) -> bool:
        """No distance exceeds 1."""
        return self.t >= 1

    @staticmethod
    def distances(histogram: Histogram) -> Floats:
        """The distance of each class to the whole table; convex in the distribution of the class."""
        raise NotImplementedError

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether its distance is at most t."""
        verdict: Bools = self.distances(self.histogram(groups)) <= self.t
        return verdict

    def gone_in_tree(self, groups: Groups, tree: Tree) -> Floats:
        """The fewest rows that must leave each class: the kept parts of a class together are within t, too."""
        histogram = self.histogram(groups)
        return histogram.removals(tree, self.distances(histogram), self.t)

    def reached(self, groups: Groups) -> float | None:
        """The largest distance of a class."""
        return float(self.distances(self.histogram(groups)).max()) if len(groups) else None
