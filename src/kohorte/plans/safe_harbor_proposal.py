"""A complete plan for HIPAA Safe Harbor: how every column of a table is treated, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from kohorte.data import Role, as_text, to_polars
from kohorte.hierarchies import SafeHarbor
from kohorte.identifiers import Form, Suspicion, cell_tables, form_by_name, suspects_in
from kohorte.models import SafeHarborRule
from kohorte.plans.parts import Attribute
from kohorte.plans.plan import Plan
from kohorte.plans.profile import ColumnProfile, profile
from kohorte.plans.proposal import missing_values_of, search_for

DATE_FORMATS = (
    *("%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d", "%m-%d-%Y", "%d-%m-%Y", "%Y%m%d", "%Y"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S.%f"),
    *("%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y-%m", "%m/%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y"),
)
GONE = (Form.DIRECT, Form.PLACE)
VAGUER = (Form.ZIP, Form.BIRTH, Form.DATE, Form.AGE)


@dataclass(frozen=True)
class _Facts:
    """What the safe forms depend on in addition to the table."""

    populations: str | None
    as_of: str
    folder: Path


def safe_harbor_plan(
    frame: object, *, zip_populations: str | None = None, as_of: str | None = None, folder: Path = Path()
) -> Plan:
    """Return a plan for a table (polars, pandas or arrow) that follows HIPAA Safe Harbor.

    Suspected identifiers become identifying; ZIP codes, dates and ages get their safe form. Read the plan before you
    use it. `zip_populations` is a file with the population of each ZIP code (or of its first three digits), relative to
    `folder`; without it no digit of a ZIP code is released. `as_of` is the day on which no birth year may reveal an age
    over 89; today if it is not given.
    """
    table, _ = to_polars(frame)
    return plan_of(safe_harbor_profile(table, zip_populations=zip_populations, as_of=as_of, folder=folder))


def safe_harbor_profile(
    frame: pl.DataFrame, *, zip_populations: str | None = None, as_of: str | None = None, folder: Path = Path()
) -> tuple[ColumnProfile, ...]:
    """Examine every column of a table, and propose its treatment under Safe Harbor."""
    facts = _Facts(zip_populations, as_of or datetime.now(UTC).date().isoformat(), folder)
    _hierarchy(Form.BIRTH, "%Y", facts)  # refuses an invalid day
    _hierarchy(Form.ZIP, "", facts).areas(attribute="zip populations")  # and a file that cannot be read
    found = [suspicions for cells in cell_tables(frame) for suspicions in suspects_in(cells, frame.height, least=0.0)]
    return tuple(
        _column(column, own, as_text(frame[column.name]), facts)
        for column, own in zip(profile(frame), found, strict=True)
    )


def plan_of(columns: Sequence[ColumnProfile]) -> Plan:
    """The plan for examined columns: only Safe Harbor, and nothing suppressed."""
    attributes = {
        column.name: Attribute(column.role, column.hierarchy, minimum_level=column.minimum_level) for column in columns
    }
    return Plan(
        attributes=attributes,
        models=[SafeHarborRule()],
        search=search_for(columns),
        missing_values=missing_values_of(columns),
    )


def _column(column: ColumnProfile, found: Sequence[Suspicion], text: pl.Series, facts: _Facts) -> ColumnProfile:
    named = [suspicion for suspicion in found if suspicion.form in GONE]
    if named:
        return _removed(column, _reason(named[0]))
    form = next((suspicion.form for suspicion in found if suspicion.form in VAGUER), form_by_name(column.name))
    if form in VAGUER:
        if safe := _made_safe(column, form, text, facts):
            return safe
        if found:
            return _removed(column, f"{_reason(found[0])}; not all of its values have a form that may be released")
    return _removed(column, _reason(found[0])) if found else column


def _removed(column: ColumnProfile, why: str) -> ColumnProfile:
    return replace(column, role=Role.IDENTIFYING, why=why, hierarchy=None, why_hierarchy="", minimum_level=0)


def _reason(suspicion: Suspicion) -> str:
    return f"{suspicion.name} (class {suspicion.number}): {suspicion.why}"


def _made_safe(column: ColumnProfile, form: Form, text: pl.Series, facts: _Facts) -> ColumnProfile | None:
    """The column with the hierarchy of its safe form, if that covers every value."""
    distinct = [value for value in text.drop_nulls().unique() if value not in column.missing_values]
    for layout in DATE_FORMATS if form in (Form.DATE, Form.BIRTH) else ("",):
        builder = _hierarchy(form, layout, facts)
        if len(builder.label(distinct, attribute=column.name).columns) == len(distinct):
            break
    else:
        return None
    why, level = _safe_form(form, builder)
    return replace(
        column,
        role=Role.QUASI_IDENTIFYING,
        why=why,
        hierarchy=builder,
        why_hierarchy="the form that Safe Harbor allows",
        minimum_level=level,
    )


def _hierarchy(form: Form, layout: str, facts: _Facts) -> SafeHarbor:
    if form is Form.ZIP:
        return SafeHarbor("zip", populations=facts.populations, folder=facts.folder)
    if form is Form.AGE:
        return SafeHarbor("age")
    if form is Form.BIRTH:
        return SafeHarbor("date", format=layout, of="birth", as_of=facts.as_of)
    return SafeHarbor("date", format=layout)


def _safe_form(form: Form, builder: SafeHarbor) -> tuple[str, int]:
    """How a column is released, in words, and from which level on."""
    if form is Form.ZIP and builder.populations is None:
        return (
            "ZIP code (class 2): no digit without --zip-populations, which says where more than 20,000 people live",
            2,
        )
    return {
        Form.ZIP: "ZIP code (class 2): three digits where more than 20,000 people live, otherwise 000",
        Form.AGE: "age (class 3): up to 89, then 90+",
        Form.BIRTH: f"date of birth (class 3): the year, {builder.oldest_year} and before as one",
        Form.DATE: "date (class 3): the year",
    }[form], 1
