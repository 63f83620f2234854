"""The values that the cells of a column cover: raw, generalized or recoded."""

from __future__ import annotations

import csv
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.hierarchies.order import sort_keys
from kohorte.kernels.arrays import Counts

Texts = tuple[str | None, ...]
INTERVAL = re.compile(r"^\[(.+)\]$")
SET = re.compile(r"^\{(.+)\}$", re.DOTALL)
OR_MISSING = " or missing"
MISSING = -1
"""The number of the missing value."""


class CellValues:
    """The values of a column, numbered as known from cells and hierarchy, and the values that a cell covers.

    A cell covers the value itself, all values that have it as a label in the hierarchy, those of an interval [a-b],
    or those of a set {a, b}; `or missing` adds a missing value.
    """

    def __init__(self, texts: Iterable[str], builder: Builder | None, attribute: str) -> None:
        texts = list(texts)
        ends = [part for text in texts for part in _parts(text)]
        wanted = list(dict.fromkeys([*texts, *ends]))
        if builder is None:  # the value or *: a text with stars inside is a masked label, not a value
            table = pl.DataFrame({"0": [text for text in wanted if "*" not in text]}, schema={"0": pl.String})
        else:
            table = builder.label(wanted, attribute=attribute).columns
        self.numbers: dict[str, int] = {value: number for number, value in enumerate(table.to_series(0).to_list())}
        self._levels: list[dict[str, list[int]]] = []
        shown = set(wanted)
        for column in table.get_columns()[1:]:
            labels: dict[str, list[int]] = {}
            for number, label in enumerate(column.to_list()):
                if label in shown:
                    labels.setdefault(label, []).append(number)
            self._levels.append(labels)
        self._builder = builder

    def add(self, texts: Iterable[str]) -> None:
        """Add texts as values, also if the hierarchy does not contain them."""
        for text in texts:
            self.numbers.setdefault(text, len(self.numbers))

    def of(self, text: str | None) -> Counts:
        """The numbers of the values that a cell covers; empty if they are unknown or if it covers all."""
        if text is None:
            return _numbers([MISSING])
        if text == SUPPRESSED:
            return _numbers([])
        if text.endswith(OR_MISSING):
            known = self.of(text.removesuffix(OR_MISSING))
            return np.append(known, MISSING) if len(known) else known
        found = self._shown_as(text)
        if SET.match(text):
            found = _all_of([found, *map(self._member, set_parts(text))])
        if INTERVAL.match(text):
            found = _all_of([found, self._between(text)])
        return found

    def _member(self, text: str) -> Counts:
        """The values of a member of a set: a value or a label, whatever signs it contains."""
        found = self._shown_as(text)
        return found if len(found) else self.of(text)

    def is_one_value(self, text: str) -> bool:
        """Whether a cell is a single value and not a label."""
        if text not in self.numbers or "*" in text or SET.match(text) or INTERVAL.match(text):
            return False
        return len(self._shown_as(text)) == 1

    def means_two_things(self, text: str | None) -> bool:
        """Whether a label means different values at different levels of the hierarchy."""
        if text is None:
            return False
        levels = [labels.get(text, []) for labels in self._levels]
        if text in self.numbers:
            levels.append([self.numbers[text]])
        meanings = {tuple(number for number in level if number not in self._masks) for level in levels}
        return len(meanings - {()}) > 1

    @cached_property
    def _masks(self) -> set[int]:
        """Texts with stars are cells of a release, even if a hierarchy treats them as values."""
        return {number for text, number in self.numbers.items() if "*" in text}

    def _shown_as(self, text: str) -> Counts:
        """The values that are this text, or have it as a label."""
        own = [self.numbers[text]] if text in self.numbers else []
        return np.unique(_numbers([*own, *(number for labels in self._levels for number in labels.get(text, ()))]))

    @cached_property
    def _line(self) -> tuple[list[Any], Counts, dict[str, Any]]:
        """The values in order, if they have one: positions, numbers, and the position of each value."""
        plain = pl.Series([value for value in self.numbers if value and value[0] not in "[{" and "*" not in value])
        positions = sort_keys(plain, self._builder) if len(plain) else None
        if positions is None:
            return [], _numbers([]), {}
        by_value = dict(zip(plain.to_list(), positions, strict=True))
        ordered = sorted(by_value, key=by_value.__getitem__)
        return [by_value[value] for value in ordered], _numbers([self.numbers[value] for value in ordered]), by_value

    def _between(self, text: str) -> Counts:
        positions, numbers, by_value = self._line
        for low, high in _ends(text):
            if low in by_value and high in by_value:
                return numbers[bisect_left(positions, by_value[low]) : bisect_right(positions, by_value[high])]
        return _numbers([])


def _numbers(given: list[int]) -> Counts:
    return np.array(given, dtype=np.int64)


def _all_of(parts: list[Counts]) -> Counts:
    """All numbers of the parts, each once; each part has no number twice."""
    filled = [part for part in parts if len(part)]
    return filled[0] if len(filled) == 1 else np.unique(np.concatenate([_numbers([]), *filled]))


def distinct(texts: Texts) -> list[str]:
    """The different texts, without missing ones and `*`."""
    return list(dict.fromkeys(text for text in texts if text is not None and text != SUPPRESSED))


def letters_fit(one: str, other: str | None) -> bool:
    """Whether two texts can be the same if `*` can be any character."""
    if other is None or other == SUPPRESSED:
        return other == SUPPRESSED
    return len(one) == len(other) and all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))


def _parts(text: str) -> list[str]:
    """The texts from which an interval or a set is composed."""
    if text.endswith(OR_MISSING):
        text = text.removesuffix(OR_MISSING)
        return [text, *_parts(text)]
    if SET.match(text):
        return set_parts(text)
    return [end for ends in _ends(text) for end in ends]


def set_parts(text: str) -> list[str]:
    """The members of a set {a, b}."""
    inside = SET.match(text)
    return next(csv.reader([inside[1]], skipinitialspace=True), []) if inside else []


def _ends(text: str) -> Iterator[tuple[str, str]]:
    """The ends of an interval as recoders write it: with a hyphen if that is unambiguous, otherwise with an en dash."""
    inside = INTERVAL.match(text)
    if inside is None:
        return
    for dash in (" – ", "-"):
        if inside[1].count(dash) == 1:
            low, _, high = inside[1].partition(dash)
            yield low.strip('"'), high.strip('"')
            return
