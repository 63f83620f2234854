"""Profile a table: the types of its columns, suspected identifiers, and a role and a hierarchy for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.hierarchies import Builder, Dates, Intervals, builder_to_dict
from kohorte.identifiers import CellTable, Form, Suspicion, cell_tables, suspects_in
from kohorte.in_words import count, listed
from kohorte.plans.column_types import ColumnType, types_of

SENSITIVE_NAMES = re.compile(
    r"diag|icd|disease|krankheit|befund|therap|medic|hiv|salary|income|gehalt|blood|labor|outcome"
)


@dataclass(frozen=True)
class ColumnProfile:
    """What a column looks like.

    `why` gives the reason for the proposed role, `why_hierarchy` that for the hierarchy of a quasi-identifier.
    `missing` counts empty cells and the texts in `missing_values`, which seem to stand for them; `stars` counts cells
    with `*`.
    """

    name: str
    kind: str
    distinct: int
    missing: int
    role: Role
    why: str
    hierarchy: Builder | None
    minimum_level: int = 0
    why_hierarchy: str = ""
    missing_values: tuple[str, ...] = ()
    stars: int = 0

    @property
    def hierarchy_in_words(self) -> str:
        """The proposed hierarchy of a quasi-identifier, for people."""
        if self.role is not Role.QUASI_IDENTIFYING:
            return ""
        if self.hierarchy is None:
            return "the value or *"
        if isinstance(self.hierarchy, Dates):
            return f"dates, {self.hierarchy.format}"
        if isinstance(self.hierarchy, Intervals):
            return f"intervals of {', '.join(str(width) for width in self.hierarchy.widths or ())}"
        return self.hierarchy.name

    def to_dict(self) -> dict[str, object]:
        """The profile as plain data."""
        return {
            "name": self.name,
            "type": self.kind,
            "distinct": self.distinct,
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "suspected_role": str(self.role),
            "why": self.why,
            "hierarchy": None if self.hierarchy is None else builder_to_dict(self.hierarchy),
            "why_hierarchy": self.why_hierarchy,
        }


def why_stars(columns: Sequence[ColumnProfile]) -> str:
    """Why no plan for these columns would run: quasi-identifiers or sensitive columns with suppressed cells; empty if
    there are none."""
    refused = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
    starred = [column for column in columns if column.stars and column.role in refused]
    if not starred:
        return ""
    cells = count(sum(column.stars for column in starred), "cell")
    return (
        f"{listed([repr(column.name) for column in starred])}: {cells} with *, which marks a suppressed value of a "
        "release, so there is no plan to propose; take the original table, or empty these cells if * means that the "
        "value is missing, and profile the table again"
    )


def profile(frame: pl.DataFrame) -> tuple[ColumnProfile, ...]:
    """Profile every column of a table, by all its cells."""
    if frame.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    found: list[ColumnProfile] = []
    schema = frame.schema  # polars makes a new one at each access
    for cells in cell_tables(frame):
        numeric = [at for at, name in enumerate(cells.names) if schema[name].is_numeric()]
        types = types_of(cells, typed=numeric)
        suspicions = suspects_in(cells, frame.height)
        found += [_column(cells, at, types[at], suspicions[at], frame.height) for at in range(len(cells))]
    return tuple(found)


def _column(cells: CellTable, at: int, kind: ColumnType, suspicions: Sequence[Suspicion], rows: int) -> ColumnProfile:
    name, stars = cells.names[at], int(cells.stars[at])
    role, why = _role(name, kind, suspicions)
    known = role is Role.QUASI_IDENTIFYING
    return ColumnProfile(
        name,
        kind.kind,
        kind.distinct,
        rows - kind.rows - stars,
        role,
        why,
        kind.hierarchy if known else None,
        why_hierarchy=kind.why if known else "",
        missing_values=kind.marks,
        stars=stars,
    )


def _role(name: str, kind: ColumnType, suspicions: Sequence[Suspicion]) -> tuple[Role, str]:
    """The role by suspicion; ZIP codes, places, dates and ages do not identify a person on their own.

    A date is never sensitive by its name: others may know the day of a diagnosis.
    """
    found = {suspicion.form: suspicion for suspicion in reversed(suspicions)}
    if Form.DIRECT in found:
        return Role.IDENTIFYING, found[Form.DIRECT].why
    if not kind.is_date:
        if SENSITIVE_NAMES.search(name.lower()):
            return Role.SENSITIVE, "by its name"
        for form in (Form.UNIQUE, Form.FREE_TEXT):
            if form in found:
                return Role.IDENTIFYING, found[form].why
    return Role.QUASI_IDENTIFYING, "others may know it; make it insensitive only if they cannot"
