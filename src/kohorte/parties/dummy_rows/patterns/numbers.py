"""Numbers with intervals: intervals that all parties know are exchanged, and each number for one of the partner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kohorte.hierarchies import Bounds, Intervals
from kohorte.hierarchies.decimals import MOST_DIGITS
from kohorte.parties.dummy_rows.exchange import exchanged_labels
from kohorte.parties.dummy_rows.patterns.drawing import LONGEST, drawn, invented
from kohorte.parties.own_table import LabelledColumn, labels_of, numbered, values_of
from kohorte.parties.study import Study

MOST = 20_000
"""The most intervals of the finest level that are paired."""


@dataclass(frozen=True, eq=False)
class NumberPattern:
    """`intervals` are the labels above the numbers, without rows; `spans` first number and end of each finest one.

    A number is exchanged for the one at another place of the partner of its interval, with the same fraction. If there
    is none, or if the number is written in an unusual way (007), it gets an invented partner.
    """

    builder: Intervals
    intervals: LabelledColumn
    spans: Mapping[str, tuple[int, int]]
    shows_numbers: bool

    @property
    def longest(self) -> int:
        """The length of the longest label of an interval."""
        return self.intervals.longest

    def images(self, column: LabelledColumn, key: bytes) -> list[tuple[str | None, ...]]:
        """The labels of the partner of each value."""
        pairs = exchanged_labels(self.intervals, key)
        found = []
        for labels in labels_of(column):
            above = tuple(text if text is None else pairs.get(text, text) for text in labels)
            value, interval = labels[0], labels[min(1, len(labels) - 1)]
            if not self.shows_numbers or value is None or interval is None or value == interval:
                found.append(above)
            else:
                found.append((self._partner(value, interval, str(above[1]), key), *above[1:]))
        return found

    def _partner(self, value: str, interval: str, other: str, key: bytes) -> str:
        """The partner of a number, from its interval and the partner of that."""
        here, there = self.spans.get(interval), self.spans.get(other)
        if here is None and interval == other:  # outside the range, where no other group is
            return value
        number = _Number.read(value, self.builder)
        if here is None or there is None or number is None:
            return invented(key, value)
        places, place = min(here[1] - here[0], there[1] - there[0]), number.units - here[0]
        first, last = sorted((interval, other))
        turn = int.from_bytes(drawn(key, f"{first}\0{last}")) | 1
        text = _Number(there[0] + (turn - place) % places, number.rest, number.digits).write(self.builder)
        return text if place < places and len(text) <= LONGEST else invented(key, value)


@dataclass(frozen=True)
class _Number:
    """A number in whole units of the bounds, with the rest in units of its own last digit."""

    units: int
    rest: int
    digits: int

    @classmethod
    def read(cls, text: str, builder: Intervals) -> _Number | None:
        """The number, if it is written as `write` would write it and has at least the decimals of the bounds."""
        parts = re.fullmatch(rf"(-?[0-9]{{1,{MOST_DIGITS}}})(?:{re.escape(builder.decimal)}([0-9]+))?", text)
        if parts is None or len(parts[2] or "") < builder.decimals or len(text) > LONGEST:
            return None
        digits = len(parts[2] or "")
        units, rest = divmod(int(parts[1] + (parts[2] or "")), 10 ** (digits - builder.decimals))
        found = cls(units, rest, digits)
        return found if found.write(builder) == text else None

    def write(self, builder: Intervals) -> str:
        """The number as text, without needless zeros or signs in front."""
        whole = self.units * 10 ** (self.digits - builder.decimals) + self.rest
        text = str(abs(whole)).zfill(self.digits + 1)
        sign, cut = "-" if whole < 0 else "", len(text) - self.digits
        return f"{sign}{text[:cut]}{builder.decimal if self.digits else ''}{text[cut:]}"


def number_pattern(study: Study, name: str, builder: Intervals) -> NumberPattern | None:
    """The pattern of a column; None if there are very many intervals, or if a label could be a number itself."""
    spans = builder.spans(MOST)
    own_labels = [label for level in builder.levels or () for label in Bounds.from_option(level).labels or ()]
    if not spans or builder.label(own_labels, attribute=name).columns.height:
        return None
    hierarchy = builder.build([text for *_, text in spans], attribute=name)
    values = values_of(study, name, hierarchy)
    shows_numbers = not (study.pregeneralize and study.plan.attributes[name].minimum_level)
    of_text = dict(zip(values.examples, labels_of(values), strict=True))
    finest = {of_text[text][1]: (start, end) for start, end, text in spans if end > start and text in of_text}
    if shows_numbers:
        values = _without_numbers(values)
    return NumberPattern(builder, values, {str(label): span for label, span in finest.items()}, shows_numbers)


def _without_numbers(values: LabelledColumn) -> LabelledColumn:
    """The labels of the intervals only."""
    above = [labels[1:] for labels in labels_of(values)]
    return numbered(values.codes[:0], above, None if values.shares is None else values.shares[:, 1:])
