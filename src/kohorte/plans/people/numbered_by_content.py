"""Columns that seem to number people by their content, whatever their name: repeated codes whose rows agree in what a
person keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import polars as pl

from kohorte.data import Role
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.agreement import FEWEST_CODES, MOSTLY, Agreement, agreement
from kohorte.identifiers.people import keeps_for_life, may_be_shared, serves_several
from kohorte.kernels.arrays import Codes, Counts
from kohorte.sources import TableSource, Tuples

MOST_COLUMNS, MOST_KEPT, MOST_OTHERS = 200, 6, 10
"""So many columns are looked at, the first of the table; they are compared with so many others."""
ROWS_AT_ONCE, LARGE = 2_000_000, 100_000
"""Up to so many rows are read at once; of more than so many, a part of the codes is looked at. All our own choice."""
MOST_ROWS_EACH, MOST_UNEVEN = 50, 6
"""A code with more rows on average, or with some values that have so many times the average, is a category rather than
a number of people, if no column says what people keep for life: drugs, places and diseases are common or rare."""
MOSTLY_CODES = 0.9
"""The share of the values of a code that contain a digit."""
CODE, DATE = r"[0-9]", r"^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4})"
YEAR = r"([0-9]{4})"


@dataclass(frozen=True)
class NumberedByContent:
    """A column that seems to number people, with its values and rows, and the columns in which equal values agree."""

    column: str
    values: int
    rows: int
    agreeing: tuple[str, ...]


def numbered_by_content(
    source: TableSource, roles: Mapping[str, Role], columns: Sequence[str]
) -> NumberedByContent | None:
    """Find the column that seems to number people by its content; of several, the one with the fewest values.

    Either its rows agree in all columns whose names say that people keep them for life (sex, birth), or in two columns
    that have nothing to do with each other: a ZIP code tells the city and the state, but the city tells the state, too.
    The agreement must be far from chance. `columns` are those of the table.
    """
    names = [name for name in columns if roles.get(name, Role.INSENSITIVE) is not Role.IDENTIFYING]
    kept = kept_for_life(columns)
    codes = [name for name in names if name not in kept and not may_be_shared(name) and not serves_several(name)]
    codes = codes[:MOST_COLUMNS]
    parts: Iterable[tuple[Tuples, Sequence[str]]]
    if source.rows > ROWS_AT_ONCE:
        parts = ((source.distinct((name, *kept)), [name]) for name in codes if kept)
    else:
        others = [name for name in names if name not in kept][:MOST_COLUMNS]
        parts = [(source.distinct((*kept, *dict.fromkeys((*codes, *others)))), codes)] if codes else []
    found = [one for tuples, own in parts for one in _numbering(_Table(tuples, kept), own)]
    return min(found, key=lambda one: one.values, default=None)


def kept_for_life(columns: Sequence[str]) -> list[str]:
    """The columns whose names say that people keep them for life; some of them, if there are many."""
    return [name for name in columns if keeps_for_life(name)][:MOST_KEPT]


def agreeing_for_life(source: TableSource, name: str, kept: Sequence[str]) -> tuple[str, ...] | None:
    """The columns, of those that people keep for life, in which rows with the same value of a column agree.

    None if that cannot be told, and none of them if rows with the same value clearly are about several people.
    """
    if not kept or name in kept:
        return None
    table = _Table(source.distinct((name, *kept)), kept)
    return table.for_life(table.columns[name])


def _numbering(table: _Table, codes: Sequence[str]) -> Iterator[NumberedByContent]:
    for code in (table.columns[name] for name in codes):
        repeats = FEWEST_CODES <= code.values <= code.rows - FEWEST_CODES
        if repeats and (agreeing := table.agreeing(code)):
            yield NumberedByContent(code.name, code.values, code.rows, agreeing)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of counted tuples: their codes, of which the largest is that of a missing or suppressed cell."""

    name: str
    distinct: pl.Series
    codes: Codes
    missing: int
    values: int
    rows: int
    most: int

    @classmethod
    def of(cls, tuples: Tuples, name: str) -> _Column:
        distinct = tuples.values[tuples.columns.index(name)]
        codes, missing = tuples.coded(name)
        stars = np.flatnonzero((distinct == SUPPRESSED).to_numpy())
        codes = np.where(np.isin(codes, stars), np.uint32(missing), codes) if len(stars) else codes
        each = np.bincount(codes, weights=tuples.counts, minlength=missing + 1)[:missing]
        most = int(each.max(initial=0))
        return cls(name, distinct, codes, missing, missing - len(stars), int(each.sum()), most)

    @property
    def is_even_code(self) -> bool:
        """Whether the values look like codes, and have a few rows each, none of them very many."""
        even = self.rows <= MOST_ROWS_EACH * self.values and self.most * self.values <= MOST_UNEVEN * self.rows
        return even and _mostly(self.distinct.str.contains(CODE))

    @cached_property
    def in_years(self) -> tuple[Codes, int]:
        """The codes and that of a missing cell; of dates, those of the years, which many people have in common."""
        if not self.distinct.str.contains(DATE).all():
            return self.codes, self.missing
        years = self.distinct.str.extract(YEAR).rank("dense").cast(pl.UInt32) - 1
        missing = int(years.n_unique())
        return np.append(years.to_numpy(), np.uint32(missing))[self.codes], missing

    @cached_property
    def one_each(self) -> Counts:
        """One tuple of each code."""
        codes, first = np.unique(self.codes, return_index=True)
        once: Counts = first[codes != self.missing]
        return once


