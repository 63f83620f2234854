"""Regions and the rows that they lack, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from kohorte.in_words import count
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions

MISSING = "missing"
"""The label of a cell whose values are all missing."""


@dataclass(frozen=True)
class RegionName:
    """The labels of a region, one for each quasi-identifier; `whole` are those that it covers completely."""

    labels: Mapping[str, str]
    whole: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, axes: Sequence[Axis], regions: Regions, number: int) -> Self:
        """The name of one of these regions."""
        ends = list(zip(axes, regions.lows[number].tolist(), regions.highs[number].tolist(), strict=True))
        labels = {axis.name: label_of(axis, low, high) for axis, low, high in ends}
        return cls(labels, frozenset(axis.name for axis, low, high in ends if (low, high) == (0, axis.length)))

    def __str__(self) -> str:
        told = [f"{name} {label}" for name, label in self.labels.items() if name not in self.whole]
        return ", ".join(told) or "everywhere"


def label_of(axis: Axis, low: int, high: int) -> str:
    """The text of a cell that covers these positions."""
    label = axis.label(low, high)
    return MISSING if label is None else label


def few(rows: int | None, least: int) -> str:
    """A number of rows, without the exact count if it is small."""
    return f"fewer than {least:,} rows" if rows is None else count(rows, "row")


def more(lacking: int, unit: str) -> str:
    """A number of further rows or people."""
    return f"{lacking:,} more {'people' if unit == 'person' and lacking != 1 else unit + 's' * (lacking != 1)}"


def with_values(values: Mapping[str, int]) -> str:
    """The sensitive values that the rows must have."""
    said = [f"{count(lacking, 'more value')} of {name}" for name, lacking in values.items()]
    return f" with {' and '.join(said)}" if said else ""
