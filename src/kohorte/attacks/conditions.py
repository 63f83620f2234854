"""The conditions on a column that a person can meet if their row shows a given cell."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.risks.shown.cell_values import INTERVAL, SET, CellValues, Texts, distinct, letters_fit, set_parts

Met = frozenset[int]
"""The numbers of conditions that are met; the others are not."""


class Conditions:
    """The values that conditions require in a column, compared with the cells of a table."""

    def __init__(self, cells: Texts, wanted: Sequence[str], builder: Builder | None, *, attribute: str) -> None:
        self.wanted = tuple(dict.fromkeys(wanted))
        self._cells = cells
        self._values = CellValues(distinct((*cells, *self.wanted)), builder, attribute)
        self.unknown = frozenset(
            text
            for text in self.wanted
            if text not in cells and "*" not in text and not len(self._values.of(text)) and builder is not None
        )
        """Values that occur neither in the table nor in the hierarchy."""
        self._values.add(self.wanted)
        meanings = [set(self._values.of(text).tolist()) for text in self.wanted]
        self._met_by = {
            value: frozenset(number for number, meaning in enumerate(meanings) if value in meaning)
            for value in set().union(*meanings)
        }

    def shown(self, text: str) -> bool:
        """Whether a row can have that value, apart from rows with `*`."""
        return any(cell != SUPPRESSED and self._number(text) in set().union(*self.met(cell)) for cell in self._cells)

    def met(self, cell: str | None) -> frozenset[Met]:
        """All sets of conditions such that a person with this cell can meet exactly these.

        The values of a cell that is a value, or a set of values, are known. Other cells may cover values that are not
        known: then a person may also meet only the conditions that contain the whole cell.
        """
        if cell is None:
            return frozenset({frozenset()})
        if cell == SUPPRESSED:
            return frozenset({frozenset(), *self._met_by.values()})
        meaning = self._values_in(cell)
        found = {self._met_by.get(value, frozenset()) for value in meaning}
        if not meaning and "*" in cell:
            found |= {self._met_by[self._values.numbers[text]] for text in self.wanted if letters_fit(cell, text)}
        if not self._is_closed(cell):
            found.add(frozenset(number for number, text in enumerate(self.wanted) if self._within(cell, text)))
        return frozenset(found)

    def _number(self, text: str) -> int:
        return self.wanted.index(text)

    def _values_in(self, cell: str) -> list[int]:
        """The values that a cell covers; a set or an interval is not itself a value."""
        found: list[int] = self._values.of(cell).tolist()
        others = [value for value in found if value != self._values.numbers.get(cell)]
        return others if others and (SET.match(cell) or INTERVAL.match(cell)) else found

    def _is_closed(self, cell: str) -> bool:
        """Whether all values that the cell covers are known."""
        return all(self._values.is_one_value(part) for part in (set_parts(cell) if SET.match(cell) else [cell]))

    def _within(self, cell: str, text: str) -> bool:
        """Whether every person with this cell certainly meets the condition."""
        if cell == text:
            return True
        if INTERVAL.match(cell) and INTERVAL.match(text):
            inner = self._values_in(cell)
            return bool(inner) and set(inner) <= set(self._values_in(text))
        return len(cell) == len(text) and all(b in ("*", a) for a, b in zip(cell, text, strict=True))
