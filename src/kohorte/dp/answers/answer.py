"""Answers and estimates: noisy rows, and for each column its mechanisms and error bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from kohorte.dp.budget.budget import Budget, Cost
from kohorte.dp.noise.derived import CONFIDENCE
from kohorte.dp.schema.columns import Value

Cell: TypeAlias = Value | None


@dataclass(frozen=True)
class AnswerColumn:
    """A column of an answer; a key has no mechanism.

    `half_widths` gives for each row the half-width of the 95 % confidence interval for the noise, `rank_error` for a
    quantile the largest error in ranks. `scales` are those of the noise, in the units of `mechanisms`.
    """

    name: str
    aggregate: str | None = None
    mechanisms: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()
    half_widths: tuple[float | None, ...] = ()
    rank_error: float | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the column for programs."""
        return _plain(self)


@dataclass(frozen=True)
class QueryAnswer:
    """Noisy rows, their cost, and the remaining budget."""

    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    budget: Budget
    cost: Cost
    """The cost of this answer; 0 if it was answered from the record."""
    remaining: Cost
    from_record: bool
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What contradicts the private id, or that there is none: the noise may hide less than a person."""

    @property
    def query_result(self) -> dict[str, dict[str, Cell]]:
        """The rows in the format of PRIORI: for each column its values by row number.

        Source: Leitner, Datenschutzgerechte Forschungsschnittstelle für medizinische Daten, KIT, 2020, chapter 4.
        """
        return {
            column.name: {str(number): row[position] for number, row in enumerate(self.rows)}
            for position, column in enumerate(self.columns)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {
            "query_result": self.query_result,
            **_columns_and_costs(self),
            "from_record": self.from_record,
            "notes": list(self.notes),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


@dataclass(frozen=True)
class EstimatedColumn:
    """The expected error of a column of the answer, for groups of several sizes; no row is read."""

    name: str
    aggregate: str
    mechanisms: tuple[str, ...]
    half_width_at: tuple[tuple[int, float | None], ...]
    rank_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the column for programs."""
        widths = [{"rows": rows, "half_width": width} for rows, width in self.half_width_at]
        return _plain(self) | {"half_width_at": widths}


@dataclass(frozen=True)
class QueryEstimate:
    """The cost of a query, and the accuracy of its answer."""

    columns: tuple[EstimatedColumn, ...]
    budget: Budget
    cost: Cost
    remaining: Cost
    affordable: bool
    groups: int | None
    """The number of groups; None if their keys are not public."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate for programs."""
        return {
            **_columns_and_costs(self),
            "affordable": self.affordable,
            "groups": self.groups,
            "notes": list(self.notes),
        }


def _plain(column: AnswerColumn | EstimatedColumn) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(column).items()}


def _columns_and_costs(answer: QueryAnswer | QueryEstimate) -> dict[str, Any]:
    return {
        "columns": [column.to_dict() for column in answer.columns],
        "confidence": CONFIDENCE,
        "composition": str(answer.budget.composition),
        "cost": answer.budget.cost_to_dict(answer.cost),
        "remaining": answer.budget.cost_to_dict(answer.remaining),
    }
