"""Which conditions on a column a person can meet together, whose row shows a given cell."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.hierarchy import SUPPRESSED, Builder
from kohorte.risks.attacks.cell_values import INTERVAL, SET, CellValues, Texts, distinct, letters_fit, set_parts

Met = frozenset[int]
"""The numbers of conditions that are met; the others are not."""


class Conditions:
    """The values that a person is asked to have in a column, compared with the cells that a table shows there."""

    def __init__(self, cells: Texts, wanted: Sequence[str], builder: Builder | None, *, attribute: str) -> None:
        self.wanted = tuple(dict.fromkeys(wanted))
        self._cells = cells
        self._values = CellValues(distinct((*cells, *self.wanted)), builder, attribute)
        self.unknown = frozenset(
            text
            for text in self.wanted
            if text not in cells and "*" not in text and not len(self._values.of(text)) and builder is not None
        )
        """Those that neither the table shows nor the hierarchy knows."""
        self._values.add(self.wanted)
        meanings = [set(self._values.of(text).tolist()) for text in self.wanted]
        self._met_by = {
            value: frozenset(number for number, meaning in enumerate(meanings) if value in meaning)
            for value in set().union(*meanings)
        }

    def shown(self, text: str) -> bool:
        """Whether a row shows that value, other than by a cell that can be anything."""
        return any(cell != SUPPRESSED and self._number(text) in set().union(*self.met(cell)) for cell in self._cells)

    def met(self, cell: str | None) -> frozenset[Met]:
        """All sets of conditions such that a person of the cell can meet these and none of the others.

        A cell that is a value, or a set of values, leaves nothing open. Others may stand for values that are not at
        hand: then a person may also meet no more than what contains the whole cell.
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
        """The values that a cell stands for; a set or an interval is none itself."""
        found: list[int] = self._values.of(cell).tolist()
        others = [value for value in found if value != self._values.numbers.get(cell)]
        return others if others and (SET.match(cell) or INTERVAL.match(cell)) else found

    def _is_closed(self, cell: str) -> bool:
        """Whether all values are known that the cell stands for."""
        return all(self._values.is_one_value(part) for part in (set_parts(cell) if SET.match(cell) else [cell]))

    def _within(self, cell: str, text: str) -> bool:
        """Whether whoever is in the cell certainly has what the text says."""
        if cell == text:
            return True
        if INTERVAL.match(cell) and INTERVAL.match(text):
            inner = self._values_in(cell)
            return bool(inner) and set(inner) <= set(self._values_in(text))
        return len(cell) == len(text) and all(b in ("*", a) for a, b in zip(cell, text, strict=True))
