"""A threshold for the average risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Groups
from kohorte.models.base import PrivacyModel
from kohorte.models.parameters import number


@dataclass(frozen=True)
class AverageRisk(PrivacyModel):
    """A threshold for the average risk.

    Guarantee
        An attacker who links all rows of the release with a table of the same people, by the quasi-identifiers, is
        right for at most the share `threshold` of them, on average (the marketer's risk: classes / rows).
    Guarantee for people
        An attacker who links the people of each class with a table of the same people, by the quasi-identifiers, is
        right for at most the share `threshold` of them, on average (the marketer's risk: classes / people, where a
        person counts in each of their classes).
    Leaves open
        Individual people: a class of one row is allowed as long as the others are large enough. Combine it with
        k-anonymity. Attribute disclosure.
    Leaves open for people
        Individual people: a class of two people is allowed as long as the others are large enough. Combine it with
        k-anonymity. Attribute disclosure.
    Monotone
        Without suppression only.
    Source
        El Emam, Guide to the De-Identification of Personal Health Information, 2013; Dankar and El Emam, A Method for
        Evaluating Marketer Re-identification Risk, PAIS 2010.
    """

    threshold: float

    name: ClassVar[str] = "average-risk"
    example: ClassVar[str] = "{model: average-risk, threshold: 0.05}"
    about_all: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number("threshold", self.threshold, above=0, most=1)

    def holds(self, groups: Groups) -> bool:
        """Tell whether the number of classes is small enough for the number of rows."""
        sizes = groups.kept_sizes
        return not len(sizes) or len(sizes) / int(sizes.sum()) <= self.threshold

    def reached(self, groups: Groups) -> float | None:
        """The average risk of all rows."""
        sizes = groups.kept_sizes
        return len(sizes) / int(sizes.sum()) if len(sizes) else None
