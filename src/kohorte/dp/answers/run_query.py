"""Answer a query with noise, or estimate its cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kohorte.data import read_table, to_polars
from kohorte.dp.answers.answer import AnswerColumn, Cell, EstimatedColumn, QueryAnswer, QueryEstimate
from kohorte.dp.answers.showing import shown_rows
from kohorte.dp.budget.budget import NOTHING, Cost, checked_delta, checked_epsilon
from kohorte.dp.budget.ledger import Account, Ledger, NoLedger, one_at_a_time
from kohorte.dp.budget.sqlite_ledger import SqliteLedger
from kohorte.dp.noise.derived import Derived, Deriver, typical_numbers
from kohorte.dp.noise.mechanisms import ThresholdedNoise
from kohorte.dp.noise.releasing import Released, Releaser, releaser
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import TypedTable, typed_table
from kohorte.dp.sql.parse import checked_sql, parse_query
from kohorte.dp.sql.plan import Aggregate, Function, Output
from kohorte.errors import BudgetExceeded
from kohorte.in_words import count

SIZES = (100, 1_000, 10_000)
RESEARCHER = Account.researcher
SHORT = 500
LOOK_AGAIN_SECONDS = 0.02


def query(
    table: object,
    sql: str,
    metadata: QueryMetadata | Mapping[str, Any] | str | Path,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: Ledger | SqliteLedger | str | Path | None = None,
    researcher: str = RESEARCHER,
) -> QueryAnswer:
    """Answer a SELECT with noise, and pay for it from the budget before anything is measured.

    `table` is a frame, the path of a CSV or Parquet file, or a `typed_table`, which saves time for many queries.
    `ledger` records what was spent: the path of a file or a `SqliteLedger`, with the account of `researcher`, or any
    `Ledger`, which is bound to its account. Without a ledger the budget bounds this one query only.
    """
    described = _metadata(metadata)
    ready = _ready(sql, described, epsilon=epsilon, delta=delta)
    typed = _typed(table, described)
    account = bound_ledger(ledger, Account(described.project, researcher))
    released, from_record = _released(ready, typed, account)
    return QueryAnswer(
        *_columns_and_rows(ready, released),
        budget=described.budget,
        cost=NOTHING if from_record else ready.cost,
        remaining=described.budget.limit - account.spent(),
        from_record=from_record,
        notes=_notes(ready),
        warnings=(*described.unstated, *typed.doubts),
    )


def estimate_query(
    sql: str,
    metadata: QueryMetadata | Mapping[str, Any] | str | Path,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: Ledger | SqliteLedger | str | Path | None = None,
    researcher: str = RESEARCHER,
) -> QueryEstimate:
    """Estimate the cost of a query and the error of its answer; no table is read, nothing is spent."""
    described = _metadata(metadata)
    ready = _ready(sql, described, epsilon=epsilon, delta=delta)
    spent = bound_ledger(ledger, Account(described.project, researcher)).spent()
    return QueryEstimate(
        columns=tuple(_estimated(output, ready) for output in ready.plan.outputs if output.aggregate is not None),
        budget=described.budget,
        cost=ready.cost,
        remaining=described.budget.limit - spent,
        affordable=_affordable(ready, spent),
        groups=None if ready.known_keys is None else len(ready.known_keys),
        notes=_notes(ready),
    )


def bound_ledger(ledger: Ledger | SqliteLedger | str | Path | None, account: Account) -> Ledger:
    """Return the ledger if it is bound to an account, otherwise the ledger of this account."""
    if ledger is None:
        return NoLedger(account)
    file = SqliteLedger(ledger) if isinstance(ledger, str | Path) else ledger
    return file.of(account) if isinstance(file, SqliteLedger) else file


def _ready(sql: object, metadata: QueryMetadata, *, epsilon: object, delta: object) -> Releaser:
    """The prepared query; the last short ones are cached (a long one could take megabytes of candidates)."""
    wanted = checked_epsilon(epsilon, what="epsilon", code="query-epsilon")
    allowed = checked_delta(delta, what="delta", code="query-delta")
    text = checked_sql(sql)
    make = _kept_ready if len(text) <= SHORT else _made_ready
    return make(text, metadata, wanted, allowed)


def _made_ready(sql: str, metadata: QueryMetadata, epsilon: float, delta: float) -> Releaser:
    return releaser(parse_query(sql, metadata), metadata, epsilon=epsilon, delta=delta)


_kept_ready = lru_cache(maxsize=64)(_made_ready)


def _released(ready: Releaser, table: TypedTable, ledger: Ledger) -> tuple[Released, bool]:
    """The released numbers, and whether they were on record; a simultaneous equal query waits for the record."""
    query_hash = ready.query_hash(table)
    with one_at_a_time((ledger.account, query_hash)):
        number = None
        while number is None:
            text = ledger.recorded(query_hash)
            if text is not None:
                return Released.from_json(text, ready.measurements), True
            number = ledger.reserve(query_hash, ready.cost, ready.metadata.budget)
            if number is None:
                time.sleep(LOOK_AGAIN_SECONDS)
        released = ready.release(table)
        ledger.record(number, released.to_json())
    return released, False


def _typed(table: object, metadata: QueryMetadata) -> TypedTable:
    if isinstance(table, TypedTable):
        table.refuse_other(metadata)
        return table
    frame = read_table(table).frame if isinstance(table, str | Path) else to_polars(table)[0]
    return typed_table(frame, metadata)


def _metadata(given: QueryMetadata | Mapping[str, Any] | str | Path) -> QueryMetadata:
    if isinstance(given, QueryMetadata):
        return given
    return QueryMetadata.from_yaml(given) if isinstance(given, str | Path) else QueryMetadata.from_dict(given)


def _affordable(ready: Releaser, spent: Cost) -> bool:
    try:
        ready.metadata.budget.refuse_beyond(spent, ready.cost)
    except BudgetExceeded:
        return False
    return True


def _columns_and_rows(
    ready: Releaser, released: Released
) -> tuple[tuple[AnswerColumn, ...], tuple[tuple[Cell, ...], ...]]:
    """The columns of the answer and its rows, after HAVING, ORDER BY and LIMIT."""
    plan = ready.plan
    values: dict[str, list[Cell]] = {}
    widths: dict[str, list[float | None]] = {}
    for output in plan.outputs:
        if output.aggregate is None:
            position = plan.keys.index(str(output.key))
            values[output.name] = [key[position] for key in released.keys]
        else:
            derived = _derived(Deriver(output.aggregate, ready), released)
            values[output.name] = [one.value for one in derived]
            widths[output.name] = [one.half_width for one in derived]
    shown = shown_rows(plan, values)
    rows = tuple(tuple(values[output.name][row] for output in plan.outputs) for row in shown)
    columns = tuple(
        _column(output, ready, [widths[output.name][row] for row in shown] if output.aggregate else [])
        for output in plan.outputs
    )
    return columns, rows


def _derived(deriver: Deriver, released: Released) -> list[Derived]:
    return [
        deriver.derive([released.numbers[part][row] for part in deriver.parts]) for row in range(len(released.keys))
    ]


def _column(output: Output, ready: Releaser, widths: list[float | None]) -> AnswerColumn:
    if output.aggregate is None:
        return AnswerColumn(output.name)
    deriver = Deriver(output.aggregate, ready)
    return AnswerColumn(
        name=output.name,
        aggregate=output.aggregate.in_words,
        mechanisms=_mechanisms(deriver),
        scales=tuple(mechanism.scale for mechanism in deriver.mechanisms),
        half_widths=tuple(widths),
        rank_error=deriver.rank_error,
        notes=_column_notes(output.aggregate, ready),
    )


def _mechanisms(deriver: Deriver) -> tuple[str, ...]:
    return tuple(
        f"{mechanism.name} on {part.kind}" for mechanism, part in zip(deriver.mechanisms, deriver.parts, strict=True)
    )


def _estimated(output: Output, ready: Releaser) -> EstimatedColumn:
    assert output.aggregate is not None
    deriver = Deriver(output.aggregate, ready)
    widths = ((rows, deriver.derive(typical_numbers(deriver, rows)).half_width) for rows in SIZES)
    return EstimatedColumn(
        output.name, output.aggregate.in_words, _mechanisms(deriver), tuple(widths), deriver.rank_error
    )


def _column_notes(aggregate: Aggregate, ready: Releaser) -> tuple[str, ...]:
    notes = []
    if aggregate.column in ready.metadata.columns and aggregate.function is not Function.COUNT:
        column = ready.metadata.columns[str(aggregate.column)]
        notes.append(
            f"{aggregate.column}: values are clamped to {column.min} .. {column.max} and rounded to multiples of "
            f"{float(column.unit):g}"
        )
    if aggregate.function in (Function.MIN, Function.MAX):
        notes.append(
            f"{aggregate.function} is the quantile at {aggregate.quantile:.0%}: the extreme value belongs to one person"
        )
    return tuple(notes)


def _notes(ready: Releaser) -> tuple[str, ...]:
    notes = []
    metadata, plan = ready.metadata, ready.plan
    if metadata.person_columns:
        notes.append(
            f"each person contributes at most {count(metadata.max_contributions, 'row')}; rows that do not say whom "
            "they are about are left out"
        )
    else:
        stated = metadata.rows_are_people
        notes.append(f"every row counts as a different person{'' if stated else ', which nobody has stated'}")
    notes += [
        f"groups with fewer than {mechanism.threshold:,} rows, after noise, are not shown"
        for mechanism in ready.mechanisms.values()
        if isinstance(mechanism, ThresholdedNoise)
    ]
    if plan.keys:
        notes.append("rows with a missing value in GROUP BY are left out")
    return tuple(notes)
