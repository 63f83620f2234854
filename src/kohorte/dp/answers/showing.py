"""HAVING, ORDER BY and LIMIT on released numbers, which costs nothing (post-processing)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kohorte.dp.schema.columns import Value
from kohorte.dp.sql.plan import Among, Both, Compare, Condition, Either, IsMissing, Negation, QueryPlan

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def shown_rows(plan: QueryPlan, values: Mapping[str, Sequence[Value | None]]) -> list[int]:
    """Return the numbers of the rows to show, in order; missing values come last."""
    rows = list(range(len(next(iter(values.values())))))
    if plan.having is not None:
        having = plan.having
        rows = [row for row in rows if holds(having, {name: column[row] for name, column in values.items()})]
    for name, descending in reversed(plan.order):
        column = values[name]
        known = [row for row in rows if column[row] is not None]
        known.sort(key=lambda row, column=column: column[row], reverse=descending)  # type: ignore[misc]
        rows = known + [row for row in rows if column[row] is None]
    return rows if plan.limit is None else rows[: plan.limit]


def holds(condition: Condition, row: Mapping[str, Value | None]) -> bool | None:
    """Whether a condition holds for a row; None for NULL in SQL."""
    match condition:
        case Compare(column=name, operator=sign, value=value):
            found = row[name]
            return None if found is None else _COMPARE[sign](found, value)
        case Among(column=name, values=values):
            found = row[name]
            return None if found is None else found in values
        case IsMissing(column=name):
            return row[name] is None
        case Negation(condition=inner):
            result = holds(inner, row)
            return None if result is None else not result
        case Both(conditions=parts):
            return _all([holds(part, row) for part in parts])
        case Either(conditions=parts):
            none = _all([None if (result := holds(part, row)) is None else not result for part in parts])
            return None if none is None else not none


def _all(results: Sequence[bool | None]) -> bool | None:
    if any(result is False for result in results):
        return False
    return None if any(result is None for result in results) else True
