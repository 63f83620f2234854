"""Entropy l-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.sensitive import TOLERANCE, SensitiveModel, within


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """Entropy l-diversity.

    Guarantee
        The entropy of the sensitive attribute in every class is at least log l: its values are as hard to guess as l
        equally frequent ones, on average.
    Leaves open
        A single frequent value, as long as there are many others. Values that differ but mean the same. Classes that
        differ greatly from the whole table. The whole table must reach log l itself, which one frequent value often
        prevents.
    Monotone
        Without suppression only. With suppression, one part remains monotone: a class has at least l rows and l values.
    Source
        Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006. Not
        monotone with suppression: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für
        Anonymität, dissertation, Technische Universität München, 2015, figure 3.2.
    """

    l: float  # noqa: E741 - the published letter

    name: ClassVar[str] = "l-diversity_entropy"
    example: ClassVar[str] = "{model: l-diversity_entropy, attribute: diagnosis, l: 3}"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("l", self.l, above=1)

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows of a class: l, rounded up."""
        return math.ceil(self.l - TOLERANCE)

    @property
    def fewest_values(self) -> int:
        """The smallest number of different values of a class: l."""
        return self.smallest_class

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether its entropy is at least log l."""
        return within(math.log(self.l) - self.histogram(groups).entropies) & self.leaves_doubt(groups)

    def gone(self, groups: Groups) -> Floats:
        """Entropy is concave: the mean entropy of a class's parts is at most its own.

        If a share w of its rows is kept in parts of entropy log l or more, w * log l <= H. A class with too few
        different values has no part that satisfies the model.
        """
        histogram = self.histogram(groups)
        missing = np.where(self.satisfied(groups), 0.0, 1.0 - histogram.entropies / math.log(self.l))
        return np.where(histogram.distinct < self.smallest_class, 1.0, missing) * groups.sizes

    def reached(self, groups: Groups) -> float | None:
        """The smallest number of equally frequent values whose entropy a class reaches."""
        histogram = self.histogram(groups)
        reached = np.exp(histogram.entropies)
        if histogram.people is not None:
            reached = np.minimum(reached, histogram.without_commonest + 1)
        return float(reached.min()) if len(groups) else None
