"""What the cells of a recoded table say, read from their text alone, without a line of the package.

A cell shows `*`, the value, the label of a group of the hierarchy, an interval [a-b] or [a – b] of values (or of
groups, where values may not be shown), or a set {a, b} of values or groups. Quotation marks hold a value together.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

from kohorte.hierarchies import Builder, Dates, Intervals, Ordering, Tree

Text = str | None
STAR = "*"


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: its values, and by the test's own account their labels and their order.

    `labels[level][value]` are the labels between the value and `*`. `key` sorts values where cells may be intervals.
    `range` is that of the numbers, where loss is measured in it; `edges[label]` are the bounds of such groups.
    `all_values`: the hierarchy knows all of them, whatever the data.
    """

    values: tuple[str, ...]
    builder: Builder | None = None
    labels: tuple[dict[str, str], ...] = ()
    key: Callable[[str], Any] | None = None
    range: float | None = None
    edges: dict[str, tuple[float, float]] | None = None
    all_values: bool = False
    ordered: bool = True

    @property
    def top(self) -> int:
        return len(self.labels) + 1

    def level(self, number: int, value: Text) -> Text:
        if value is None:
            return STAR if number == self.top else None
        if number == 0:
            return value
        return STAR if number == self.top else self.labels[number - 1][value]

    @cached_property
    def meanings(self) -> dict[str, list[tuple[int, frozenset[Text]]]]:
        """For each label of the hierarchy: its levels, and the values that it covers there."""
        found: dict[str, list[tuple[int, frozenset[Text]]]] = {}
        for number in range(self.top):
            for label in {self.level(number, value) for value in self.values}:
                covered = frozenset(value for value in self.values if self.level(number, value) == label)
                found.setdefault(str(label), []).append((number, covered))
        return found

    def read(self, cell: Text) -> list[Cell]:
        """All that a cell can mean."""
        if cell is None:
            return [Cell(self, frozenset([None]), 0)]
        if cell.endswith(" or missing"):
            known = self.read(cell.removesuffix(" or missing"))
            return [replace(meaning, covers=meaning.covers | {None}) for meaning in known]
        if cell == STAR:
            return [Cell(self, frozenset((*self.values, None)), self.top)]
        found = [Cell(self, covered, level, label=cell) for level, covered in self.meanings.get(cell, ())]
        if cell.startswith("{") and cell.endswith("}"):
            found += self._read_set(cell[1:-1])
        if cell.startswith("[") and cell.endswith("]") and self.key is not None:
            found += self._read_interval(cell[1:-1])
        return found

    def _read_set(self, inside: str) -> list[Cell]:
        (parts,) = csv.reader([inside], skipinitialspace=True)
        known = [self.meanings.get(part) for part in parts]
        if None in known or len(parts) < 2:
            return []
        values = frozenset(value for meaning in known for value in meaning[0][1])  # type: ignore[index]
        return [Cell(self, values)]

    def _read_interval(self, inside: str) -> list[Cell]:
        found = []
        for middle in (" – ", "-"):
            for place in range(len(inside)):
                if not inside[place:].startswith(middle):
                    continue
                ends = [_unquoted(inside[:place]), _unquoted(inside[place + len(middle) :])]
                if all(end in self.meanings for end in ends):
                    found.append(self._between(*ends))
        return found

    def _between(self, low: str, high: str) -> Cell:
        assert self.key is not None
        ends = [self.meanings[low][0], self.meanings[high][0]]
        first = min(map(self.key, ends[0][1]))
        last = max(map(self.key, ends[1][1]))
        assert first < last, f"an interval from {low} to {high}"
        return Cell(self, frozenset(v for v in self.values if first <= self.key(v) <= last), ends=(low, high))


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') and text.endswith('"') and len(text) > 1 else text


@dataclass(frozen=True)
class Cell:
    """One meaning of a cell: the values that it may stand for."""

    quasi: Quasi
    covers: frozenset[Text]
    level: int | None = None
    label: str = ""
    ends: tuple[str, str] | None = None

    def height(self, least: int = 0) -> int:
        """The lowest level at which one group covers it all; a missing value stands at the lowest that may be shown."""
        if self.covers == {None}:
            return min(least, self.quasi.top)
        if self.level is not None and None not in self.covers:
            return self.level
        for number in range(self.quasi.top + 1):
            if len({self.quasi.level(number, value) for value in self.covers}) == 1:
                return number
        raise AssertionError

    def share(self, domain: Sequence[str], *, missing: bool) -> float:
        """The share of the domain that it does not tell apart; `missing`: a value may be missing, too."""
        if self.level == self.quasi.top:
            return 1.0 if missing or len(domain) > 1 or self.quasi.range else 0.0
        if self.covers == {None}:
            return 0.0
        if None in self.covers and self.level != self.quasi.top:
            return replace(self, covers=self.covers - {None}).share(domain, missing=missing)
        if self.quasi.range is not None:
            return min(1.0, self._width() / self.quasi.range)
        return max(0, len(self.covers & set(domain)) - 1) / max(1, len(domain) - 1)

    def _width(self) -> float:
        edges = self.quasi.edges or {}
        if self.level == 0:
            return 0.0
        if self.level is not None:
            return edges[self.label][1] - edges[self.label][0]
        assert self.ends is not None
        assert self.quasi.key is not None
        low, high = self.ends
        first = edges[low][0] if low in edges else self.quasi.key(low)
        last = edges[high][1] if high in edges else self.quasi.key(high)
        return float(last) - float(first)


