"""Groups of neighbours in an order, as for stages, grades or diagnosis codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, groupby
from math import prod
from operator import mul
from typing import ClassVar

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.builder import Builder, Labels, placeable
from kohorte.hierarchies.decimals import number_parts
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED, quoted
from kohorte.hierarchies.options import choice, distinct_labels, listed, whole_number

ORDERS = ("text", "number", "given")
LABELS = ("first-last", "set")


@dataclass(frozen=True)
class Ordering(Builder):
    """Groups of `fanouts[0]` neighbouring values, then of `fanouts[1]` such groups, and so on.

    Without fanouts there are just two levels: the value and `*`.

    With `values` the order and the groups are fixed and do not depend on the data. Without them, the values
    of the data are sorted (`text`: by code point, `number`: by size, where equal numbers such as 39 and 39.0
    stay together), a label covers exactly the values of the data in its group, and a note says that it
    depends on the data. A value that contains signs of the label itself is quoted, so that the labels of
    two groups always differ.
    """

    name: ClassVar[str] = "ordering"

    by: str | None = None
    values: Sequence[str] | None = None
    fanouts: Sequence[int] = ()
    labels: str = "first-last"

    def __post_init__(self) -> None:
        choice(self.labels, LABELS, option="ordering: labels")
        option = "ordering: fanouts"
        fanouts = listed(self.fanouts, option=option) if self.fanouts != () and self.fanouts != [] else ()
        object.__setattr__(self, "fanouts", tuple(whole_number(item, option=option, least=2) for item in fanouts))
        if self.values is not None:
            object.__setattr__(self, "values", distinct_labels(self.values, option="ordering: values"))
        if self.by is not None:
            choice(self.by, ORDERS, option="ordering: by")
        self._check_order()

    def _check_order(self) -> None:
        if self.by == "given" and self.values is None:
            raise InputError("ordering: by: given needs values", code="hierarchy-option-missing")
        if self.by == "number" and self.values is not None:
            others = len(self.values) - len(_numbers(self.values))
            if others:
                raise InputError(
                    f"ordering: by: number, but {others} of the values are not plain decimal numbers",
                    code="hierarchy-option-invalid",
                )

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:  # noqa: ARG002 - nothing to refuse
        """Sort the values and group neighbours."""
        positions = self._positions(placeable(values).to_list() if self.values is None else self.values)
        columns = {"0": [value for position in positions for value in position]}
        for level, size in enumerate(accumulate(self.fanouts, mul), start=1):
            columns[str(level)] = self._level(positions, size)
        columns["top"] = [SUPPRESSED] * len(columns["0"])
        table = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        return Labels(table, notes=self._notes())

    @property
    def independent(self) -> bool:
        """Whether the plan lists the values."""
        return self.values is not None

    @property
    def needs_all_values(self) -> bool:
        """Whether the values of the data are grouped."""
        return self.values is None and bool(self.fanouts)

    def meaning(self, level: int, top: int) -> str:
        """The number of neighbours in a group."""
        del top
        return f"groups of {prod(self.fanouts[:level])} neighbours"

    def fixed(self, hierarchy: Hierarchy) -> Builder | Hierarchy:
        """The hierarchy itself if the groups were made from the data: later values are then unknown."""
        return self if self.values is not None else hierarchy

    def _positions(self, values: Sequence[str]) -> list[list[str]]:
        """The values in order; those with the same position in one list."""
        if self.by == "number":
            numbers = _numbers(values)
            ordered = sorted(numbers, key=lambda value: (numbers[value], len(value), value))
            return [list(equal) for _, equal in groupby(ordered, key=lambda value: numbers[value])]
        by_given = self.by == "given" or (self.by is None and self.values is not None)
        return [[value] for value in (values if by_given else sorted(values))]

    def _level(self, positions: list[list[str]], size: int) -> list[str]:
        column: list[str] = []
        for start in range(0, len(positions), size):
            group = positions[start : start + size]
            column += [self._text(group)] * sum(len(position) for position in group)
        return column

    def _text(self, group: list[list[str]]) -> str:
        if self.labels == "set":
            return "{" + ", ".join(quoted(value, ",{}") for position in group for value in position) + "}"
        first, last = (quoted(position[0], "–") for position in (group[0], group[-1]))
        return first if len(group) == 1 else f"{first} – {last}"

    def _notes(self) -> tuple[str, ...]:
        if self.values is not None:
            return ()
        return ("depends on the data: the groups consist of the values found there; list the values to fix them",)


def _numbers(values: Sequence[str]) -> dict[str, Decimal]:
    """The exact numbers among the values; the others are left out."""
    series = pl.Series(list(values), dtype=pl.String)
    known = series.filter(number_parts(series)["whole"].is_not_null())
    return {value: Decimal(value) for value in known.to_list()}
