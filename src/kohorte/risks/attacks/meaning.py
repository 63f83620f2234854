"""What the cells of a column stand for, so that cells of two tables can be compared: raw, generalized or recoded."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchy import SUPPRESSED, Builder
from kohorte.hierarchy.order import sort_keys
from kohorte.kernels.arrays import Bools, Codes

Texts = tuple[str | None, ...]
INTERVAL = re.compile(r"^\[(.+)\]$")
SET = re.compile(r"^\{(.+)\}$")
OR_MISSING = " or missing"
MISSING = -1
"""The number of the value that a missing cell stands for."""
LARGEST_MATRIX = 200_000_000


@dataclass(frozen=True, eq=False)
class Overlap:
    """Which cells of one table can belong to the same person as which cells of another, in one column.

    Pairs of cells: `left[i]` goes with `right[i]`. Besides, those of `any_left` and `any_right` go with every cell:
    they are `*`, or it is not known what they stand for.
    """

    left: Codes = field(repr=False)
    right: Codes = field(repr=False)
    any_left: Bools = field(repr=False)
    any_right: Bools = field(repr=False)

    @property
    def function(self) -> Codes | None:
        """For every cell on the right the only one on the left that goes with it (or one too many: none does).

        None where several go with one.
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

    A cell stands for the value itself, for all values that have it as a label in the hierarchy, for those of an
    interval [a-b], or for those of a set {a, b}; `or missing` adds a missing value. Cells that stand for a common value
    overlap. Of a label that no value at hand belongs to nothing is known but its letters: `**.**.1981` and `12.**.198*`
    overlap, since `*` can be any. A missing value overlaps with a missing value and with `*`. `right_are_values`: those
    on the right stand for themselves, also where the hierarchy does not know them.
    """
    values = _Values(_distinct((*left, *right)), builder, attribute)
    if right_are_values:
        values.add(_distinct(right))
    ours, theirs = [values.of(text) for text in left], [values.of(text) for text in right]
    any_left, any_right = _unclear(left, ours, only_masks=right_are_values), _unclear(right, theirs)
    pairs = _by_values(ours, theirs) | _by_letters(left, right, any_left, any_right)
    ordered = np.array(sorted(pairs), dtype=np.uint32).reshape(-1, 2)
    return Overlap(ordered[:, 0], ordered[:, 1], any_left, any_right)


def _unclear(texts: Texts, meanings: Sequence[set[int]], *, only_masks: bool = False) -> Bools:
    """Which cells can stand for anything: `*`, and labels of which no value is known.

    `only_masks`: all values are known that matter, so that a label without one of them and without a star stands for
    none of them.
    """
    return np.array(
        [
            text is not None and (text == SUPPRESSED or (not meaning and ("*" in text or not only_masks)))
            for text, meaning in zip(texts, meanings, strict=True)
        ],
        dtype=bool,
    )


def _by_values(ours: Sequence[set[int]], theirs: Sequence[set[int]]) -> set[tuple[int, int]]:
    """Cells that stand for a common value."""
    places: dict[int, list[int]] = {}
    for number, meaning in enumerate(ours):
        for value in meaning:
            places.setdefault(value, []).append(number)
    return {
        (other, number) for number, meaning in enumerate(theirs) for value in meaning for other in places.get(value, ())
    }


def _distinct(texts: Texts) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text is not None and text != SUPPRESSED))


def _by_letters(left: Texts, right: Texts, any_left: Bools, any_right: Bools) -> set[tuple[int, int]]:
    """Settle labels of unknown meaning by their letters where they have masks; changes `any_left` and `any_right`."""
    pairs: set[tuple[int, int]] = set()
    for texts, unknown, others, turned in ((left, any_left, right, False), (right, any_right, left, True)):
        for number in np.flatnonzero(unknown).tolist():
            text = texts[number]
            if text is None or text == SUPPRESSED or "*" not in text:
                continue
            unknown[number] = False
            fitting = [other for other, shown in enumerate(others) if _fit(text, shown)]
            pairs |= {(other, number) if turned else (number, other) for other in fitting}
    return pairs


def _fit(one: str, other: str | None) -> bool:
    if other is None or other == SUPPRESSED:
        return other == SUPPRESSED
    return len(one) == len(other) and all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))


class _Values:
    """The values of a column that are known from both tables, and which of them a cell stands for."""

    def __init__(self, texts: Iterable[str], builder: Builder | None, attribute: str) -> None:
        texts = list(texts)
        ends = [part for text in texts for part in _parts(text)]
        wanted = list(dict.fromkeys([*texts, *ends]))
        if builder is None:  # the value or *: what has some stars within was made otherwise
            table = pl.DataFrame({"0": [text for text in wanted if "*" not in text]}, schema={"0": pl.String})
        else:
            table = builder.label(wanted, attribute=attribute).columns
        self._numbers: dict[str, int] = {value: number for number, value in enumerate(table.to_series(0).to_list())}
        self._labelled: dict[str, set[int]] = {}
        shown = set(wanted)
        for column in table.get_columns()[1:]:
            for number, label in enumerate(column.to_list()):
                if label in shown:
                    self._labelled.setdefault(label, set()).add(number)
        self._builder = builder

    def add(self, texts: Iterable[str]) -> None:
        """Take texts for values, also if the hierarchy does not know them."""
        for text in texts:
            self._numbers.setdefault(text, len(self._numbers))

    def of(self, text: str | None) -> set[int]:
        """The numbers of the values that a cell stands for; none where that is not known, or it stands for all."""
        if text is None:
            return {MISSING}
        if text == SUPPRESSED:
            return set()
        if text.endswith(OR_MISSING):
            known = self.of(text.removesuffix(OR_MISSING))
            return known | {MISSING} if known else set()
        found = set(self._labelled.get(text, ()))
        if text in self._numbers:
            found.add(self._numbers[text])
        if SET.match(text):
            found |= {number for part in _set_parts(text) for number in self.of(part)}
        if INTERVAL.match(text):
            found |= self._between(text)
        return found

    @cached_property
    def _places(self) -> dict[str, Any]:
        """The values in their order, where they have one."""
        plain = pl.Series([value for value in self._numbers if value and value[0] not in "[{" and "*" not in value])
        keys = sort_keys(plain, self._builder) if len(plain) else None
        return {} if keys is None else dict(zip(plain.to_list(), keys, strict=True))

    def _between(self, text: str) -> set[int]:
        for low, high in _ends(text):
            if low in self._places and high in self._places:
                least, most = self._places[low], self._places[high]
                return {self._numbers[value] for value, place in self._places.items() if least <= place <= most}
        return set()


def _parts(text: str) -> list[str]:
    """What an interval or a set is written with."""
    if text.endswith(OR_MISSING):
        text = text.removesuffix(OR_MISSING)
        return [text, *_parts(text)]
    if SET.match(text):
        return _set_parts(text)
    return [end for ends in _ends(text) for end in ends]


def _set_parts(text: str) -> list[str]:
    inside = SET.match(text)
    return next(csv.reader([inside[1]], skipinitialspace=True), []) if inside else []


def _ends(text: str) -> Iterator[tuple[str, str]]:
    """The ends of an interval, as recodings write it: with a dash where that is clear, otherwise with a longer one."""
    inside = INTERVAL.match(text)
    if inside is None:
        return
    for dash in (" – ", "-"):
        if inside[1].count(dash) == 1:
            low, _, high = inside[1].partition(dash)
            yield low.strip('"'), high.strip('"')
            return
