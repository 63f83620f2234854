"""Look up how frequent a value is in the world; a gap is a gap, never a zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import polars as pl

from kohorte.errors import InputError
from kohorte.exchange.statistics.entries import OLDEST, Ages, Entry, StatisticsTable, ages_of, comparable, one_sex
from kohorte.exchange.statistics.origin import KINDS
from kohorte.identifiers import identify_alone

BY = ("age", "sex", "country")
ICD_LENGTH = 3


@dataclass(frozen=True)
class Frequency:
    """The share of people who have a value, and the table that says so.

    `by` names which of age, sex and country the figure is about. `rarest_of` is the number of groups of people among
    which the lowest share was taken, because the table has no figure for all of them together; otherwise 1. `table` is
    the table in words, `name` its name.
    """

    share: float
    table: str
    date: str
    by: tuple[str, ...] = ()
    rarest_of: int = 1
    name: str = ""

    def to_dict(self) -> dict[str, object]:
        """The frequency as plain data."""
        return {**vars(self), "by": list(self.by)}


@dataclass(frozen=True)
class Gap:
    """Nothing is known about a value; `at_most` is a bound where a coarser code is known."""

    reason: str
    at_most: float | None = None

    def to_dict(self) -> dict[str, object]:
        """The gap as plain data."""
        return {"gap": self.reason, "at_most": self.at_most}


Found = tuple[Entry, StatisticsTable]


@dataclass(frozen=True)
class Statistics:
    """Several tables of frequencies, of which a look-up takes the narrowest figure, then the latest."""

    tables: Sequence[StatisticsTable] = field(repr=False)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of values that something is known about."""
        known = {table.origin.kind for table in self.tables}
        return tuple(kind for kind in KINDS if kind in known)

    @cached_property
    def _index(self) -> Mapping[tuple[str, str], Sequence[Found]]:
        index: dict[tuple[str, str], list[Found]] = defaultdict(list)
        for table in self.tables:
            for entry in table.entries:
                index[table.origin.kind, entry.value].append((entry, table))
        return index

    def is_identifier(self, value: str) -> bool:
        """Whether a value of a table identifies somebody by itself: a table could be a list of people."""
        return comparable(value) in self._identifying

    @cached_property
    def _identifying(self) -> frozenset[str]:
        values = pl.Series(sorted({value for _, value in self._index}), dtype=pl.String)
        return frozenset(values.filter(identify_alone(values)))

    def refuse_unfit(self, kinds: Collection[str], years: float, today: date) -> None:
        """Refuse to go on if a kind of values that is needed has no table, or one that is older than so many years."""
        for kind in sorted(kinds):
            if kind not in self.kinds:
                raise InputError(
                    f"there are no statistics of the kind {kind}, which the request needs; import a table",
                    code="exchange-statistics-missing",
                )
        for table in self.tables:
            if table.origin.kind in kinds and table.origin.age_in_years(today) > years:
                raise InputError(
                    f"the statistics {table.origin.name} are of {table.origin.date}, older than the {years:g} years of "
                    "the policy; import newer ones",
                    code="exchange-statistics-stale",
                )

    def frequency(self, kind: str, value: str, by: Mapping[str, str | int] | None = None) -> Frequency | Gap:
        """How frequent a value is among people of this age, sex and country, as far as these are known."""
        if kind not in KINDS:
            raise InputError(
                f"unknown kind of statistics; known are {', '.join(KINDS)}", code="exchange-statistics-kind"
            )
        if kind not in self.kinds:
            return Gap(f"there is no table of the kind {kind}")
        known = known_people(by or {})
        if kind == "age":
            return self._age(value, known)
        key = one_sex(value) if kind == "sex" else comparable(value)
        found = self._matching(kind, key, known)
        if found:
            return _chosen(found, known)
        return self._gap(kind, key, known)

    def beginning(self, kind: str, text: str, by: Mapping[str, str | int] | None = None) -> Frequency | Gap:
        """How frequent values are that begin with a text: at least as frequent as the most frequent one of them."""
        key = comparable(text)
        values = [value for of, value in self._index if of == kind and value.startswith(key) and key]
        found = [self.frequency(kind, value, by) for value in values]
        known = [one for one in found if isinstance(one, Frequency)]
        if known:
            return max(known, key=lambda one: one.share)
        return self.frequency(kind, text, by)

    def by_table(
        self, kind: str, key: str, known: Mapping[str, object]
    ) -> Iterator[tuple[StatisticsTable, Sequence[Entry]]]:
        """The entries of a value in each table, as far as they do not contradict what is known."""
        found: dict[int, tuple[StatisticsTable, list[Entry]]] = {}
        for entry, table in self._matching(kind, key, known):
            found.setdefault(id(table), (table, []))[1].append(entry)
        yield from found.values()

    def tells_people_apart(self, kind: str) -> bool:
        """Whether a table of this kind has figures for ages or sexes."""
        return kind in self._narrow

    def age_bounds(self, kind: str) -> tuple[int, ...]:
        """The ages at which a figure of this kind begins or has ended, in ascending order."""
        spans = [entry.ages for table in self.tables if table.origin.kind == kind for entry in table.entries]
        return tuple(sorted({bound for ages in spans if ages is not None for bound in (ages[0], ages[1] + 1)}))

    @cached_property
    def _narrow(self) -> frozenset[str]:
        return frozenset(
            table.origin.kind
            for table in self.tables
            if any(entry.ages is not None or entry.sex is not None for entry in table.entries)
        )

    def _matching(self, kind: str, key: str, known: Mapping[str, object]) -> list[Found]:
        return [(entry, table) for entry, table in self._index.get((kind, key), ()) if fits(entry, known)]

    def _gap(self, kind: str, key: str, known: Mapping[str, object]) -> Gap:
        """Nothing is known of the value itself; a code of a disease is at most as frequent as its first characters."""
        if kind == "disease" and len(key) > ICD_LENGTH:
            coarser = self._matching(kind, key[:ICD_LENGTH], known)
            if coarser:
                return Gap("only its three-character code is in the statistics", _chosen(coarser, known).share)
        return Gap(f"the value is not in the statistics of the kind {kind}, or not for these people")

    def _age(self, value: str, known: Mapping[str, object]) -> Frequency | Gap:
        """The share of people of one age or a span of ages, from the spans of the tables, alike within each."""
        wanted = ages_of(value)
        if wanted is None:
            return Gap("the value is not an age")
        pyramids: dict[tuple[object, ...], list[tuple[Entry, StatisticsTable, Ages]]] = defaultdict(list)
        for (kind, text), found in self._index.items():
            ages = ages_of(text) if kind == "age" else None
            if ages is None or not _overlap(ages, wanted):
                continue
            for entry, table in found:
                if fits(entry, known):
                    pyramids[id(table), entry.sex, entry.country].append((entry, table, ages))
        if not pyramids:
            return Gap("there are no statistics of this age")
        sums = [_summed(parts, wanted) for parts in pyramids.values()]
        told = [one for one in sums if one[0].share > 0]
        return _chosen(told, known) if told else Gap("there are no statistics of this age")


