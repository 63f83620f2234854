"""Cells that show the set of values that occur in a class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kohorte.errors import InternalError
from kohorte.hierarchies import SUPPRESSED
from kohorte.hierarchies.labels import set_label
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.recoding.cells import Cells
from kohorte.recoding.line import OR_MISSING, Line


@dataclass(frozen=True, eq=False)
class SetCells(Cells):
    """Cells of sets: `covered` lists the positions of each kind, as kind times length of the line plus position."""

    covered: Counts = field(kw_only=True, repr=False)

    @classmethod
    def of_groups(cls, line: Line, positions: Codes, group_of: Codes, which: Codes) -> SetCells:
        """Cells that show the values of their group: row `i` of the groups is at `positions[i]`.

        Row `r` of the table shows the cell of group `which[r]`.
        """
        pairs = np.unique(group_of.astype(np.int64) * line.length + positions)
        groups, members = pairs // line.length, pairs % line.length
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        names, kinds = line.names(), dict[str | None, int]()
        kind_of, covered, seen = np.empty(len(starts), dtype=np.uint32), [], set[tuple[int, ...]]()
        for group, own in enumerate(np.split(members, starts[1:])):
            label = _label([names[position] for position in own.tolist()])
            kind = kinds.setdefault(label, len(kinds))
            kind_of[group] = kind
            if (found := tuple(own.tolist())) not in seen:
                seen.add(found)
                covered.append(kind * line.length + own)
        keys = np.unique(np.concatenate(covered))
        cells = cls._of_kinds(line, kind_of[which], tuple(kinds), keys)
        several = bool((np.diff(np.append(starts, len(members))) > 1).any())
        return replace(cells, lists_values=several, ambiguous=len(seen) > len(kinds))

    @classmethod
    def _of_kinds(cls, line: Line, kinds: Codes, labels: tuple[str | None, ...], covered: Counts) -> SetCells:
        of, positions = covered // line.length, covered % line.length
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        lasts = np.append(starts[1:], len(of)) - 1
        lows, highs = positions[starts].astype(np.uint32), positions[lasts].astype(np.uint32)
        last = max(1, len(line.column.hierarchy.values) - 1)
        leaves = np.add.reduceat(line.leaves[positions], starts)
        shares = np.clip((leaves - 1) / last, 0.0, 1.0)
        heights = line.heights(lows, highs)
        return cls(line, kinds, lows, highs, labels, shares, heights, covered=covered)

    def refuse_untrue(self, rows: Bools) -> None:
        """Raise an error if a cell does not list the value of its row; that would be a bug."""
        kinds = self.kinds[rows].astype(np.int64)
        keys = kinds * self.line.length + self.line.positions[self.line.column.codes[rows]]
        starred = np.array([label == SUPPRESSED for label in self.labels], dtype=bool)
        if not (np.isin(keys, self.covered) | starred[kinds]).all():
            raise InternalError(
                f"column {self.line.column.name!r}: a cell does not list the value it stands for; please report this",
                code="recoding-untrue",
            )


def _label(names: list[str | None]) -> str | None:
    """How a set is written: the value itself, or {a, b}; `or missing` if a value is missing."""
    known = [name for name in names if name is not None]
    if not known:
        return None
    text = known[0] if len(known) == 1 else set_label(known)
    return text + OR_MISSING if None in names else text
