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
        contents, but those that the plan's `allow` names: somebody has looked at these. Columns with a safe_harbor
        hierarchy show nothing but three digits of a ZIP code where more than 20,000 people live (otherwise 000), a
        year, or an age up to 89 (above, one category).
    Leaves open
        Everything else. Safe Harbor is a rule on columns and no bound on a risk: it says nothing about combinations,
        and a person may stand alone in the release (add k-anonymity). Identifiers that no pattern knows, such as
        names without a title in a column whose name does not say so: somebody has to look at every column, and free
        text has to be removed, or read by people. The law also demands that
        nobody who releases the table has actual knowledge that it could identify a person (164.514(b)(2)(ii)), which
        no program can tell.
    Monotone
        With and without suppression: no class fails.
    Source
        45 CFR 164.514(b)(2); U.S. Department of Health and Human Services, Guidance Regarding Methods for
        De-identification of Protected Health Information, 2012.
    """

    allow: Sequence[str] = ()

    name: ClassVar[str] = "safe-harbor"
    example: ClassVar[str] = "{model: safe-harbor}"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        allowed: object = self.allow
        if isinstance(allowed, str) or not isinstance(allowed, Sequence) or not all(map(_is_name, allowed)):
            raise InputError("allow must be a list of columns, such as [center, visit_no]", code="model-parameter")
        if len(set(allowed)) < len(allowed):
            raise InputError("allow names a column twice", code="model-parameter")
        object.__setattr__(self, "allow", tuple(allowed))

    def reached(self, groups: Groups) -> None:
        """There is nothing to reach: a column is safe or not."""
        del groups

    def to_dict(self) -> dict[str, object]:
        """The model as a plan writes it."""
        return {"model": self.name} | ({"allow": list(self.allow)} if self.allow else {})


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)
