"""Groups of rows that cost little, in NumPy and plain Python: used without compiled kernels, and to test them.

Costs are whole numbers, so that both kernels give the same answer to the last row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from kohorte.kernels.arrays import Codes, Counts
from kohorte.kernels.cuts_reference import Axes, Cutter
from kohorte.kernels.pools_reference import AxisArrays, Grouped, Lists, MarkArrays, Pool, Random

NONE = 2**32 - 1
"""The group of a row that is in no group."""
SHARE = 16
GROUPS = 512
MOST_ROWS = 4096


class LossCutter:
    """Regions of rows as those of `Cutter`; a cut is proposed by what its two parts cost."""

    def __init__(self, places: Codes, axes: Sequence[AxisArrays], least: int, relaxed: bool) -> None:
        self._table = Grouped(places, axes, least, (), np.empty(0, dtype=np.uint32), 0)
        self._relaxed = relaxed
        lengths = [len(axis[2]) for axis in axes]
        ticks = [np.arange(length, dtype=np.int64) for length in lengths]
        levels = [np.zeros(length, dtype=np.uint32) for length in lengths]
        self._cutter = Cutter(places, ticks, np.ones(len(axes), dtype=np.int64), levels, least, relaxed=True)

    def ids(self) -> Codes:
        """The rows in their current order."""
        return self._cutter.ids()

    def split(self, begins: Counts, ends: Counts, attributes: Axes, boundaries: Codes, left: Counts) -> None:
        """Reorder the rows of every region: those left of its cut come first."""
        self._cutter.split(begins, ends, attributes, boundaries, left)

    def propose(self, begins: Counts, ends: Counts, attempts: Counts) -> tuple[Axes, Codes, Counts]:
        """The next cut of each region after `attempts` refused ones, the cheapest first; attribute -1 if none."""
        if not len(begins) == len(ends) == len(attempts):
            raise ValueError("regions and attempts do not fit together")
        if ((begins < 0) | (ends < begins) | (ends > self._table.rows)).any():
            raise ValueError("a region beyond the rows")
        ids, cuts = self._cutter.ids().tolist(), []
        for begin, end, attempt in zip(begins.tolist(), ends.tolist(), attempts.tolist(), strict=True):
            found = self._cuts(ids[begin:end])
            cuts.append(found[attempt] if attempt < len(found) else (-1, 0, 0))
        all_cuts = np.array(cuts, dtype=np.int64).reshape(-1, 3)
        return all_cuts[:, 0].astype(np.int32), all_cuts[:, 1].astype(np.uint32), all_cuts[:, 2].copy()

    def _cuts(self, rows: list[int]) -> list[tuple[int, int, int]]:
        """Of every attribute, the cheapest cut of all and the cheapest in the middle third."""
        table, size = self._table, len(rows)
        if size < 2 * table.least:
            return []
        smallest = max(table.least, size // SHARE)
        found = set()
        for axis in range(len(table.kinds)):
            order = sorted(rows, key=lambda row: table.places[row][axis])
            places = [table.places[row][axis] for row in order]
            costs = [
                (table.cost(order[:left]) + table.cost(order[left:]), axis, left, places[left])
                for left in range(smallest, size - smallest + 1)
                if self._relaxed or places[left - 1] != places[left]
            ]
            middle = [cut for cut in costs if size <= 3 * cut[2] <= 2 * size]
            found |= {min(some) for some in (costs, middle) if some}
        return [(axis, boundary, left) for _, axis, left, boundary in sorted(found)]


class Regrouper:
    """Groups of all rows of a table, improved neighbourhood by neighbourhood."""

    def __init__(
        self,
        places: Codes,
        axes: Sequence[AxisArrays],
        least: int,
        marks: MarkArrays,
        fixed: Codes,
        left_out: int,
    ) -> None:
        self._table = Grouped(places, axes, least, marks, fixed, left_out)

    def costs(self, group_of: Codes) -> Counts:
        """What each group costs."""
        return np.array([self._table.cost(group) for group in self._lists(group_of)], dtype=np.int64)

    def round(
        self, group_of: Codes, groups: int, rows: int, may_leave: int, seed: int, threads: int, seconds: float
    ) -> Codes:
        """Divide the groups into neighbourhoods, in another way for each seed, and improve each of them."""
        del threads  # they do not change the answer
        if groups < 2:
            raise ValueError("a pool of less than two groups")
        until = time.monotonic() + seconds
        random = Random(seed)
        blocks = self._neighbourhoods(self._lists(group_of), random)
        seeds = [random.next() for _ in blocks]
        found, number = np.full(len(group_of), NONE, dtype=np.uint32), 0
        for block, own in zip(blocks, seeds, strict=True):
            share = may_leave * sum(map(len, block)) // max(1, len(group_of))
            better = block
            if time.monotonic() <= until:
                better = _Block(self._table, block).run(groups, rows, share, own)
            for group in better:
                found[group] = number
                number += 1
        return found

    def _lists(self, group_of: Codes) -> Lists:
        if len(group_of) != self._table.rows:
            raise ValueError("not one group for each row")
        groups: dict[int, list[int]] = {}
        for row, group in enumerate(group_of.tolist()):
            if group != NONE:
                groups.setdefault(group, []).append(row)
        if groups and max(groups) != len(groups) - 1:
            raise ValueError("a group without rows")
        return [groups[number] for number in range(len(groups))]

    def _neighbourhoods(self, groups: Lists, random: Random) -> list[Lists]:
        """Halve the groups again and again along an attribute chosen at random, by the places of their first rows."""
        found: list[Lists] = []
        waiting = [list(range(len(groups)))]
        places = self._table.places
        while waiting:
            here = waiting.pop()
            if len(here) <= GROUPS:
                found.append([groups[number] for number in here])
                continue
            firsts = [places[groups[number][0]] for number in here]
            varying = [axis for axis in range(len(self._table.kinds)) if len({first[axis] for first in firsts}) > 1]
            axis = varying[random.below(len(varying))] if varying else 0
            here.sort(key=lambda number: places[groups[number][0]][axis])
            middle = len(here) // 2
            waiting += [here[middle:], here[:middle]]
        return found


class _Block:
    """The groups of one neighbourhood, improved pool by pool."""

    def __init__(self, table: Grouped, groups: Lists) -> None:
        self.table = table
        self.groups = [list(group) for group in groups]
        self.all = [row for group in groups for row in group]
        self.group_of = {row: number for number, group in enumerate(groups) for row in group}

    def run(self, most_groups: int, most_rows: int, may_leave: int, seed: int) -> Lists:
        """The improved groups; up to `may_leave` rows are left out."""
        random, pool = Random(seed), Pool(self.table)
        for _ in range(len(self.groups)):
            row = self.all[random.below(len(self.all))]
            if row not in self.group_of:
                continue
            chosen = self._around(row, most_groups, most_rows)
            pooled = [self.groups[number] for number in chosen]
            if sum(map(len, pooled)) > MOST_ROWS:
                continue
            found = pool.improved(pooled, may_leave, random)
            if found is None:
                continue
            for out in pool.left_out():
                del self.group_of[out]
                may_leave -= 1
            self._exchange(sorted(chosen), found)
        return self.groups

    def _around(self, row: int, most_groups: int, most_rows: int) -> list[int]:
        own = self.group_of[row]
        near = sorted((self._added(group, row), number) for number, group in enumerate(self.groups) if number != own)
        chosen, rows = [own], len(self.groups[own])
        for _, number in near[: most_groups - 1]:
            rows += len(self.groups[number])
            if rows > most_rows and len(chosen) > 1:
                break
            chosen.append(number)
        return chosen

    def _added(self, group: list[int], row: int) -> int:
        """What a row would add to the cost of a group; a mix counts as the number of different positions."""
        cells = self.table.cells
        return (len(group) + 1) * cells([*group, row]) - len(group) * cells(group)

    def _exchange(self, chosen: list[int], found: Lists) -> None:
        """Put new groups in the places of old ones; if there are fewer, the last groups of all fill the gaps."""
        while len(chosen) > len(found):
            gap = chosen.pop()
            last = self.groups.pop()
            if gap < len(self.groups):
                self._settle(gap, last)
        for place, group in enumerate(found):
            number = chosen[place] if place < len(chosen) else len(self.groups)
            if number == len(self.groups):
                self.groups.append([])
            self._settle(number, group)

    def _settle(self, number: int, group: list[int]) -> None:
        self.groups[number] = group
        for row in group:
            self.group_of[row] = number
