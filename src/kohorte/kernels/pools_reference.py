"""A few groups of rows, grouped again so that they cost less, in plain Python; `least_loss_reference` uses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from kohorte.kernels.arrays import Codes, Counts

SPAN, SET, TREE, MIX = range(4)
"""The kinds of cells: an interval, the values that occur, a group of a hierarchy; or only how mixed a group is."""
PASSES = 6
OUT = -1
AxisArrays: TypeAlias = tuple[int, int, Counts, Counts, Codes, Counts]
"""Kind, position of missing values (the length if none), costs of positions, groups and their costs by level."""
MarkArrays: TypeAlias = Sequence[tuple[Codes, int]]
Lists: TypeAlias = list[list[int]]


class Random:
    """Numbers that look random and are the same on every machine: SplitMix64."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> int:
        """The next number of 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return mixed ^ (mixed >> 31)

    def below(self, end: int) -> int:
        """A number from 0 to `end` - 1."""
        return self.next() % end


class Grouped:
    """The rows of a table, what a group of them costs, and what it must have."""

    def __init__(
        self,
        places: Codes,
        axes: Sequence[AxisArrays],
        least: int,
        marks: MarkArrays,
        fixed: Codes,
        left_out: int,
    ) -> None:
        if not axes or places.shape[1] != len(axes) or least < 1:
            raise ValueError("places, attributes and needs do not fit together")
        for kind, missing, first, second, groups, costs in axes:
            tree, length = kind == TREE, len(first)
            if kind > MIX or not length or missing > length or (kind != MIX and len(second) != length):
                raise ValueError("an attribute without positions or with wrong costs")
            if groups.shape != costs.shape or tree != bool(len(groups)) or (tree and groups.shape[1] != length):
                raise ValueError("levels without costs, or of another length")
            if tree and len(np.unique(groups[-1])) > 1:
                raise ValueError("no level covers everything")
            if kind == MIX and len(second) <= len(places):
                raise ValueError("too few costs of a mix")
        if any((places[:, axis] >= len(arrays[2])).any() for axis, arrays in enumerate(axes)):
            raise ValueError("a place beyond its line")
        if any(len(mark) != len(places) for mark, _ in marks) or len(fixed) not in (0, len(places)):
            raise ValueError("not one mark for each row")
        self.places: list[list[int]] = places.tolist()
        self.kinds = [axis[0] for axis in axes]
        self._missing = [axis[1] for axis in axes]
        self._lists: list[tuple[Any, ...]] = [tuple(part.tolist() for part in axis[2:]) for axis in axes]
        self.least = least
        self.needs = [need for _, need in marks]
        self.marks: list[list[int]] = [mark.tolist() for mark, _ in marks]
        self.fixed: list[int] = fixed.tolist()
        self.left_out = left_out

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.places)

    def cost(self, rows: Sequence[int]) -> int:
        """What a group costs."""
        mixed = 0
        for axis, kind in enumerate(self.kinds):
            if kind == MIX:
                second = self._lists[axis][1]
                counts = Counter(self.places[row][axis] for row in rows)
                mixed += second[len(rows)] - sum(second[count] for count in counts.values())
        return len(rows) * self._each(rows) + mixed

    def cells(self, rows: Sequence[int]) -> int:
        """What the cells of a group cost one row; a mix counts as the number of different positions."""
        mixes = (axis for axis, kind in enumerate(self.kinds) if kind == MIX)
        different = (self._lists[axis][1][2] * len({self.places[row][axis] for row in rows}) for axis in mixes)
        return self._each(rows) + int(sum(different))

    def _each(self, rows: Sequence[int]) -> int:
        total = 0
        for axis, kind in enumerate(self.kinds):
            known = {self.places[row][axis] for row in rows} - {self._missing[axis]}
            if kind == MIX or not known:
                continue
            first, second, groups, costs = self._lists[axis]
            low, high = min(known), max(known)
            if kind == SPAN:
                total += second[high] - first[low]
            elif kind == SET:
                total += max(0, sum(second[place] for place in known) - first[0])
            else:
                level = next(level for level, group in enumerate(groups) if group[low] == group[high])
                total += costs[level][low]
        return total

    def lacks(self, rows: Sequence[int]) -> list[int]:
        """How many different marks a group lacks, by kind of mark."""
        return [need - len({mark[row] for row in rows}) for need, mark in zip(self.needs, self.marks, strict=True)]

    def enough(self, rows: Sequence[int]) -> bool:
        """Whether a group has all that it must have."""
        return len(rows) >= self.least and all(lack <= 0 for lack in self.lacks(rows))


class Pool:
    """Groups the rows of some groups again: from scratch, or by moves and swaps."""

    def __init__(self, table: Grouped) -> None:
        self._table = table

    def improved(self, groups: Lists, may_leave: int, random: Random) -> Lists | None:
        """Groups that cost less together; None if none were found. Up to `may_leave` rows may be left out."""
        table = self._table
        self._rows = [row for group in groups for row in group]
        self._groups = [list(group) for group in groups]
        self._owner = {row: number for number, group in enumerate(groups) for row in group}
        self._may_leave = 0 if table.fixed else may_leave
        before = self._cost()
        rebuild = not table.fixed and random.below(4) != 0
        if rebuild and not self._build(self._rows[random.below(len(self._rows))]):
            return None
        for _ in range(PASSES):
            changed = [self._settle(row) for row in self._rows]
            if not any(changed):
                break
        return self._groups if self._cost() < before else None

    def left_out(self) -> list[int]:
        """The rows that the last improvement left out."""
        return [row for row in self._rows if self._owner[row] == OUT]

    def _cost(self) -> int:
        return sum(map(self._table.cost, self._groups)) + self._table.left_out * len(self.left_out())

    def _put(self, number: int, row: int) -> None:
        self._groups[number].append(row)
        self._owner[row] = number

    def _leave_out(self, row: int) -> None:
        self._owner[row] = OUT
        self._may_leave -= 1

    def _build(self, first: int) -> bool:
        """Build groups row by row; the next begins with the row farthest from the last one."""
        table, free = self._table, dict.fromkeys(self._rows)
        self._groups = []
        while len(free) >= table.least:
            group = [first]
            del free[first]
            while not table.enough(group):
                row = self._nearest(group, free)
                if row is None:
                    break
                group.append(row)
                del free[row]
            if not table.enough(group):
                free |= dict.fromkeys(group)
                break
            if self._may_leave and table.cost(group) - table.cost(group[1:]) > table.left_out:
                free |= dict.fromkeys(group[1:])
                self._leave_out(first)
                first = next((row for row in self._rows if row in free), first)
                continue
            self._groups.append(group)
            self._owner |= dict.fromkeys(group, len(self._groups) - 1)
            if free:
                in_order = [row for row in self._rows if row in free]
                first = max(in_order, key=lambda row: table.cost([*group, row]))
        if not self._groups:
            return False
        for row in self._rows:
            if row in free:
                self._place(row)
        return True

    def _place(self, row: int) -> None:
        """Put a row that is left over where it costs least, or leave it out."""
        table = self._table
        more = [table.cost([*group, row]) - table.cost(group) for group in self._groups]
        if self._may_leave and min(more) > table.left_out:
            self._leave_out(row)
        else:
            self._put(more.index(min(more)), row)

    def _nearest(self, group: list[int], free: dict[int, None]) -> int | None:
        """The free row that costs a group least; if the places left are needed for new marks, it must bring one."""
        table, lacks = self._table, self._table.lacks(group)
        urgent = [mark for mark, lack in enumerate(lacks) if lack > 0 and lack >= table.least - len(group)]
        own = [{table.marks[mark][row] for row in group} for mark in urgent]
        best: tuple[bool, int, int] | None = None
        for place, row in enumerate(self._rows):
            if row not in free:
                continue
            fresh = [table.marks[mark][row] not in known for mark, known in zip(urgent, own, strict=True)]
            if urgent and not any(fresh):
                continue
            found = (not all(fresh), table.cost([*group, row]), place)
            best = found if best is None else min(best, found)
        return None if best is None else self._rows[best[2]]

    def _exchange(self, row: int, rest: list[int], other: list[int], now: int, best: int) -> tuple[int, int]:
        """What is saved most, and more than `best`, by an exchange of a row for one of another group; and for which."""
        table, partner = self._table, -1
        for there in other:
            if table.fixed and table.fixed[row] != table.fixed[there]:
                continue
            ours, theirs = [*rest, there], [one for one in other if one != there] + [row]
            saved = now - table.cost(theirs) - table.cost(ours)
            if saved > best and table.enough(ours) and table.enough(theirs):
                best, partner = saved, there
        return best, partner

    def _settle(self, row: int) -> bool:
        """Let a row go where it saves most, alone or in exchange for another row; tell whether it went."""
        table, start = self._table, self._owner[row]
        if start == OUT:
            return False
        own = self._groups[start]
        rest = [other for other in own if other != row]
        may_leave = not table.fixed and table.enough(rest)
        cost, alone = table.cost(own), table.cost(rest) if rest else 0
        best, to, partner = 0, start, -1
        if may_leave and self._may_leave and cost - alone > table.left_out:
            best, to = cost - alone - table.left_out, OUT
        for number, other in enumerate(self._groups):
            if number == start:
                continue
            now = cost + table.cost(other)
            if may_leave and (saved := now - alone - table.cost([*other, row])) > best:
                best, to, partner = saved, number, -1
            saved, there = self._exchange(row, rest, other, now, best)
            if saved > best:
                best, to, partner = saved, number, there
        if to == start:
            return False
        own.remove(row)
        if to == OUT:
            self._leave_out(row)
            return True
        if partner >= 0:
            self._groups[to].remove(partner)
            self._put(start, partner)
        self._put(to, row)
        return True
