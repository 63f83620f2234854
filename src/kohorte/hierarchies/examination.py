"""Examine the rows of a hierarchy that a person edits: what is broken, and in which cell.

`Hierarchy.from_columns` refuses a broken hierarchy at the first fault, with counts. An editor has to show all faults
where they are; rows without faults are accepted there, too.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from kohorte.errors import InputError
from kohorte.hierarchies.check import collisions
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED

Row: TypeAlias = Sequence[str]


class Fault(StrEnum):
    """What can be wrong with a cell. The last two are no faults, but a person should know of them."""

    VALUE_MISSING = "value-missing"
    VALUE_TWICE = "value-twice"
    VALUE_STAR = "value-star"
    LEVEL_MISSING = "level-missing"
    LEVEL_EXTRA = "level-extra"
    LABEL_EMPTY = "label-empty"
    LABEL_STAR = "label-star"
    TWO_PARENTS = "two-parents"
    LABEL_AMBIGUOUS = "label-ambiguous"
    NOT_IN_TABLE = "not-in-table"

    @property
    def is_note(self) -> bool:
        """Whether a hierarchy with it can be used nevertheless."""
        return self in (Fault.LABEL_AMBIGUOUS, Fault.NOT_IN_TABLE)


@dataclass(frozen=True)
class Place:
    """A fault in the cell of a row (from 0) at a level (0 is the value)."""

    fault: Fault
    row: int
    level: int


@dataclass(frozen=True)
class Examination:
    """The rows, as long as the longest of them, and what was found.

    Values of the table that the hierarchy lacks are added as rows without labels.
    """

    rows: tuple[tuple[str, ...], ...]
    places: tuple[Place, ...]

    @property
    def ok(self) -> bool:
        """Whether the hierarchy can be used."""
        return all(place.fault.is_note for place in self.places)

    @property
    def counts(self) -> dict[Fault, int]:
        """How often each fault occurs, in the order of the faults."""
        found = Counter(place.fault for place in self.places)
        return {fault: found[fault] for fault in Fault if found[fault]}

    @property
    def levels(self) -> int:
        """The number of levels, including the value."""
        return len(self.rows[0]) if self.rows else 0


def examine(rows: Sequence[Row], values: Collection[str]) -> Examination:
    """Find the faults of rows `[value, level 1, ...]`; `values` are those of the table, without missing ones.

    Empty labels at the end of a row are labels that it lacks; a row without any label tells nothing about its value.
    """
    in_table = {*values, ""}
    if _is_sound(rows, in_table):
        places = [Place(Fault.NOT_IN_TABLE, number, 0) for number, row in enumerate(rows) if row[0] not in in_table]
        return Examination(tuple(map(tuple, rows)), tuple(places))
    given = [_without_empty_end(row) for row in rows if row]
    known = {row[0] for row in given}
    given += [[value] for value in sorted(in_table - known - {""})]
    lengths = [len(row) for row in given]
    usual = max(Counter(length for length in lengths if length > 1).most_common(1), default=(2, 0))[0]
    longest = max([usual, *lengths])
    bare = {number for number, row in enumerate(given) if len(row) == 1 and row[0] in in_table}
    places = [Place(Fault.VALUE_MISSING, number, 0) for number in sorted(bare)]
    places += (place for place in _of_lengths(given, usual) if place.row not in bare)
    places += [*_of_values(given), *_of_labels(given, usual), *_parents(given)]
    if not places:
        places += _ambiguous(given)
    places += [Place(Fault.NOT_IN_TABLE, number, 0) for number, row in enumerate(given) if row[0] not in in_table]
    return Examination(tuple((*row, *[""] * (longest - len(row))) for row in given), tuple(places))


def _is_sound(rows: Sequence[Row], in_table: Collection[str]) -> bool:
    """Whether rows have no fault and no ambiguous label; this is fast, and true of most hierarchies."""
    lacking = set(in_table) - {row[0] for row in rows if row} - {""}
    if lacking or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return False
    try:
        return collisions(Hierarchy.from_columns(list(zip(*rows, strict=True)), attribute="")) == 0
    except InputError:
        return False


def _without_empty_end(row: Row) -> list[str]:
    found = list(row)
    while len(found) > 1 and not found[-1]:
        found.pop()
    return found


def _of_lengths(rows: Sequence[Row], usual: int) -> Iterator[Place]:
    for number, row in enumerate(rows):
        for level in range(len(row), usual):
            yield Place(Fault.LEVEL_MISSING, number, level)
        for level in range(usual, len(row)):
            if row[level]:
                yield Place(Fault.LEVEL_EXTRA, number, level)


def _of_values(rows: Sequence[Row]) -> Iterator[Place]:
    seen: set[str] = set()
    for number, row in enumerate(rows):
        if row[0] in seen:
            yield Place(Fault.VALUE_TWICE, number, 0)
        elif row[0] == SUPPRESSED:
            yield Place(Fault.VALUE_STAR, number, 0)
        seen.add(row[0])


def _of_labels(rows: Sequence[Row], usual: int) -> Iterator[Place]:
    """Empty labels; and `*` where only some labels of a level have it: the rarer kind is at fault."""
    for level in range(1, usual):
        column = [(number, row[level]) for number, row in enumerate(rows) if len(row) > level]
        stars = [number for number, label in column if label == SUPPRESSED]
        if 0 < len(stars) < len(column):
            others = [number for number, label in column if label not in ("", SUPPRESSED)]
            wrong = stars if len(stars) <= len(others) else others
            yield from (Place(Fault.LABEL_STAR, number, level) for number in wrong)
        yield from (Place(Fault.LABEL_EMPTY, number, level) for number, label in column if not label)


def _parents(rows: Sequence[Row]) -> Iterator[Place]:
    """Cells because of which a label has two labels above it: those that differ from the most frequent one."""
    for level in range(1, max(map(len, rows), default=1) - 1):
        pairs = [(number, row[level], row[level + 1]) for number, row in enumerate(rows) if len(row) > level + 1]
        above: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for _, label, parent in pairs:
            if label and parent:
                above[label][parent] += 1
        usual = {label: found.most_common(1)[0][0] for label, found in above.items() if len(found) > 1}
        for number, label, parent in pairs:
            if label in usual and parent and parent != usual[label]:
                yield Place(Fault.TWO_PARENTS, number, level + 1)


def _ambiguous(rows: Sequence[Row]) -> Iterator[Place]:
    """Labels that mean other values at another level, or that are a value which they do not cover.

    A set of values is recognised by a sum of random marks.
    """
    marks = random.Random(0)  # noqa: S311 - no secret
    mark_of = {row[0]: marks.getrandbits(63) for row in rows}
    row_of = {row[0]: row for row in rows}
    meanings: defaultdict[str, set[int]] = defaultdict(set)
    first: dict[tuple[str, int], int] = {}
    for level in range(1, max(map(len, rows), default=1)):
        sums: defaultdict[str, int] = defaultdict(int)
        for number, row in enumerate(rows):
            sums[row[level]] += mark_of[row[0]]
            first.setdefault((row[level], level), number)
        for label, total in sums.items():
            is_another_value = label in row_of and row_of[label][level] != label
            meanings[label] |= {total, -1} if is_another_value else {total}
    wrong = {label for label, found in meanings.items() if len(found) > 1 and label != SUPPRESSED}
    for (label, level), number in first.items():
        if label in wrong:
            yield Place(Fault.LABEL_AMBIGUOUS, number, level)
