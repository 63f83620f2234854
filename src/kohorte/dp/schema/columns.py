"""What is known about a column without reading the table: its type, bounds and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from kohorte.dp.numbers import LARGEST, is_finite, is_whole
from kohorte.errors import InputError

Number: TypeAlias = int | float
Value: TypeAlias = str | int | float | bool

MOST_UNITS = 2**31
"""One row adds at most this number of steps to a sum, so that 2^31 rows fit into 64 bits."""
MOST_VALUES = 10_000
DEFAULT_PARTS = 2**20
"""A column of type float without a step is rounded to this number of parts of its range."""


class Datatype(StrEnum):
    """The types of columns that can be queried."""

    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    BOOL = "bool"


@dataclass(frozen=True)
class Column:
    """A column as the metadata describe it; bounds and values are public, and never taken from the table.

    Numbers are clamped to `min` and `max` and rounded to multiples of `step` before they are summed. `values` are the
    keys by which a query may group without spending delta; `cardinality` is their number if they are not public.
    """

    datatype: Datatype
    min: Number | None = None
    max: Number | None = None
    step: Number | None = None
    values: Sequence[Value] | None = None
    cardinality: int | None = None

    def __post_init__(self) -> None:
        name = "text" if self.datatype == "str" else self.datatype
        if name not in list(Datatype):
            raise _wrong(f"datatype is one of {', '.join(Datatype)}", field="datatype")
        object.__setattr__(self, "datatype", Datatype(name))
        self._check_bounds()
        self._check_values()
        if self.cardinality is not None and (not is_whole(self.cardinality) or self.cardinality < 1):
            raise _wrong("cardinality is a whole number of at least 1", field="cardinality")
        if self.cardinality is not None and self.values is not None and self.cardinality != len(self.values):
            raise _wrong("cardinality is not the number of values; leave it out", field="cardinality")

    def _check_bounds(self) -> None:
        given = {"min": self.min, "max": self.max, "step": self.step}
        if not self.is_number:
            if wrong := [name for name, number in given.items() if number is not None]:
                raise _wrong(f"{wrong[0]} is for columns of type int and float", field=wrong[0])
            return
        for name, number in given.items():
            if number is not None and not self._fits(number):
                raise _wrong(
                    f"{name} is a {'whole number' if self.datatype is Datatype.INT else 'finite number'}", field=name
                )
        if (self.min is None) != (self.max is None):
            raise _wrong("min and max are given together, or neither", field="min")
        if self.step is not None and self.step <= 0:
            raise _wrong("step is above 0", field="step")
        if self.min is not None and self.max is not None:
            self._check_range(self.min, self.max)

    def _check_range(self, lower: Number, upper: Number) -> None:
        if lower >= upper:
            raise _wrong("min is below max", field="min")
        if self.unit * Fraction(LARGEST) < 1:
            raise _wrong(f"step, or what follows for it from min and max, is at least {1 / LARGEST:g}", field="step")
        if max(abs(self.lowest), abs(self.highest)) > MOST_UNITS:
            raise _wrong("min and max are more than 2^31 steps away from 0; give a larger step", field="min")
        if self.lowest == self.highest:
            raise _wrong("step is larger than the range from min to max", field="step")

    def _fits(self, number: object) -> bool:
        if self.datatype is Datatype.INT:
            return is_whole(number)
        return is_finite(number)

    def _check_values(self) -> None:
        if self.values is None:
            return
        if self.datatype not in (Datatype.TEXT, Datatype.INT):
            raise _wrong("values are for columns of type text and int", field="values")
        if not _is_list(self.values) or not self.values:
            raise _wrong("values is a list with at least one value", field="values")
        right = is_whole if self.datatype is Datatype.INT else _is_text
        if not all(map(right, self.values)):
            kind = "whole numbers" if self.datatype is Datatype.INT else "text (write '1', not 1)"
            raise _wrong(f"the values of a column of type {self.datatype} are {kind}", field="values")
        if len(set(self.values)) < len(self.values) or len(self.values) > MOST_VALUES:
            raise _wrong(f"values are different from each other, and at most {MOST_VALUES:,}", field="values")
        object.__setattr__(self, "values", tuple(self.values))

    @property
    def is_number(self) -> bool:
        """Whether the column is of type int or float."""
        return self.datatype in (Datatype.INT, Datatype.FLOAT)

    @property
    def is_bounded(self) -> bool:
        """Whether sums and quantiles are possible."""
        return self.min is not None

    @cached_property
    def unit(self) -> Fraction:
        """The step to which numbers are rounded, exactly."""
        if self.step is not None:
            return Fraction(str(self.step))
        if self.datatype is Datatype.INT:
            return Fraction(1)
        largest = max(abs(Fraction(str(self.min))), abs(Fraction(str(self.max))))
        span = Fraction(str(self.max)) - Fraction(str(self.min))
        return max(span / DEFAULT_PARTS, largest / MOST_UNITS)

    @cached_property
    def lowest(self) -> int:
        """The lower bound in steps."""
        return round(Fraction(str(self.min)) / self.unit)

    @cached_property
    def highest(self) -> int:
        """The upper bound in steps."""
        return round(Fraction(str(self.max)) / self.unit)

    @cached_property
    def middle(self) -> int:
        """The middle between the bounds in steps; means and variances are computed around it."""
        return (self.lowest + self.highest) // 2

    @cached_property
    def furthest(self) -> int:
        """The largest distance of a value from the middle, in steps."""
        return max(self.highest - self.middle, self.middle - self.lowest)

    @cached_property
    def public_keys(self) -> tuple[Value, ...] | None:
        """The values by which a query may group without delta, or None if they are not public."""
        if self.values is not None:
            return tuple(self.values)
        if self.datatype is Datatype.BOOL:
            return (False, True)
        whole = self.datatype is Datatype.INT and self.is_bounded and self.unit == 1
        if whole and self.highest - self.lowest < MOST_VALUES:
            return tuple(range(self.lowest, self.highest + 1))
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the column as a metadata file writes it."""
        optional = {name: getattr(self, name) for name in ("min", "max", "step", "values", "cardinality")}
        found = {
            name: list(value) if name == "values" else value for name, value in optional.items() if value is not None
        }
        return {"datatype": str(self.datatype), **found}


def _is_list(values: object) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _wrong(message: str, *, field: str) -> InputError:
    return InputError(message, code="query-metadata", field=field)
