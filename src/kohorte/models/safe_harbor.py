"""HIPAA Safe Harbor as a rule on the columns of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kohorte.errors import InputError
from kohorte.groups import Groups
from kohorte.models.base import PrivacyModel


@dataclass(frozen=True)
class SafeHarborRule(PrivacyModel):
    """HIPAA Safe Harbor as a rule on the columns of a release.

    Guarantee
        No column looks like one of the 18 classes of identifiers of 45 CFR 164.514(b)(2)(i), by its name or by its
        contents, except those listed in `allow`, which a person has examined. Columns with a safe_harbor hierarchy show
        only three digits of a ZIP code where more than 20,000 people live (otherwise 000), a year, or an age up to 89
        (above that, one category).
    Leaves open
        Everything else. Safe Harbor is a rule about columns and does not bound a risk: it says nothing about
        combinations, and a person may be unique in the release (add k-anonymity). Identifiers that no pattern finds,
        such as names without a title in a column whose name does not suggest names: a person must examine every column,
        and free text must be removed or read by people. The law also requires that the institution that releases the
        table has no actual knowledge that it could identify a person (164.514(b)(2)(ii)); no program can check this.
    Monotone
        With and without suppression: no class fails.
    Source
        45 CFR 164.514(b)(2); U.S. Department of Health and Human Services, Guidance Regarding Methods for
        De-identification of Protected Health Information in Accordance with the HIPAA Privacy Rule, 2012.
    """

    allow: Sequence[str] = ()

    name: ClassVar[str] = "safe-harbor"
    example: ClassVar[str] = "{model: safe-harbor}"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    monotone_for_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        allowed: object = self.allow
        if isinstance(allowed, str) or not isinstance(allowed, Sequence) or not all(map(_is_name, allowed)):
            raise InputError("allow must be a list of columns, such as [center, visit_no]", code="model-parameter")
        if len(set(allowed)) < len(allowed):
            raise InputError("allow lists a column twice", code="model-parameter")
        object.__setattr__(self, "allow", tuple(allowed))

    def reached(self, groups: Groups) -> None:
        """Nothing is reached: a column is either safe or not."""
        del groups

    def to_dict(self) -> dict[str, object]:
        """The model as a plan writes it."""
        return {"model": self.name} | ({"allow": list(self.allow)} if self.allow else {})


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)