class _Table:
    """Counted tuples, and the columns of which people keep their value for life."""

    def __init__(self, tuples: Tuples, kept: Sequence[str]) -> None:
        self._rows = tuples.counts
        self.columns = {name: _Column.of(tuples, name) for name in tuples.columns}
        self._kept = [self.columns[name] for name in kept]
        several = [column for column in self.columns.values() if column.values > 1 and column.name not in kept]
        self._others = sorted(several, key=lambda column: column.values)[: MOST_OTHERS + 1]

    def agreeing(self, code: _Column) -> tuple[str, ...]:
        """The columns in which rows with the same code agree, if they are enough to take the code for a person's."""
        told = self._told(code)
        if told:
            return tuple(told) if _agree(told.values()) else ()
        if not code.is_even_code:
            return ()
        agreeing = [one for one in self._others if one is not code and self._agreement(code, one).holds]
        pairs = ((left, right) for left, right in combinations(agreeing, 2) if _unrelated(left, right, code.one_each))
        return next(((left.name, right.name) for left, right in pairs), ())

    def for_life(self, code: _Column) -> tuple[str, ...] | None:
        """The columns that people keep in which rows with the same code agree; None if that cannot be told."""
        told = self._told(code)
        if told and _agree(told.values()):
            return tuple(told)
        return () if any(one.is_by_chance for one in told.values()) else None

    def _told(self, code: _Column) -> dict[str, Agreement]:
        return {other.name: found for other in self._kept if (found := self._agreement(code, other)).is_told}

    def _agreement(self, code: _Column, other: _Column) -> Agreement:
        part = _part_of(code.codes)
        missing = (code.missing, other.missing)
        return agreement(code.codes[part], other.codes[part], self._rows[part], missing=missing)


def has_codes(texts: pl.Series) -> bool:
    """Whether different texts look like numbers or codes: with a digit, without blanks, and no dates."""
    return _mostly(texts.str.contains(CODE) & ~texts.str.contains(r"\S\s+\S") & ~texts.str.contains(DATE))


def _mostly(tests: pl.Series) -> bool:
    share = tests.mean()
    return isinstance(share, float) and share >= MOSTLY_CODES


def _agree(told: Collection[Agreement]) -> bool:
    return all(one.share >= MOSTLY for one in told) and any(one.holds for one in told)


def _unrelated(left: _Column, right: _Column, people: Counts) -> bool:
    """Whether two columns tell little about each other: people who have a value of one in common agree in the other
    hardly more often than by chance."""
    both = (left.in_years, right.in_years)
    ways = (_between(both, people), _between(both[::-1], people))
    return all(way.repeated > 1 and way.is_by_chance for way in ways)


def _part_of(codes: Codes) -> slice | Counts:
    """All tuples, or those of a part of the codes if there are many: all tuples of a code or none."""
    if len(codes) <= LARGE:
        return slice(None)
    mixed = codes.astype(np.uint64) * np.uint64(2_654_435_761) % np.uint64(2**32)
    part: Counts = np.flatnonzero(mixed < np.uint64(2**32 * LARGE // len(codes)))
    return part


def _between(both: tuple[tuple[Codes, int], tuple[Codes, int]], tuples: Counts) -> Agreement:
    """How often people with the same value of a column agree in another one; each person counts once."""
    (left, no_left), (right, no_right) = both
    once = np.ones(len(tuples), dtype=np.int64)
    return agreement(left[tuples], right[tuples], once, missing=(no_left, no_right))
