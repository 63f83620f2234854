"""Intervals of numbers, as for ages and amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.hierarchies.bounds import ABOVE, BELOW, Bounds, Step
from kohorte.hierarchies.builder import Builder, Labels, placeable
from kohorte.hierarchies.decimals import (
    MOST_DIGITS,
    THOUSANDS,
    decimals_of,
    number_parts,
    number_text,
    scaled_floors,
    whole_numbers,
)
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import (
    Number,
    choice,
    exact_number,
    flag,
    listed,
    plain_number,
)
from kohorte.kernels.arrays import Floats

OUTSIDE = ("refuse", "group")


@dataclass(frozen=True)
class Intervals(Builder):
    """Half-open intervals [a, b) of growing width, or explicit bounds per level.

    `upper` is exclusive: a number that equals it is above the range. Texts that are not plain decimal numbers
    are left out, and so are numbers outside the range unless `below` or `above` is "group". The share
    of an interval is its width / (upper - lower); a group outside the range, which has no width,
    counts like the widest interval of its level.
    """

    name: ClassVar[str] = "intervals"

    lower: Number | None = None
    upper: Number | None = None
    widths: Sequence[Number] | None = None
    levels: Sequence[Bounds | Mapping[str, object]] | None = None
    below: str = "refuse"
    above: str = "refuse"
    integer: bool = False
    decimal: str = "."
    thousands: str = ""

    def __post_init__(self) -> None:
        choice(self.below, OUTSIDE, option="intervals: below")
        choice(self.above, OUTSIDE, option="intervals: above")
        choice(self.decimal, (".", ","), option="intervals: decimal")
        if self.thousands not in THOUSANDS or self.thousands == self.decimal:
            raise InputError(
                "intervals: thousands must be a point, a comma, an apostrophe or a blank, and not the decimal sign",
                code="hierarchy-option-invalid",
            )
        object.__setattr__(self, "integer", flag(self.integer, option="intervals: integer"))
        if (self.widths is None) == (self.levels is None):
            raise InputError(
                "intervals: give either widths (with lower and upper) or levels",
                code="hierarchy-option-missing",
            )
        if self.widths is not None:
            self._check_widths(self.widths)
        else:
            self._check_levels(self.levels)
        self._check_digits()

    def _check_widths(self, given: object) -> None:
        if self.lower is None or self.upper is None:
            raise InputError("intervals: widths need lower and upper", code="hierarchy-option-missing")
        lower = exact_number(self.lower, option="intervals: lower")
        upper = exact_number(self.upper, option="intervals: upper")
        option = "intervals: widths"
        widths = tuple(exact_number(width, option=option) for width in listed(given, option=option))
        for name, value in (("lower", lower), ("upper", upper), ("widths", widths)):
            object.__setattr__(self, name, value)
        if lower >= upper:
            raise InputError("intervals: lower must be below upper", code="hierarchy-option-invalid")
        if min(widths) <= 0:
            raise InputError("intervals: widths must be above 0", code="hierarchy-option-invalid")

    def _check_levels(self, given: object) -> None:
        if self.lower is not None or self.upper is not None:
            raise InputError(
                "intervals: lower and upper go with widths; levels carry their own bounds",
                code="hierarchy-option-invalid",
            )
        option = "intervals: levels"
        levels = tuple(Bounds.from_option(level) for level in listed(given, option=option))
        object.__setattr__(self, "levels", levels)
        for number, (fine, coarse) in enumerate(pairwise(levels), start=2):
            ends = (coarse.bounds[0], coarse.bounds[-1]) == (fine.bounds[0], fine.bounds[-1])
            if not ends or not set(coarse.bounds) < set(fine.bounds):
                raise InputError(
                    f"intervals: the bounds of level {number} must be some of the bounds of level "
                    f"{number - 1}, with the same first and last",
                    code="intervals-not-nested",
                )
        taken = {self._outside_text(BELOW), self._outside_text(ABOVE)}
        if any(taken & set(level.labels or ()) for level in levels):
            raise InputError(
                "intervals: levels: a label is the same as that of the values outside the range",
                code="hierarchy-option-invalid",
            )

    def _check_digits(self) -> None:
        """Refuse numbers that 64 bits cannot hold exactly, then widths that do not nest."""
        if self.integer and self._decimals:
            raise InputError(
                "intervals: with integer: true all bounds and widths must be whole numbers",
                code="hierarchy-option-invalid",
            )
        if max(abs(self._scaled(number)) for number in self._numbers) >= 10**MOST_DIGITS:
            raise InputError(
                f"intervals: bounds and widths must fit into {MOST_DIGITS} digits, decimals included",
                code="intervals-too-many-digits",
            )
        widths = [self._scaled(width) for width in self.widths or ()]
        for level, (fine, coarse) in enumerate(pairwise(widths), start=2):
            if coarse <= fine or coarse % fine:
                raise InputError(
                    f"intervals: the width of level {level} must be a multiple of the width of level "
                    f"{level - 1}; otherwise its intervals would split those below",
                    code="intervals-not-nested",
                )

    @cached_property
    def _numbers(self) -> list[int | Decimal]:
        """All bounds and widths, as `__post_init__` made them exact."""
        levels = [level for level in self.levels or () if isinstance(level, Bounds)]
        given = [bound for level in levels for bound in level.bounds]
        if self.lower is not None and self.upper is not None:
            given += [self.lower, self.upper, *(self.widths or ())]
        return [exact_number(number, option="intervals") for number in given]

    @property
    def range(self) -> float:
        """The distance between the first and the last bound."""
        edges = self._steps()[0].edges
        return float(Decimal(edges[-1] - edges[0]).scaleb(-self._decimals))

    def ends(self, values: pl.Series, level: int) -> tuple[Floats, Floats]:
        """Start and end of the interval of each value at a level, limited to the range."""
        edges = self._steps()[0].edges
        if level > len(self._steps()):
            starts, ends = np.full(len(values), edges[0]), np.full(len(values), edges[-1])
        else:
            floors = scaled_floors(self._parts(values), self._decimals).to_numpy()
            starts, ends = (np.clip(part, edges[0], edges[-1]) for part in self._steps()[level - 1].place(floors))
        scale = 10.0**self._decimals
        return starts / scale, ends / scale

    def _parts(self, values: pl.Series) -> pl.DataFrame:
        return number_parts(values, point=self.decimal, thousands=self.thousands)

    @cached_property
    def _decimals(self) -> int:
        return max(decimals_of(number) for number in self._numbers)

    def _scaled(self, number: Number) -> int:
        return int(Decimal(str(number)).scaleb(self._decimals))

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:  # noqa: ARG002 - nothing to refuse
        """Find the interval of every number; the labels do not depend on the other numbers of the data."""
        known = placeable(values)
        parts = self._parts(known)
        floors = scaled_floors(parts, self._decimals)
        inside = floors.is_not_null()
        if self.integer:
            inside &= whole_numbers(parts).fill_null(False)
        steps = self._steps()
        inside &= self._in_range(floors, int(steps[0].edges[0]), int(steps[0].edges[-1]))
        return self._place(known.filter(inside), floors.filter(inside).to_numpy(), steps)

    def _in_range(self, floors: pl.Series, lower: int, upper: int) -> pl.Series:
        fits = pl.Series([True] * len(floors), dtype=pl.Boolean)
        if self.below == "refuse":
            fits &= (floors >= lower).fill_null(False)
        if self.above == "refuse":
            fits &= (floors < upper).fill_null(False)
        return fits

    def _place(self, known: pl.Series, floors: NDArray[np.int64], steps: Sequence[Step]) -> Labels:
        columns: dict[str, pl.Series] = {"0": known}
        shares: list[Floats] = [np.zeros(len(known))]
        for level, step in enumerate(steps, start=1):
            starts, ends = step.place(floors)
            columns[str(level)] = self._texts(starts, ends, step)
            shares.append(step.shares(starts, ends))
        table = pl.DataFrame(columns)
        return Labels(table.with_columns(pl.lit(SUPPRESSED).alias("top")), shares=shares)

    def _steps(self) -> list[Step]:
        if self.lower is not None and self.upper is not None:
            ends = (self._scaled(self.lower), self._scaled(self.upper))
            return [Step(ends, width=self._scaled(width)) for width in self.widths or ()]
        return [
            Step(tuple(self._scaled(bound) for bound in level.bounds), labels=level.labels)
            for level in self.levels or ()
            if isinstance(level, Bounds)
        ]

    def _texts(self, starts: NDArray[np.int64], ends: NDArray[np.int64], step: Step) -> pl.Series:
        distinct, first, position = np.unique(starts, return_index=True, return_inverse=True)
        texts = [self._text(int(start), int(end), step) for start, end in zip(distinct, ends[first], strict=True)]
        return pl.Series(texts, dtype=pl.String).gather(position)

    def _text(self, start: int, end: int, step: Step) -> str:
        if start in (BELOW, ABOVE):
            return self._outside_text(start)
        if step.labels is not None:
            return step.labels[step.edges.index(start)]
        if not self.integer:
            return f"[{self._number(start)}{'; ' if self.decimal == ',' else ', '}{self._number(end)})"
        if end - start == 1:
            return str(start)
        return f"{start}{' to ' if start < 0 else '-'}{end - 1}"

    def _outside_text(self, side: int) -> str:
        numbers = self._numbers
        if side == BELOW:
            lower = min(numbers) if self.lower is None else exact_number(self.lower, option="lower")
            return f"<{number_text(Decimal(lower), point=self.decimal)}"
        upper = max(numbers) if self.upper is None else exact_number(self.upper, option="upper")
        return f">={number_text(Decimal(upper), point=self.decimal)}"

    def _number(self, scaled: int) -> str:
        return number_text(Decimal(scaled).scaleb(-self._decimals), point=self.decimal)

    def spans(self, most: int) -> list[tuple[int, int, str]]:
        """The intervals of the finest level: first number and end in units of 10**-`decimals`, and the first as text.

        Groups outside the range have no end: it is the same as the first number. None at all if there are more than
        `most`.
        """
        step = self._steps()[0]
        edges = step.edges if step.width is None else range(step.edges[0], step.edges[-1], step.width)
        if len(edges) > most:
            return []
        starts = edges[:-1] if step.width is None else edges
        ends = [*starts[1:], step.edges[-1]]
        found = [(start, end, self._number(start)) for start, end in zip(starts, ends, strict=True)]
        outside = [step.edges[0] - 1] if self.below == "group" else []
        outside += [step.edges[-1]] if self.above == "group" else []
        return found + [(number, number, self._number(number)) for number in outside]

    @property
    def decimals(self) -> int:
        """The most decimals of bounds and widths."""
        return self._decimals

    def meaning(self, level: int, top: int) -> str:
        """The width of the intervals of a level; bounds have no single one."""
        del top
        if self.widths is None:
            return "intervals"
        return f"intervals of {plain_number(exact_number(self.widths[level - 1], option='widths'))}"

    def to_dict(self) -> dict[str, object]:
        """The options that differ from their defaults, with numbers as YAML writes them."""
        options = dict(super().to_dict())  # type: ignore[arg-type]
        for name in ("lower", "upper"):
            if name in options:
                options[name] = plain_number(exact_number(options[name], option=name))
        if self.widths is not None:
            options["widths"] = [plain_number(exact_number(width, option="widths")) for width in self.widths]
        if self.levels is not None:
            options["levels"] = [Bounds.from_option(level).to_dict() for level in self.levels]
        return options
