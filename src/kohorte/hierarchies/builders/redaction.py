"""Masking characters one by one, as for postal codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.hierarchies.builder import Builder, Labels, placeable
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import character, choice, whole_number

ORDERS = ("right_to_left", "left_to_right")
MOST_LEVELS = 100


@dataclass(frozen=True)
class Redaction(Builder):
    """81667, 8166*, 816**, ...: level n masks n characters, the top level is `*`.

    Shorter values are padded on the side where masking starts, so that level n keeps the same character
    positions in all values; level 0 shows the value unpadded. Without `length` the longest value of the data
    determines the number of levels, and a note says so. Values longer than `length` are left out.
    """

    name: ClassVar[str] = "redaction"

    order: str = "right_to_left"
    mask: str = "*"
    padding: str | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        choice(self.order, ORDERS, option="redaction: order")
        character(self.mask, option="redaction: mask")
        if self.padding is not None:
            character(self.padding, option="redaction: padding")
        if self.length is not None:
            length = whole_number(self.length, option="redaction: length", least=1)
            object.__setattr__(self, "length", length)
            if length > MOST_LEVELS:
                raise InputError(f"redaction: length must be at most {MOST_LEVELS}", code="hierarchy-option-invalid")

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """Mask one more character per level."""
        known = placeable(values)
        lengths = known.str.len_chars().to_numpy()
        length = self.length or self._longest(lengths, attribute=attribute)
        known = known.filter(lengths <= length)
        masked = [self._masked(level, length).alias(str(level)) for level in range(1, length)]
        columns = known.to_frame().with_columns(*masked, pl.lit(SUPPRESSED).alias(str(length)))
        return Labels(columns, notes=self._notes(length))

    @property
    def needs_all_values(self) -> bool:
        """Whether the longest value decides how many levels there are."""
        return self.length is None

    def meaning(self, level: int, top: int) -> str:
        """The characters that a level leaves."""
        left = top - level
        if self.order == "right_to_left":
            return "first character" if left == 1 else f"first {left} characters"
        return "last character" if left == 1 else f"last {left} characters"

    def fixed(self, hierarchy: Hierarchy) -> Builder:
        """The same builder, with `length` set to the longest value of the hierarchy."""
        return replace(self, length=hierarchy.top)

    @staticmethod
    def _longest(lengths: NDArray[np.integer[Any]], *, attribute: str) -> int:
        longest = int(lengths.max(initial=1))
        if longest > MOST_LEVELS:
            raise InputError(
                f"{attribute}: redaction: the longest value has {longest} characters, one level for each; "
                f"set length to at most {MOST_LEVELS} (longer values are then unknown)",
                code="redaction-too-long",
            )
        return longest

    def _masked(self, level: int, length: int) -> pl.Expr:
        padding, mask, kept = self.padding or " ", self.mask * level, length - level
        if self.order == "right_to_left":
            return pl.concat_str(pl.col("0").str.pad_end(length, padding).str.slice(0, kept), pl.lit(mask))
        return pl.concat_str(pl.lit(mask), pl.col("0").str.pad_start(length, padding).str.slice(level))

    def _notes(self, length: int) -> tuple[str, ...]:
        if self.length is not None:
            return ()
        return (f"depends on the data: the longest value has {length} characters; set length to fix the levels",)