# Some attributes, each with its hierarchy twice: as the package makes it, and as the test says it must be


def numbers(*values: str) -> Quasi:
    """Numbers without a hierarchy."""
    return Quasi(values, key=Decimal)


def whole_numbers(*values: str, width: int, times: int, lower: int, upper: int) -> Quasi:
    """Numbers in intervals of whole numbers, two levels of them."""
    labels, edges = [], {}
    for size in (width, width * times):
        own = {}
        for value in values:
            start = lower + (int(value) - lower) // size * size
            end = min(start + size, upper)
            own[value] = f"{start} to {end - 1}" if start < 0 else f"{start}-{end - 1}"
            edges[own[value]] = (float(start), float(end))
        labels.append(own)
    builder = Intervals(lower=lower, upper=upper, widths=[width, width * times], integer=True)
    return Quasi(values, builder, tuple(labels), key=int, range=float(upper - lower), edges=edges)


def decimal_commas(*values: str, lower: int, upper: int) -> Quasi:
    """Numbers with a decimal comma, in intervals of width 1."""
    labels, edges = {}, {}
    for value in values:
        start = int(Decimal(value.replace(",", ".")) // 1)
        labels[value] = f"[{start}; {start + 1})"
        edges[labels[value]] = (float(start), float(start + 1))
    builder = Intervals(lower=lower, upper=upper, widths=[1], decimal=",")
    key = _comma
    return Quasi(values, builder, (labels,), key=key, range=float(upper - lower), edges=edges)


def _comma(value: str) -> Decimal:
    return Decimal(value.replace(",", "."))


def iso_dates(*values: str) -> Quasi:
    """Dates without a hierarchy."""
    return Quasi(values, key=date.fromisoformat)


def german_dates(*values: str) -> Quasi:
    """Dates that are written 17.02.2024, by month and by year."""
    months = {value: f"{value[6:]}-{value[3:5]}" for value in values}
    years = {value: value[6:] for value in values}
    builder = Dates(format="%d.%m.%Y", levels=["month", "year"])
    return Quasi(values, builder, (months, years), key=_german)


def _german(value: str) -> tuple[int, ...]:
    return tuple(map(int, reversed(value.split("."))))


def given_order(*values: str, size: int = 2) -> Quasi:
    """Values in an order that the plan gives, in groups of neighbours; a group shows the set of its values."""
    labels = {}
    for start in range(0, len(values), size):
        group = values[start : start + size]
        text = "{" + ", ".join(_in_quotes(value) for value in group) + "}"
        labels |= dict.fromkeys(group, text)
    builder = Ordering(values=list(values), fanouts=[size], labels="set")
    return Quasi(values, builder, (labels,), all_values=True)


def _in_quotes(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if any(sign in value for sign in ',{}"') else value


def tree(branches: dict[str, dict[str, list[str]]]) -> Quasi:
    """Values in categories of categories."""
    fine = {value: below for own in branches.values() for below, values in own.items() for value in values}
    coarse = {value: above for above, own in branches.items() for values in own.values() for value in values}
    return Quasi(tuple(fine), Tree(branches), (fine, coarse), all_values=True)


def words(*values: str) -> Quasi:
    """Text without order or hierarchy."""
    return Quasi(values, ordered=len(values) <= 2)


NASTY = ("a-b", "c – d", "[e]", "{f}", "g, h", 'say "i"', "j", "k")

QUASIS: dict[str, Quasi] = {
    "number": numbers("-12", "-3", "0", "4.5", "10", "200"),
    "zip": numbers("53710", "53711", "53712", "53715", "53703"),
    "age": whole_numbers("-7", "0", "3", "18", "25", "26", "44", "59", width=5, times=4, lower=-20, upper=60),
    "comma": decimal_commas("0,5", "0,75", "1,25", "3,5", "4,999", lower=0, upper=5),
    "day": iso_dates("2019-12-31", "2020-01-01", "2020-02-29", "2021-07-01"),
    "tag": german_dates("31.12.2019", "01.01.2020", "15.01.2020", "02.03.2021", "01.04.2021"),
    "grade": given_order(*NASTY),
    "job": tree({"A": {"A1": ["x", "y"], "A2": ["z"]}, "B": {"B1": ["u", "v", "w"], "B2": ["s", "t"]}}),
    "sex": words("f", "m"),
    "colour": words("red", "green", "blue"),
}
