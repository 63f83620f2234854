"""An exchange of labels for columns whose values nobody lists, but whose values follow a pattern.

If rows are divided, all parties must exchange the same labels without telling each other their values. Postal codes,
numbers and dates can be exchanged by how they are written: every party computes the partner of each of its values
with the key of the run. A pattern is its own inverse, and it keeps the hierarchy: values with the same label have
partners with the same label.
"""

from __future__ import annotations

from typing import Protocol

from kohorte.hierarchies import Dates, Intervals, Redaction
from kohorte.parties.dummy_rows.patterns.calendar import CalendarPattern
from kohorte.parties.dummy_rows.patterns.characters import CharacterPattern
from kohorte.parties.dummy_rows.patterns.numbers import number_pattern
from kohorte.parties.own_table import LabelledColumn, counted_builder
from kohorte.parties.study import Study

Labels = tuple[str | None, ...]


class Pattern(Protocol):
    """Computes partners of values from how they are written."""

    @property
    def longest(self) -> int:
        """The length of the longest label of a partner, if it can be longer than those of the table."""

    def images(self, column: LabelledColumn, key: bytes) -> list[Labels]:
        """The labels of the partner of each value of a column."""


def pattern_of(study: Study, name: str) -> Pattern | None:
    """The pattern of a column; None if its values follow none that all parties know."""
    builder = counted_builder(study, name)
    if isinstance(builder, Redaction):
        return CharacterPattern(builder)
    if isinstance(builder, Intervals):
        return number_pattern(study, name, builder)
    if isinstance(builder, Dates) and CalendarPattern.fits(builder):
        return CalendarPattern(builder)
    return None
