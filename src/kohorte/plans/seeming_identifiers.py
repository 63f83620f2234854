"""Columns that seem to identify people and stay in a release as they are."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from kohorte.data import Role
from kohorte.identifiers.cells import CellTable
from kohorte.identifiers.classes import Form
from kohorte.identifiers.detection import suspects_in
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

SAMPLE = 10_000
"""So many different values of a column are searched; whether nearly every row has its own is counted for all."""
STAYING = (Role.SENSITIVE, Role.INSENSITIVE)
SEEMS = "seems to identify people"
NAMING = (Form.DIRECT, Form.UNIQUE, Form.FREE_TEXT)
"""Forms that must be removed; places, dates and ages may be quasi-identifiers."""


def identifier_points(source: TableSource, plan: Plan) -> tuple[str, ...]:
    """Say which columns that stay as they are seem to identify people, with names and the reason, never a value."""
    return tuple(
        f"{name!r} {SEEMS} ({why}) and stays in the release, because the plan calls it {plan.attributes[name].role}; "
        "make it identifying unless nobody can be recognised by it"
        for name, why in seeming_identifiers(source, plan)
    )


def seeming_identifiers(source: TableSource, plan: Plan) -> Iterator[tuple[str, str]]:
    """The columns that stay and look like identifiers, and why; without those that the plan says tie rows together."""
    source = source.without_marks(plan.missing_values)
    subset = None if plan.subset is None else plan.subset.name
    stated = {*plan.unit.links, *plan.unit.columns, subset}
    for name in source.columns:
        attribute = plan.attributes.get(name)
        if attribute is None or attribute.role not in STAYING or name in stated:
            continue
        counted = source.count_shown([name])
        whole = CellTable.counted(name, counted[name], counted[COUNT])
        cells = whole
        if counted.height > SAMPLE:
            some = counted.sort(pl.col(name).hash(0), name).head(SAMPLE)
            cells = CellTable.counted(name, some[name], some[COUNT])
        found = suspects_in(cells, source.rows, whole=whole)[0]
        if why := next((one.why for form in NAMING for one in found if one.form is form), ""):
            yield name, why
