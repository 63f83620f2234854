"""The measurements of a query: whole numbers that one person can change only by a bounded amount.

Two tables are neighbours if one has all rows of one more person. At most `max_contributions` rows of a person are
used, the choice depends on the rows of that person alone, and one row adds at most `largest` to one group. So a
person changes the vector over all groups by at most `max_contributions * largest` in the sum of absolute values, and
by no more in the root of the sum of squares. A number of people changes by at most 1 in each of the groups that the
person has rows in.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from kohorte.dp.budget.budget import Cost
from kohorte.dp.schema.columns import MOST_UNITS, Column
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.sql.plan import Aggregate, Function, QueryPlan

MOST_CANDIDATES = 4096


class Kind(StrEnum):
    """What a measurement counts or sums over the rows of a group, in steps of the column."""

    ROWS = "rows"
    VALUES = "values"
    PEOPLE = "people"
    SUM = "sum"
    CENTRED = "centred"  # differences to the middle of the bounds
    SQUARES = "squares"  # their squares, in units of `square_unit`
    QUANTILE = "quantile"


@dataclass(frozen=True, order=True)
class Measurement:
    """One number for each group; several aggregates may need the same."""

    kind: Kind
    column: str = ""
    quantile: float = 0.0

    @property
    def name(self) -> str:
        """The name of the measurement in records."""
        return json.dumps([self.kind, self.column, self.quantile])


ROWS = Measurement(Kind.ROWS)

_PARTS = {
    Function.COUNT_PEOPLE: (Kind.PEOPLE,),
    Function.SUM: (Kind.SUM,),
    Function.AVG: (Kind.VALUES, Kind.CENTRED),
    Function.VARIANCE: (Kind.VALUES, Kind.CENTRED, Kind.SQUARES),
    Function.STDDEV: (Kind.VALUES, Kind.CENTRED, Kind.SQUARES),
}


def parts_of(aggregate: Aggregate) -> tuple[Measurement, ...]:
    """The measurements that an aggregate is computed from."""
    if aggregate.function is Function.COUNT:
        return (Measurement(Kind.VALUES, aggregate.column) if aggregate.column else ROWS,)
    if aggregate.quantile is not None:
        return (Measurement(Kind.QUANTILE, aggregate.column or "", aggregate.quantile),)
    if aggregate.function is Function.COUNT_PEOPLE:
        return (Measurement(Kind.PEOPLE),)
    return tuple(Measurement(kind, aggregate.column or "") for kind in _PARTS[aggregate.function])


def measurements_of(plan: QueryPlan, *, thresholded: bool) -> tuple[Measurement, ...]:
    """All measurements of a plan, each once; keys that are not public need the number of rows."""
    needed = {part for aggregate in plan.aggregates for part in parts_of(aggregate)}
    return tuple(sorted(needed | {ROWS} if thresholded else needed))


def square_unit(column: Column) -> int:
    """The unit of squares, a power of 2, such that no square overflows."""
    return 1 << max((column.furthest**2 - 1).bit_length() - MOST_UNITS.bit_length() + 1, 0)


def largest(measurement: Measurement, metadata: QueryMetadata) -> int:
    """The most that one row adds to a measurement, as an absolute value."""
    if measurement.kind in (Kind.ROWS, Kind.VALUES, Kind.PEOPLE, Kind.QUANTILE):
        return 1
    column = metadata.columns[measurement.column]
    if measurement.kind is Kind.SUM:
        return max(abs(column.lowest), abs(column.highest))
    if measurement.kind is Kind.CENTRED:
        return column.furthest
    return column.furthest**2 // square_unit(column)


def sensitivity(measurement: Measurement, metadata: QueryMetadata, *, grouped: bool) -> int:
    """The most that one person changes a measurement over all groups, as the sum of absolute values."""
    if measurement.kind is Kind.PEOPLE and not grouped:
        return 1
    return metadata.max_contributions * largest(measurement, metadata)


def euclidean_sensitivity(measurement: Measurement, metadata: QueryMetadata, *, grouped: bool) -> float:
    """The same as the root of the sum of squares, rounded up."""
    most = sensitivity(measurement, metadata, grouped=grouped)
    return math.nextafter(math.sqrt(most), math.inf) if measurement.kind is Kind.PEOPLE and most > 1 else float(most)


@lru_cache(maxsize=64)
def candidates(column: Column) -> tuple[int, ...]:
    """The values in steps that a quantile may take: all of them, or evenly spaced ones if there are too many."""
    every = -(-(column.highest - column.lowest) // MOST_CANDIDATES)
    return (*range(column.lowest, column.highest, every), column.highest)


def public_keys(plan: QueryPlan, metadata: QueryMetadata) -> bool:
    """Whether all keys of the groups are public."""
    return all(metadata.columns[name].public_keys is not None for name in plan.keys)


def query_hash(
    plan: QueryPlan, measurements: Iterable[Measurement], metadata: QueryMetadata, *, cost: Cost, table: str
) -> str:
    """The hash of everything that determines the noise; for a ledger, queries with the same hash are the same.

    Names, order, HAVING and LIMIT are not included: they only select from what is released.
    """
    content = {
        "measurements": [measurement.name for measurement in measurements],
        "where": repr(plan.where),
        "keys": plan.keys,
        "amount": str(cost.amount),
        "delta": str(cost.delta),
        "composition": metadata.budget.composition,
        "metadata": metadata.sha256,
        "table": table,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
