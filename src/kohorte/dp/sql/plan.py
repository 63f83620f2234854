"""The plan of a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from kohorte.dp.schema.columns import Value

Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Compare:
    """A column against a constant."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True)
class Among:
    """A column against a list of constants."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class IsMissing:
    """A column without a value."""

    column: str


@dataclass(frozen=True)
class Negation:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True)
class _Joined:
    """Several conditions, sorted, because their order has no meaning."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(sorted(self.conditions, key=repr)))


class Both(_Joined):
    """All of several conditions."""


class Either(_Joined):
    """At least one of several conditions."""


Condition: TypeAlias = Compare | Among | IsMissing | Negation | Both | Either


class Function(StrEnum):
    """The supported aggregates."""

    COUNT = "COUNT"
    COUNT_PEOPLE = "COUNT DISTINCT"
    SUM = "SUM"
    AVG = "AVG"
    VARIANCE = "VARIANCE"
    STDDEV = "STDDEV"
    MIN = "MIN"
    MAX = "MAX"
    MEDIAN = "MEDIAN"
    QUANTILE = "QUANTILE"


QUANTILES = {Function.MIN: 0.01, Function.MAX: 0.99, Function.MEDIAN: 0.5}
"""The smallest and the largest value belong to one person, so a private answer cannot be close to them: MIN and MAX are
the quantiles at 1 % and 99 %."""


@dataclass(frozen=True)
class Aggregate:
    """A function of a column; COUNT without one counts rows."""

    function: Function
    column: str | None = None
    quantile: float | None = None

    @property
    def in_words(self) -> str:
        """The aggregate as SQL writes it."""
        if self.function is Function.COUNT_PEOPLE:
            return f"COUNT(DISTINCT {self.column})"
        share = f", {self.quantile:g}" if self.function is Function.QUANTILE else ""
        return f"{self.function}({self.column or '*'}{share})"


@dataclass(frozen=True)
class Output:
    """A column of the answer: a key of the groups, or an aggregate."""

    name: str
    key: str | None = None
    aggregate: Aggregate | None = None


@dataclass(frozen=True)
class QueryPlan:
    """One SELECT on one table: aggregates, selected rows, keys, and the part of the answer that is shown."""

    outputs: tuple[Output, ...]
    where: Condition | None = None
    keys: tuple[str, ...] = ()
    having: Condition | None = None
    order: tuple[tuple[str, bool], ...] = ()
    """Names of outputs, each with True for descending order."""
    limit: int | None = None

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates of the outputs."""
        return tuple(output.aggregate for output in self.outputs if output.aggregate is not None)


def columns_of(condition: Condition | None) -> Iterator[str]:
    """All columns that a condition is about."""
    match condition:
        case Compare(column=column) | Among(column=column) | IsMissing(column=column):
            yield column
        case Negation(condition=inner):
            yield from columns_of(inner)
        case Both(conditions=parts) | Either(conditions=parts):
            for part in parts:
                yield from columns_of(part)
