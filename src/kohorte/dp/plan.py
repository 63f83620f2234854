"""A question, taken apart: only what stands here can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from kohorte.dp.columns import Value

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
    """What a condition is not."""

    condition: Condition


@dataclass(frozen=True)
class Both:
    """Several conditions at once; their order means nothing, so that it is a fixed one."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(sorted(self.conditions, key=repr)))


@dataclass(frozen=True)
class Either:
    """At least one of several conditions; their order means nothing, so that it is a fixed one."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(sorted(self.conditions, key=repr)))


Condition: TypeAlias = Compare | Among | IsMissing | Negation | Both | Either


class Function(StrEnum):
    """The aggregates that can be asked for."""

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
"""The least and the greatest value belong to one person, so that no private answer can be near them: MIN and MAX are
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
    """One SELECT on one table: what is measured, of which rows, by which keys, and what of the answer is shown."""

    outputs: tuple[Output, ...]
    where: Condition | None = None
    keys: tuple[str, ...] = ()
    having: Condition | None = None
    order: tuple[tuple[str, bool], ...] = ()
    """Names of outputs, each with whether the greatest comes first."""
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
