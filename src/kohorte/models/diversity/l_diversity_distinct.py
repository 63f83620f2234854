"""Distinct l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools
from kohorte.models.parameters import integer
from kohorte.models.sensitive import SensitiveModel


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """Distinct l-diversity.

    Guarantee
        Every class has at least l different values of the sensitive attribute, so the class alone does not reveal any
        person's value.
    Guarantee for people
        Every class has at least l different values of the sensitive attribute, and at least l - 1 people do not have
        the most frequent one, so the class alone does not reveal any person's value.
    Leaves open
        Likely values: one value may still have nearly all rows of a class. Values that differ but mean the same
        (three forms of one disease). Attackers who can exclude l - 1 of the values.
    Leaves open for people
        Likely values: nearly all people of a class may still have one value. Values that differ but mean the same
        (three forms of one disease). Attackers who can exclude l - 1 of the values.
    Monotone
        With and without suppression.
    Source
        Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006.
    """

    l: int  # noqa: E741 - the published letter

    name: ClassVar[str] = "l-diversity_distinct"
    example: ClassVar[str] = "{model: l-diversity_distinct, attribute: diagnosis, l: 3}"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("l", self.l, least=1)

    @property
    def promises_nothing(self) -> bool:
        """Every class has at least one value."""
        return self.l < 2

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows of a class: l."""
        return self.l

    @property
    def fewest_values(self) -> int:
        """The smallest number of different values of a class: l."""
        return self.l

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it has at least l different values."""
        verdict: Bools = self.histogram(groups).distinct >= self.l
        return verdict & self.leaves_doubt(groups)

    def reached(self, groups: Groups) -> float | None:
        """The smallest number of different values of a class."""
        histogram = self.histogram(groups)
        reached = np.minimum(histogram.distinct, histogram.without_commonest + 1)
        return int(reached.min()) if len(groups) else None
