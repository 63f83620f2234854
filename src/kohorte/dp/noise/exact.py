"""Exact measurements of a table with DuckDB, in whole numbers: rows per person bounded, values clamped and rounded.

Missing values
    Text that is not a number counts as missing, as do NaN and empty cells. Sums, means and quantiles leave missing
    values out, COUNT(column) too; COUNT(*) counts their rows. Rows without a key of GROUP BY, or without the private
    id, are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from kohorte.dp.libraries import duckdb
from kohorte.dp.noise.measurements import Kind, Measurement, square_unit
from kohorte.dp.schema.columns import Datatype, Value
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import PERSON, TypedTable
from kohorte.dp.sql.plan import Among, Both, Compare, Condition, Either, IsMissing, Negation, QueryPlan, columns_of
from kohorte.errors import EngineError, InputError

Key: TypeAlias = tuple[Value, ...]
LOCKED = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "lock_configuration": True,
}
MANY_ROWS = 1_000_000
"""From this number of rows on, a table gets its own database with a thread for each core."""


@dataclass
class Statement:
    """The parameters of an SQL statement: values are bound, never written into the text."""

    parameters: list[Value] = field(default_factory=list)

    def bind(self, value: Value) -> str:
        """Bind a value and return its placeholder."""
        self.parameters.append(value)
        return f"${len(self.parameters)}"


@dataclass(frozen=True)
class ExactTable:
    """A typed table in an isolated database, from which a plan selects and bounds the rows.

    The SQL consists of the column names c0, c1 and so on, and of bound values: no text of the query is in it.
    """

    table: TypedTable
    plan: QueryPlan
    metadata: QueryMetadata

    def measure(self, measurements: Sequence[Measurement]) -> dict[Measurement, dict[Key, int]]:
        """Return whole numbers for each key that occurs; without GROUP BY the only key is ()."""
        statement = Statement()
        rows = self._rows(statement)
        shown = ", ".join([*self._keys(), *(self._sum(measurement, statement) for measurement in measurements)])
        found = self._run(f"{rows} SELECT {shown} FROM bounded{self._group()}", statement)  # noqa: S608
        width = len(self.plan.keys)
        table = {self._key(row[:width]): row[width:] for row in found}
        return {
            measurement: {key: int(numbers[position] or 0) for key, numbers in table.items()}
            for position, measurement in enumerate(measurements)
        }

    def values(self, column: str) -> dict[Key, np.ndarray[Any, np.dtype[np.int64]]]:
        """Return the clamped values of a column in steps, sorted, for each key."""
        statement = Statement()
        rows = self._rows(statement)
        steps = self._steps(column, statement)
        keys = self._keys()
        found = self._run(
            f"{rows} SELECT {', '.join([*keys, f'list({steps})'])} FROM bounded "  # noqa: S608
            f"WHERE {self.table.aliases[column]} IS NOT NULL{self._group()}",
            statement,
        )
        return {self._key(row[:-1]): np.sort(np.array(row[-1] or [], dtype=np.int64)) for row in found}

    def _rows(self, statement: Statement) -> str:
        """The rows that the plan selects, at most `max_contributions` per person.

        Which rows of a person are used depends only on the content of these rows, not on other people.
        """
        used = sorted({self.table.aliases[name] for name in self._used()})
        present = [f"{self.table.aliases[name]} IS NOT NULL" for name in self.plan.keys]
        if self.plan.where is not None:
            present.append(self._condition(self.plan.where, statement))
        if self.metadata.person_columns:
            present.append(f"{PERSON} IS NOT NULL")
        chosen = f"SELECT * FROM kohorte_rows WHERE {' AND '.join(present or ['true'])}"  # noqa: S608
        if not self.metadata.person_columns:
            return f"WITH bounded AS ({chosen})"
        order = ", ".join([PERSON, *used])
        most = statement.bind(self.metadata.max_contributions)
        return (
            f"WITH chosen AS ({chosen}), bounded AS (SELECT * FROM chosen QUALIFY "  # noqa: S608
            f"row_number() OVER (PARTITION BY {PERSON} ORDER BY hash({order}), {order}) <= {most})"
        )

    def _used(self) -> Iterable[str]:
        yield from self.plan.keys
        yield from columns_of(self.plan.where)
        for aggregate in self.plan.aggregates:
            if aggregate.column in self.metadata.columns:
                yield str(aggregate.column)

    def _keys(self) -> list[str]:
        return [self.table.aliases[name] for name in self.plan.keys]

    def _group(self) -> str:
        return f" GROUP BY {', '.join(self._keys())}" if self.plan.keys else ""

    def _key(self, values: Sequence[Any]) -> Key:
        kinds = (self.metadata.columns[name].datatype for name in self.plan.keys)
        return tuple(_key_part(value, kind) for value, kind in zip(values, kinds, strict=True))

    def _sum(self, measurement: Measurement, statement: Statement) -> str:
        kind, name = measurement.kind, measurement.column
        if kind is Kind.ROWS:
            return "count(*)"
        if kind is Kind.PEOPLE:
            return f"count(DISTINCT {PERSON})"
        if kind is Kind.VALUES:
            return f"count({self.table.aliases[name]})"
        steps, column = self._steps(name, statement), self.metadata.columns[name]
        if kind is Kind.SUM:
            return f"sum({steps})"
        centred = f"({steps} - {statement.bind(column.middle)}::BIGINT)"
        if kind is Kind.CENTRED:
            return f"sum({centred})"
        return f"sum(({centred} * {centred}) // {statement.bind(square_unit(column))}::BIGINT)"

    def _steps(self, name: str, statement: Statement) -> str:
        """The value in whole steps, clamped before and after it is rounded; NULL stays NULL."""
        column, alias = self.metadata.columns[name], self.table.aliases[name]
        assert column.min is not None
        assert column.max is not None
        low, high, unit = (statement.bind(float(bound)) for bound in (column.min, column.max, column.unit))
        lowest, highest = statement.bind(column.lowest), statement.bind(column.highest)
        rounded = f"round(least(greatest({alias}, {low}::DOUBLE), {high}::DOUBLE) / {unit}::DOUBLE)::BIGINT"
        return (
            f"(CASE WHEN {alias} IS NOT NULL THEN least(greatest({rounded}, {lowest}::BIGINT), {highest}::BIGINT) END)"
        )

    def _condition(self, condition: Condition, statement: Statement) -> str:
        aliases = self.table.aliases
        match condition:
            case Compare(column=name, operator=operator, value=value):
                return f"({aliases[name]} {operator} {statement.bind(value)})"
            case Among(column=name, values=values):
                return f"({aliases[name]} IN ({', '.join(map(statement.bind, values))}))"
            case IsMissing(column=name):
                return f"({aliases[name]} IS NULL)"
            case Negation(condition=inner):
                return f"(NOT {self._condition(inner, statement)})"
            case Both(conditions=parts):
                return f"({' AND '.join(self._condition(part, statement) for part in parts)})"
            case Either(conditions=parts):
                return f"({' OR '.join(self._condition(part, statement) for part in parts)})"

    def _run(self, sql: str, statement: Statement) -> list[tuple[Any, ...]]:
        with _database(self.table) as connection:
            found: list[tuple[Any, ...]] = connection.execute(sql, statement.parameters).fetchall()
        return found


@contextmanager
def _database(table: TypedTable) -> Iterator[Any]:
    """A connection that can access only this table; its error messages are dropped, because they could contain data.

    A small table keeps it for the next query: telling DuckDB of a table takes as long as counting 10,000 rows.
    """
    library = duckdb()
    small = table.frame.height < MANY_ROWS
    prepared = table.prepared.setdefault(os.getpid(), [])
    try:
        connection = prepared.pop()
    except IndexError:
        connection = _shared_database(os.getpid()).cursor() if small else library.connect(":memory:", config=LOCKED)
        connection.register("kohorte_rows", table.rows)
    try:
        yield connection
    except library.Error:
        connection.close()
        raise EngineError("DuckDB could not compute the exact aggregates", code="query-engine") from None
    except BaseException:
        connection.close()
        raise
    if small:
        prepared.append(connection)
    else:
        connection.close()


@cache
def _shared_database(process: int) -> Any:
    """An empty database for the small tables of this process: creating one takes longer than a query.

    What a cursor registers is visible to that cursor alone. Only the thread of the caller is used.
    """
    del process
    return duckdb().connect(":memory:", config={**LOCKED, "threads": 1})


def _key_part(value: Any, kind: Datatype) -> Value:
    if kind is Datatype.INT:
        return int(value) if float(value).is_integer() else float(value)
    return bool(value) if kind is Datatype.BOOL else str(value)


def all_public_keys(plan: QueryPlan, metadata: QueryMetadata, *, most: int) -> list[Key]:
    """All combinations of public keys; a combination that does not occur is a group without rows."""
    lists = [metadata.columns[name].public_keys or () for name in plan.keys]
    if int(np.prod([len(values) for values in lists], dtype=object)) > most:
        raise InputError(f"GROUP BY would give more than {most:,} groups of public keys", code="query-keys")
    return list(product(*lists))
