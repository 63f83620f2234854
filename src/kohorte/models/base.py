"""What every privacy model offers to the searches and to the verification."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools


class PrivacyModel(Protocol):
    """A condition that every class of a release satisfies; its parameters are its fields.

    `monotone`: without suppression, a generalization of a solution is a solution. `monotone_with_suppression`:
    the same with suppression, because a class that fails contains no class that holds.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool]
    monotone_with_suppression: ClassVar[bool]

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the model looks at."""

    @property
    def smallest_class(self) -> int:
        """The fewest rows that a class can have and satisfy the model."""

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies the model."""

    def reached(self, groups: Groups) -> float | None:
        """The strongest parameter that all classes satisfy; None where there is no class."""

    def to_dict(self) -> dict[str, object]:
        """The model as a plan writes it."""

    @classmethod
    def from_dict(cls, entry: dict[str, object]) -> Self:
        """Read the parameters of a plan's entry."""
