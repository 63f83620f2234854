"""Columns that seem to identify people and stay in a release as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from kohorte.data import Role
from kohorte.identifiers.cells import MOST_CELLS, CellTable
from kohorte.identifiers.classes import Form
from kohorte.identifiers.detection import suspects_in
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

SAMPLE = 10_000
"""So many different values of a column are searched; whether nearly every row has its own is counted for all."""
STAYING = (Role.SENSITIVE, Role.INSENSITIVE)
SEEMS = "seems to identify people"
Counted = tuple[pl.Series, pl.Series]
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
    names = [
        name
        for name in source.columns
        if name in plan.attributes and plan.attributes[name].role in STAYING and name not in stated
    ]
    for part in _some_at_a_time(source, names):
        whole = cells = CellTable.counted(part)
        if any(len(values) > SAMPLE for values, _ in part.values()):
            cells = CellTable.counted({name: _sampled(*own) for name, own in part.items()})
        for name, found in zip(part, suspects_in(cells, source.rows, whole=whole), strict=True):
            if why := next((one.why for form in NAMING for one in found if one.form is form), ""):
                yield name, why


def _some_at_a_time(source: TableSource, names: Sequence[str]) -> Iterator[dict[str, Counted]]:
    """The different texts of columns and how often each is shown, for several columns; one with many texts is alone."""
    part: dict[str, Counted] = {}
    cells = 0
    for name in names:
        counted = source.count_shown([name])
        if part and (counted.height > SAMPLE or cells + counted.height > MOST_CELLS):
            yield part
            part, cells = {}, 0
        part[name] = counted[name], counted[COUNT]
        cells += counted.height
        if counted.height > SAMPLE:
            yield part
            part, cells = {}, 0
    if part:
        yield part


def _sampled(values: pl.Series, counts: pl.Series) -> Counted:
    """Some of the different texts, always the same ones."""
    some = pl.DataFrame({"text": values, "rows": counts}).sort(pl.col("text").hash(0), "text").head(SAMPLE)
    return some["text"], some["rows"]
