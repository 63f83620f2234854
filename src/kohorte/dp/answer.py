"""Answers and estimates: rows with noise, and for each column how it came about and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from kohorte.dp.budget import Budget, Cost
from kohorte.dp.columns import Value
from kohorte.dp.derived import CONFIDENCE

Cell: TypeAlias = Value | None


@dataclass(frozen=True)
class AnswerColumn:
    """A column of an answer; a key has no mechanism.

    `half_widths` says for each row how far the noise may have moved the value with 95 % confidence, `rank_error` for
    a quantile how many ranks it may be off. `scales` are those of the noise, in the units of `mechanisms`.
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
        return {
            "name": self.name,
            "aggregate": self.aggregate,
            "mechanisms": list(self.mechanisms),
            "scales": list(self.scales),
            "half_widths": list(self.half_widths),
            "rank_error": self.rank_error,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class QueryAnswer:
    """Noisy rows, what they cost, and what is left."""

    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    budget: Budget
    cost: Cost
    """What this answer cost; nothing where it was answered from the record."""
    remaining: Cost
    from_record: bool
    notes: tuple[str, ...] = ()

    @property
    def query_result(self) -> dict[str, dict[str, Cell]]:
        """The rows as PRIORI gives them: for each column its values by the number of the row."""
        return {
            column.name: {str(number): row[place] for number, row in enumerate(self.rows)}
            for place, column in enumerate(self.columns)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for programs."""
        return {
            "query_result": self.query_result,
            "columns": [column.to_dict() for column in self.columns],
            "confidence": CONFIDENCE,
            "composition": str(self.budget.composition),
            "cost": self.budget.cost_to_dict(self.cost),
            "remaining": self.budget.cost_to_dict(self.remaining),
            "from_record": self.from_record,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class EstimatedColumn:
    """How far a column of the answer would be off, for groups of several sizes; no row was looked at."""

    name: str
    aggregate: str
    mechanisms: tuple[str, ...]
    half_width_at: tuple[tuple[int, float | None], ...]
    rank_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the column for programs."""
        return {
            "name": self.name,
            "aggregate": self.aggregate,
            "mechanisms": list(self.mechanisms),
            "half_width_at": [{"rows": rows, "half_width": width} for rows, width in self.half_width_at],
            "rank_error": self.rank_error,
        }


@dataclass(frozen=True)
class QueryEstimate:
    """What a query would cost, and how exact its answer would be."""

    columns: tuple[EstimatedColumn, ...]
    budget: Budget
    cost: Cost
    remaining: Cost
    affordable: bool
    groups: int | None
    """How many groups there are; None where their keys are not public."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate for programs."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "confidence": CONFIDENCE,
            "composition": str(self.budget.composition),
            "cost": self.budget.cost_to_dict(self.cost),
            "remaining": self.budget.cost_to_dict(self.remaining),
            "affordable": self.affordable,
            "groups": self.groups,
            "notes": list(self.notes),
        }
