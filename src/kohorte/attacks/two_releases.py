"""Two releases of one table, which an attacker compares."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from kohorte.attacks.linkage import common_columns
from kohorte.data import Role, as_text
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Codes
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, checked_table, numbered


@dataclass(frozen=True, eq=False)
class TwoReleases:
    """The classes of both releases, by the quasi-identifiers that both have, and the linking values of every row.

    `link_left` and `link_right` number the combinations of values in the `linking` columns: sensitive and insensitive
    ones, which releases show unchanged. `k` is the smallest class size that both guarantee.
    """

    left: ShownTable = field(repr=False)
    right: ShownTable = field(repr=False)
    linking: tuple[str, ...]
    link_left: Codes = field(repr=False)
    link_right: Codes = field(repr=False)
    k: int


def two_releases(frame: object, other: object, plan: Plan) -> TwoReleases:
    """Compare two releases of the same rows; other tables are refused."""
    tables = [checked_table(frame, plan), _other_table(other, plan)]
    if tables[0].height != tables[1].height:
        raise InputError(
            f"the tables have {tables[0].height:,} and {tables[1].height:,} rows: they are not two releases of the "
            "same rows",
            code="attack-rows-differ",
        )
    columns = common_columns(tables[0], tables[1], plan)
    left, right = (ShownTable.of(table, columns) for table in tables)
    roles = (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
    linking = tuple(name for name in roles if all(_whole(table, name) for table in tables))
    link_left, link_right = _links(tables, linking)
    k = min((int(table.sizes.min()) for table in (left, right) if table.classes), default=1)
    if plan.smallest_class > 1:
        k = min(k, plan.smallest_class)
    return TwoReleases(left, right, linking, link_left, link_right, k)


def _other_table(other: object, plan: Plan) -> pl.DataFrame:
    try:
        return checked_table(other, plan)
    except InputError as error:
        raise InputError(f"the other release: {error.message}", code=error.code) from None


def _whole(table: pl.DataFrame, name: str) -> bool:
    """Whether a table shows all cells of a column; a decorrelated column is partly suppressed."""
    return name in table.columns and not (as_text(table[name]) == SUPPRESSED).any()


def _links(tables: list[pl.DataFrame], linking: tuple[str, ...]) -> tuple[Codes, Codes]:
    """Number the combinations of the linking columns, in the same way for both tables."""
    stacked = pl.DataFrame(
        [
            pl.concat([as_text(table[name]) for table in tables]).alias(str(position))
            for position, name in enumerate(linking)
        ]
    )
    if not linking:
        stacked = pl.DataFrame({"0": pl.Series([""] * (2 * tables[0].height))})
    text = stacked.select(pl.struct(pl.all()).rank("dense").cast(pl.String)).to_series()
    codes, _ = numbered(text)
    return codes[: tables[0].height], codes[tables[0].height :]
