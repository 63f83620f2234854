"""Which cells of two tables can belong to the same person, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.risks.shown.cell_values import CellValues, Texts, distinct, letters_fit

LARGEST_MATRIX = 200_000_000


@dataclass(frozen=True, eq=False)
class Overlap:
    """The pairs of cells of two tables that can belong to the same person, in one column.

    `left[i]` matches `right[i]`. The cells of `any_left` and `any_right` match every cell: they are `*`, or the values
    that they cover are unknown.
    """

    left: Codes = field(repr=False)
    right: Codes = field(repr=False)
    any_left: Bools = field(repr=False)
    any_right: Bools = field(repr=False)

    @property
    def function(self) -> Codes | None:
        """The only matching cell on the left for every cell on the right; the number of cells if none matches.

        None if several match.
        """
        lefts, rights = len(self.any_left), len(self.any_right)
        if lefts == 1 and self.any_left[0]:
            return np.zeros(rights, dtype=np.uint32)
        if self.any_left.any() or self.any_right.any() or len(np.unique(self.right)) < len(self.right):
            return None
        found = np.full(rights, lefts, dtype=np.uint32)
        found[self.right] = self.left
        return found

    def contains(self, left: Codes, right: Codes) -> Bools:
        """Whether the cells `left[i]` and `right[i]` overlap."""
        known = self.left.astype(np.int64) * len(self.any_right) + self.right
        asked = left.astype(np.int64) * len(self.any_right) + right
        return np.asarray(np.isin(asked, known) | self.any_left[left] | self.any_right[right], dtype=bool)

    @cached_property
    def matrix(self) -> Bools:
        """A row for every cell on the left, a column for every cell on the right."""
        if len(self.any_left) * len(self.any_right) > LARGEST_MATRIX:
            raise InputError(
                "the two tables have too many different cells to be compared one by one; try a part of the rows",
                code="attack-too-large",
            )
        matrix = self.any_left[:, None] | self.any_right[None, :]
        matrix[self.left, self.right] = True
        return matrix


def overlap(
    left: Texts, right: Texts, builder: Builder | None, *, attribute: str, right_are_values: bool = False
) -> Overlap:
    """Compare the different cells of a column of two tables.

    Cells that cover a common value overlap. Labels without known values are compared by their characters:
    `**.**.1981` and `12.**.198*` overlap, since `*` can be any character. A missing value overlaps with a missing
    value and with `*`. With `right_are_values` the cells on the right are original values, even if the hierarchy
    does not contain them.
    """
    values = CellValues(distinct((*left, *right)), builder, attribute)
    if right_are_values:
        values.add(distinct(right))
    ours, theirs = [values.of(text) for text in left], [values.of(text) for text in right]
    any_left, any_right = _unclear(left, ours, only_masks=right_are_values), _unclear(right, theirs)
    pairs = _by_values(ours, theirs)
    if any(len(meaning) > 1 for meaning in theirs):  # otherwise no pair has two values in common
        pairs = pairs.unique()
    pairs = pl.concat([pairs, _by_letters(left, right, any_left, any_right).unique()])
    return Overlap(pairs["left"].to_numpy(), pairs["right"].to_numpy(), any_left, any_right)


def _unclear(texts: Texts, meanings: Sequence[Counts], *, only_masks: bool = False) -> Bools:
    """Which cells can cover anything: `*`, and labels without known values.

    With `only_masks` all relevant values are known, so a label that covers none of them and has no star matches
    nothing.
    """
    return np.array(
        [
            text is not None and (text == SUPPRESSED or (not len(meaning) and ("*" in text or not only_masks)))
            for text, meaning in zip(texts, meanings, strict=True)
        ],
        dtype=bool,
    )


def _by_values(ours: Sequence[Counts], theirs: Sequence[Counts]) -> pl.DataFrame:
    """Pairs of cells that cover a common value."""
    return _listed(ours, "left").join(_listed(theirs, "right"), on="value").select("left", "right")


def _listed(meanings: Sequence[Counts], side: str) -> pl.DataFrame:
    lengths = [len(meaning) for meaning in meanings]
    return pl.DataFrame(
        {
            side: np.repeat(np.arange(len(meanings), dtype=np.uint32), lengths),
            "value": np.concatenate([np.empty(0, dtype=np.int64), *meanings]),
        }
    )


def _by_letters(left: Texts, right: Texts, any_left: Bools, any_right: Bools) -> pl.DataFrame:
    """Compare masked labels of unknown meaning by their characters; changes `any_left` and `any_right`."""
    pairs: list[tuple[int, int]] = []
    for texts, unknown, others, turned in ((left, any_left, right, False), (right, any_right, left, True)):
        for number in np.flatnonzero(unknown).tolist():
            text = texts[number]
            if text is None or text == SUPPRESSED or "*" not in text:
                continue
            unknown[number] = False
            fitting = [other for other, shown in enumerate(others) if letters_fit(text, shown)]
            pairs += [(other, number) if turned else (number, other) for other in fitting]
    return pl.DataFrame(pairs, schema={"left": pl.UInt32, "right": pl.UInt32}, orient="row")
