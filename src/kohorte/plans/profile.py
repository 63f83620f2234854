"""Profile a table: the types of its columns, suspected identifiers, and a first plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from kohorte.data import Role, as_text
from kohorte.errors import InputError
from kohorte.hierarchies import Builder, Dates, Intervals, Redaction
from kohorte.identifiers.detection import MOSTLY, Form, suspects
from kohorte.models import KAnonymity
from kohorte.plans.parts import Attribute
from kohorte.plans.plan import Plan

SAMPLE = 10_000
MOST_EXACT = 1e15
"""Larger numbers are codes rather than measurements, and floats do not represent them exactly."""

SENSITIVE_NAMES = re.compile(
    r"diag|icd|disease|krankheit|befund|therap|medic|hiv|salary|income|gehalt|blood|labor|outcome"
)
DATE_FORMATS = {"%Y-%m-%d": r"^\d{4}-\d{2}-\d{2}$", "%d.%m.%Y": r"^\d{2}\.\d{2}\.\d{4}$"}


@dataclass(frozen=True)
class ColumnProfile:
    """What a column looks like; `why` gives the reason for the proposed role."""

    name: str
    kind: str
    distinct: int
    missing: int
    role: Role
    why: str
    hierarchy: Builder | None
    minimum_level: int = 0

    def to_dict(self) -> dict[str, object]:
        """The profile as plain data."""
        return {
            "name": self.name,
            "type": self.kind,
            "distinct": self.distinct,
            "missing": self.missing,
            "suspected_role": str(self.role),
            "why": self.why,
        }


def profile(frame: pl.DataFrame) -> tuple[ColumnProfile, ...]:
    """Profile every column of a table."""
    if frame.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    return tuple(_profile(as_text(frame[name]), frame.height) for name in frame.columns)


def first_plan(columns: tuple[ColumnProfile, ...]) -> Plan:
    """Return a plan to start from: 5-anonymity, at most 5 % suppressed, and a role for every column."""
    attributes = {column.name: Attribute(column.role, column.hierarchy) for column in columns}
    return Plan(attributes=attributes, models=[KAnonymity(k=5)], suppression_limit=0.05)


def _profile(text: pl.Series, rows: int) -> ColumnProfile:
    present = text.drop_nulls()
    sample = present.head(SAMPLE)
    kind, hierarchy = _kind(sample, present)
    distinct = present.n_unique()
    role, why = _role(kind, text, rows)
    kept = hierarchy if role is Role.QUASI_IDENTIFYING else None
    return ColumnProfile(text.name, kind, distinct, text.null_count(), role, why, kept)


def _role(kind: str, text: pl.Series, rows: int) -> tuple[Role, str]:
    """The role by suspicion; ZIP codes, places, dates and ages do not identify a person on their own."""
    found = {suspicion.form: suspicion for suspicion in reversed(suspects(text, rows, sample=SAMPLE))}
    if Form.DIRECT in found:
        return Role.IDENTIFYING, found[Form.DIRECT].why
    if SENSITIVE_NAMES.search(text.name.lower()):
        return Role.SENSITIVE, "by its name"
    for form in (Form.UNIQUE, Form.FREE_TEXT) if kind != "date" else ():
        if form in found:
            return Role.IDENTIFYING, found[form].why
    return Role.QUASI_IDENTIFYING, "others may know it; make it insensitive only if they cannot"


def _kind(sample: pl.Series, present: pl.Series) -> tuple[str, Builder | None]:
    """Return the type of the values and a hierarchy that fits."""
    for layout, pattern in DATE_FORMATS.items():
        if _share(sample, pattern) >= MOSTLY:
            return "date", Dates(format=layout)
    lengths = sample.str.len_chars()
    if len(sample) and lengths.n_unique() == 1 and lengths[0] >= 4 and _share(sample, r"^\d+$") == 1.0:
        return "code", Redaction()
    if _share(sample, r"^[-+]?\d+$") == 1.0:
        return "integer", _intervals(present, integer=True)
    if _share(sample, r"^[-+]?\d+(\.\d+)?$") == 1.0:
        return "number", _intervals(present, integer=False)
    return "text", None


def _intervals(present: pl.Series, *, integer: bool) -> Builder | None:
    """Return intervals that start at a round number and contain all values."""
    numbers = present.cast(pl.Float64, strict=False).drop_nulls()
    if len(numbers) != len(present) or present.n_unique() < 4:
        return None
    least, most = _bounds(numbers)
    if max(abs(least), abs(most)) > MOST_EXACT:
        return None
    width = _round_width((most - least) / 20)
    lower = int(least // width) * width
    upper = lower
    while upper <= most:
        upper += 4 * width
    return Intervals(lower=lower, upper=upper, widths=[width, 2 * width, 4 * width], integer=integer)


def _bounds(numbers: pl.Series) -> tuple[float, float]:
    least: Any = numbers.min()
    most: Any = numbers.max()
    return float(least), float(most)


def _round_width(width: float) -> int:
    """Return the next of 1, 2, 5, 10, 20, 50, ..."""
    size = 1
    while True:
        for step in (1, 2, 5):
            if step * size >= width:
                return step * size
        size *= 10


def _share(sample: pl.Series, pattern: str) -> float:
    if not len(sample):
        return 0.0
    return float(sample.str.contains(pattern).sum()) / len(sample)