def known_people(by: Mapping[str, str | int]) -> dict[str, object]:
    """What is known about people, as entries are compared with it."""
    known: dict[str, object] = {}
    for name, value in by.items():
        if name not in BY:
            raise InputError(
                f"frequencies are looked up by {', '.join(BY)}, not by {name!r}", code="exchange-statistics-kind"
            )
        if name == "age":
            if (ages := ages_of(str(value))) is not None:
                known[name] = ages
        else:
            known[name] = one_sex(str(value)) if name == "sex" else str(value).strip().upper()
    return known


def fits(entry: Entry, known: Mapping[str, object]) -> bool:
    """Whether an entry does not contradict what is known; it may be narrower."""
    ages = known.get("age")
    if entry.ages is not None and isinstance(ages, tuple) and not _overlap(entry.ages, ages):
        return False
    return all(
        own is None or name not in known or own == known[name]
        for name, own in (("sex", entry.sex), ("country", entry.country))
    )


def covers(entry: Entry, known: Mapping[str, object]) -> bool:
    """Whether an entry is restricted to nothing that is not known."""
    parts = (("age", entry.ages), ("sex", entry.sex), ("country", entry.country))
    return all(part is None or name in known for name, part in parts)


def _chosen(found: Sequence[Found], known: Mapping[str, object]) -> Frequency:
    """The figure of the narrowest entry that what is known covers; if there is none, the lowest share of all."""
    covering = [one for one in found if covers(one[0], known)]
    if covering:
        narrowest = max(entry.narrowness for entry, _ in covering)
        left = [one for one in covering if one[0].narrowness == narrowest]
        latest = max(date.fromisoformat(table.origin.date) for _, table in left)
        left = [one for one in left if date.fromisoformat(one[1].origin.date) == latest]
    else:
        left = list(found)
    entry, table = min(left, key=lambda one: one[0].share)
    parts = (("age", entry.ages), ("sex", entry.sex), ("country", entry.country))
    by = tuple(name for name, part in parts if part is not None)
    return Frequency(entry.share, table.title_of(entry), table.origin.date, by, len(left), table.origin.name)


def _overlap(one: Ages, other: Ages) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _summed(parts: Sequence[tuple[Entry, StatisticsTable, Ages]], wanted: Ages) -> Found:
    """One entry for a span of ages: each span of the table gives the part of it that is wanted.

    Most people of an open span are at its beginning. So a part from its beginning has at least its years' share; how
    many are in a later part (90+ of 80+) is not known, and counts as nobody.
    """
    share = 0.0
    for entry, _, ages in parts:
        if ages[1] == OLDEST and wanted[0] > ages[0]:
            continue
        years = min(ages[1], wanted[1]) - max(ages[0], wanted[0]) + 1
        share += entry.share * years / (ages[1] - ages[0] + 1)
    first, table, _ = parts[0]
    return Entry(first.value, min(share, 1.0), None, first.sex, first.country, first.source), table
