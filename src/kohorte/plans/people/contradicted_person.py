"""Columns that contradict what a plan states about people: they repeat where the plan says that people differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte import in_words
from kohorte.data import Role, person_keys
from kohorte.identifiers.people import Numbering, numbering, tells_events
from kohorte.in_words import count
from kohorte.plans.people.candidates import FEWEST, OTHERS, rank_of
from kohorte.plans.people.repeated import (
    PEOPLE,
    Repeated,
    absent,
    counted_people,
    present,
    with_people,
    with_place,
)
from kohorte.plans.people.repeated_people import repeated_column
from kohorte.plans.people.shared_numbers import one_person
from kohorte.plans.person import Person
from kohorte.plans.unit import Unit
from kohorte.sources import TableSource

VALUE = "\0value"

DOUBTED_BY: dict[int, tuple[int, ...]] = {
    Numbering.PEOPLE: (Numbering.PEOPLE,),
    Numbering.CASES: (Numbering.PEOPLE, Numbering.CASES, OTHERS),
}
"""Which columns can contradict a person, by the rank of the person and of the column: a number of cases is contradicted
by every other identifying column that repeats, a number of people only by another one."""
OTHERWISE = DOUBTED_BY[Numbering.CASES]
"""A column whose name says neither may number cases, samples or orders."""


@dataclass(frozen=True)
class Contradiction:
    """Columns of a table that repeat where people are stated to differ.

    `stated` are the columns that are stated to say whom a row is about; none if every row is another person.
    """

    stated: tuple[str, ...]
    columns: tuple[str, ...]
    facts: str
    """What the table says, with counts, never a value."""
    before: str = ""
    """What is to be done before people can be counted."""
    reason: str = ""
    """Why the repeated values of a column of the person are taken for one person."""

    @property
    def note(self) -> str:
        """The contradiction to a plan, with counts."""
        line = Person(self.columns).line
        if not self.stated:
            return (
                "rows are counted, not people: the plan states that every row is another person (person: none), which "
                f"contradicts the table: {self.facts}, so that several rows seem to be about one person; {self.before}"
                f"write '{line}' in the plan if {self._says} whom a row is about"
            )
        return (
            f"people may be counted several times: {self.facts}; write '{line}' in the plan if {self._says} whom a row "
            "is about"
        )

    @property
    def without_figures(self) -> str:
        """The contradiction to the private id of queries; exact figures would be answers without noise."""
        line = Person(self.columns).line.replace("person", "private_id", 1)
        write = f"write '{line}' if {self._says} whom a row is about"
        if not self.stated:
            return (
                "rows are counted, not people: private_id states that every row is another person, which contradicts "
                f"the table: {self._named} has repeated values, so that several rows seem to be about one person, whom "
                f"the noise does not hide; {self.before and 'fill in its missing values, then '}{write}"
            )
        because = f" ({self.reason})" if self.reason else ""
        return (
            f"people may be counted several times: private_id ({_names(self.stated)}) tells people apart who have the "
            f"same {self._named}{because}; the noise may hide only a part of a person; {write}"
        )

    @property
    def _named(self) -> str:
        return _names(self.columns)

    @property
    def _says(self) -> str:
        return "it says" if len(self.columns) == 1 else "they say"


def contradictions(source: TableSource, unit: Unit) -> tuple[Contradiction, ...]:
    """Find the columns that contradict the person of a plan or of queries."""
    if not unit.is_stated:
        return ()
    if not unit.counts_people:
        found = repeated_column(source, unit.roles)
        if found is None or found.is_question:
            return ()
        return (Contradiction((), found.columns, found.facts, found.completing(source.rows)),)
    if not set(unit.columns) <= set(source.columns):
        return ()
    return tuple(_of_columns(source, unit))


def _of_columns(source: TableSource, unit: Unit) -> Iterator[Contradiction]:
    persons = unit.columns
    for name in _candidates(source, unit):
        columns = (name,) if name in persons else _with_place(source, name)
        pairs = _pairs(source, persons, columns)
        if not _repeats(pairs, name):
            continue
        reason = _counts_more(source, persons, name) if name in persons else ""
        if name in persons and not reason:
            continue
        values, people = pairs[VALUE].n_unique(), pairs[PEOPLE].n_unique()
        has = f"has {count(values, 'different value')}"
        if len(columns) > 1:
            has = f"together have {count(values, 'different value')}"
        facts = (
            f"{_names(columns)} {has}, and the plan counts {in_words.PEOPLE.count(people)} there "
            f"(person: {_names(persons)}), several of them with the same value"
        )
        yield Contradiction(persons, columns, f"{facts}: {reason}" if reason else facts, reason=reason)


def _names(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns))


def _with_place(source: TableSource, name: str) -> tuple[str, ...]:
    """A column, with the place before it if each place gives its own numbers."""
    return with_place(source, tuple(source.columns), Repeated((name,), *counted_people(source, [name]), OTHERS)).columns


def _pairs(source: TableSource, persons: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """The people, and the values of some columns that they have, each pair once; spellings do not matter."""
    shown = source.count_shown(list(dict.fromkeys((*persons, *columns))))
    keys = with_people(shown.filter(~pl.any_horizontal(map(absent, columns))), persons)
    return keys.select(PEOPLE, person_keys([keys[name] for name in columns]).alias(VALUE)).drop_nulls().unique()


def _candidates(source: TableSource, unit: Unit) -> Iterator[str]:
    """The columns whose repeated values would contradict the person."""
    roles = unit.roles
    ranks = {name: rank_of(name, roles.get(name) is Role.IDENTIFYING) for name in source.columns}
    own = min((rank for name in unit.columns if (rank := ranks[name]) is not None), default=OTHERS)
    doubted_by = DOUBTED_BY.get(own, OTHERWISE)
    alone = len(unit.columns) == 1
    for name, rank in ranks.items():
        if rank in doubted_by and not (alone and name in unit.columns):
            yield name


def _repeats(pairs: pl.DataFrame, name: str) -> bool:
    """Whether a value of a column occurs with several people.

    A column with a single value numbers nobody, unless its name says that it numbers people or cases.
    """
    values = pairs[VALUE].n_unique()
    return values < pairs.height and (values >= FEWEST or rank_of(name, identifying=True) != OTHERS)


def _counts_more(source: TableSource, persons: Sequence[str], name: str) -> str:
    """Why the other columns of a person seem to tell more apart than people; empty if they do not."""
    others = [other for other in persons if other != name]
    numbers_people = numbering(name) is Numbering.PEOPLE
    if numbers_people and (events := list(filter(tells_events, others))):
        return f"{events[0]!r} tells cases, stays or dates apart, by its name"
    if _adds_nothing(source, persons, name):
        return f"{_names(others)} alone already tells them apart"
    return one_person(source, persons, name)


def _adds_nothing(source: TableSource, persons: Sequence[str], name: str) -> bool:
    """Whether the other columns of a person tell the same people apart: then this one does not number within them.

    In [clinic, patient] a number of a patient occurs in several clinics; in [case, patient] the case says it all.
    """
    shown = present(source, persons)
    others = [other for other in persons if other != name]
    return with_people(shown, others)[PEOPLE].n_unique() == with_people(shown, persons)[PEOPLE].n_unique()
