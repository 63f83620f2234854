"""Columns that look like one of the 18 classes of identifiers, by their names and by their contents."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from kohorte.data import Role
from kohorte.data.identifiers import Form, suspects
from kohorte.release.plan import Plan

SAMPLE = 10_000
NAMING = (Form.DIRECT, Form.UNIQUE, Form.FREE_TEXT)
"""What has to go; places, dates and ages may be quasi-identifiers."""


@dataclass(frozen=True)
class SuspectedIdentifier:
    """A column, the class of identifiers that it seems to belong to, and why.

    `problem`: it seems to name the person, and the plan does not treat it as identifying.
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
    """Look at all columns, at the contents of the first 10,000 rows; no value is told."""
    found = []
    for name in table.columns:
        role = plan.attributes[name].role
        for suspicion in suspects(table[name], table.height, sample=SAMPLE):
            problem = suspicion.form in NAMING and role is not Role.IDENTIFYING
            found.append(SuspectedIdentifier(name, suspicion.number, suspicion.name, suspicion.why, str(role), problem))
    return tuple(found)
