"""Columns of a table that look like identifiers, compared with the plan."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from kohorte.data import Role
from kohorte.identifiers.detection import suspects
from kohorte.plans.plan import Plan
from kohorte.plans.seeming_identifiers import NAMING, SAMPLE


@dataclass(frozen=True)
class SuspectedIdentifier:
    """A column, the class of identifiers that it seems to belong to, and why.

    `problem`: it seems to identify the person, and the plan does not treat it as identifying.
    """

    attribute: str
    number: int
    identifier: str
    why: str
    role: str
    problem: bool

    def to_dict(self) -> dict[str, object]:
        """The suspicion as plain data."""
        return dict(vars(self))


def suspected_identifiers(table: pl.DataFrame, plan: Plan) -> tuple[SuspectedIdentifier, ...]:
    """Check all columns by name and by the first 10,000 rows; the result contains no value."""
    found = []
    for name in table.columns:
        role = plan.attributes[name].role
        for suspicion in suspects(table[name], table.height, sample=SAMPLE):
            problem = suspicion.form in NAMING and role is not Role.IDENTIFYING
            found.append(SuspectedIdentifier(name, suspicion.number, suspicion.name, suspicion.why, str(role), problem))
    return tuple(found)
