"""The columns by which two tables are compared."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kohorte.errors import InputError, nearest
from kohorte.plans.plan import Plan


def common_columns(
    table: pl.DataFrame, other: pl.DataFrame, plan: Plan, on: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The quasi-identifiers that both tables have, or the columns `on`; refuse if there are none."""
    if on is None:
        found = tuple(name for name in plan.quasi_identifiers if name in other.columns)
        if not found:
            hints = ", ".join(repr(name) for name in plan.quasi_identifiers)
            raise InputError(
                f"the second table has none of the quasi-identifiers {hints}: the two cannot be joined",
                code="attack-no-common-columns",
            )
        return found
    given: object = on
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError("on: give a list of columns that both tables have, at least one", code="attack-parameter")
    for name in on:
        if name not in table.columns or name not in other.columns:
            both = set(table.columns) & set(other.columns)
            raise InputError(
                f"the tables do not both have a column {name!r}{nearest(str(name), both)}",
                code="attack-no-common-columns",
            )
    return tuple(dict.fromkeys(on))
