"""Regions and what they lack, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions

MISSING = "missing"
"""What a label says where all values are missing."""


@dataclass(frozen=True)
class RegionName:
    """The labels of a region, one for each quasi-identifier; `whole` are those of which it covers everything."""

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
    """What a cell with these places shows."""
    label = axis.label(low, high)
    return MISSING if label is None else label


def few(rows: int | None, least: int) -> str:
    """A number of rows that is not told where there are few."""
    return f"fewer than {least:,} rows" if rows is None else _counted(rows, "row")


def more(rows: int) -> str:
    """So many more rows."""
    return _counted(rows, "more row")


def with_values(values: Mapping[str, int]) -> str:
    """Which sensitive values the rows must bring along."""
    said = [f"{_counted(count, 'more value')} of {name}" for name, count in values.items()]
    return f" with {' and '.join(said)}" if said else ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
