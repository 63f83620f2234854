"""First settings for a series, from the table of its first release: a steward reads and changes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from kohorte.data import as_text, without_marks
from kohorte.hierarchies import Builder, CsvFile, Dates, Intervals, Ordering, Tree
from kohorte.plans import Plan
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_tables
from kohorte.service.permissions import Permission
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.service.projects.store import names_of, ready_dataset

FIRST_DAY, YEARS_AHEAD, MOST_DIGITS, MOST_VALUES = "1900-01-01", 10, 15, 200


def proposed(service: Service, actor: Actor, dataset_id: int, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for a series with this plan: domains that the hierarchies do not define, and who is recognised.

    A table tells what occurs, not what is possible: the steward has to widen the domains.
    """
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = ready_dataset(service, connection, dataset_id)
        stored = hierarchies.stored(service, connection, dataset_id)
    read = read_plan({"plan": plan}, Dataset(names_of(dataset), stored))
    with kept_tables.working(service, dataset) as table:
        return {"kohorte": 1, "kind": "regions"} | _identified(read) | {"regions": _regions(read, table.frame)}


def _identified(plan: Plan) -> dict[str, str]:
    columns = plan.unit.columns if plan.unit.counts_people else ()
    return {"identified_by": columns[0]} if len(columns) == 1 else {}


def _regions(plan: Plan, frame: pl.DataFrame) -> dict[str, Any]:
    rows = without_marks(frame.select(plan.quasi_identifiers), plan.missing_values)
    found = {name: _domain(plan.attributes[name].hierarchy, as_text(rows[name])) for name in plan.quasi_identifiers}
    return {name: domain for name, domain in found.items() if domain}


def _domain(builder: Builder | None, column: pl.Series) -> dict[str, Any]:
    """The domain of a column; empty if its hierarchy defines it, or if nothing can be proposed."""
    listed = isinstance(builder, CsvFile | Tree) or (isinstance(builder, Ordering) and builder.values is not None)
    if listed or isinstance(builder, Intervals):
        return {}
    if isinstance(builder, Dates):
        return {"lower": FIRST_DAY, "upper": f"{datetime.now(UTC).year + YEARS_AHEAD}-01-01"}
    values = column.drop_nulls().unique()
    lengths = values.str.len_chars().unique().to_list()
    if len(lengths) == 1 and lengths[0] <= MOST_DIGITS and bool(values.str.contains(r"^\d+$").all()):
        return {"digits": lengths[0]}
    return {"values": values.sort().to_list()} if 0 < len(values) <= MOST_VALUES else {}
