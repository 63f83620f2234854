"""Columns that contradict what a plan states about people: they repeat where the plan says that people differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from kohorte import in_words
from kohorte.data import Role, person_keys, spelling_keys
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.agreement import MOSTLY, Agreement, agreement
from kohorte.identifiers.people import Numbering, keeps_for_life, numbering, tells_events
from kohorte.in_words import count
from kohorte.kernels.arrays import Codes
from kohorte.plans.people.numbered_by_content import MOST_KEPT
from kohorte.plans.people.repeated_people import (
    FEWEST,
    OTHERS,
    PEOPLE,
    Repeated,
    absent,
    present,
    rank_of,
    repeated_column,
    with_people,
)
from kohorte.plans.person import Person
from kohorte.plans.plan import Plan
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


def contradictions(source: TableSource, plan: Plan) -> tuple[str, ...]:
    """Say which columns contradict the person of a plan, with names and counts, never a value."""
    if not plan.unit.is_stated:
        return ()
    if not plan.unit.counts_people:
        found = repeated_column(source, plan.unit.roles)
        return () if found is None else (_contradicts_none(found, source.rows),)
    if not set(plan.unit.columns) <= set(source.columns):
        return ()
    return tuple(_contradicts_columns(source, plan))


def _contradicts_none(found: Repeated, rows: int) -> str:
    first = found.completing(rows)
    return (
        "rows are counted, not people: the plan states that every row is another person (person: none), which "
        f"contradicts the table: {found.facts}, so that several rows seem to be about one person; {first}write "
        f"'{found.line}' in the plan if it says whom a row is about"
    )


def _contradicts_columns(source: TableSource, plan: Plan) -> Iterator[str]:
    persons = plan.unit.columns
    stated = ", ".join(map(repr, persons))
    for name in _candidates(source, plan):
        pairs = _pairs(source, persons, name)
        if not _repeats(pairs, name) or (name in persons and not _counts_more(source, persons, name)):
            continue
        values, people = pairs[VALUE].n_unique(), pairs[PEOPLE].n_unique()
        yield (
            f"people may be counted several times: {name!r} has {count(values, 'different value')}, and the plan "
            f"counts {in_words.PEOPLE.count(people)} there (person: {stated}), several of them with the same value; "
            f"write '{Person((name,)).line}' in the plan if {name!r} says whom a row is about"
        )


def _pairs(source: TableSource, persons: Sequence[str], name: str) -> pl.DataFrame:
    """The people, and the values of a column that they have, each pair once; spellings do not matter."""
    shown = source.count_shown(list(dict.fromkeys((*persons, name)))).filter(~absent(name))
    keys = with_people(shown, persons)
    return keys.select(PEOPLE, person_keys([keys[name]]).alias(VALUE)).drop_nulls().unique()


def _candidates(source: TableSource, plan: Plan) -> Iterator[str]:
    """The columns whose repeated values would contradict the person of the plan."""
    roles = plan.unit.roles
    ranks = {name: rank_of(name, roles.get(name) is Role.IDENTIFYING) for name in source.columns}
    own = min((rank for name in plan.unit.columns if (rank := ranks[name]) is not None), default=OTHERS)
    doubted_by = DOUBTED_BY.get(own, OTHERWISE)
    alone = len(plan.unit.columns) == 1
    for name, rank in ranks.items():
        if rank in doubted_by and not (alone and name in plan.unit.columns):
            yield name


def _repeats(pairs: pl.DataFrame, name: str) -> bool:
    """Whether a value of a column occurs with several people.

    A column with a single value numbers nobody, unless its name says that it numbers people or cases.
    """
    values = pairs[VALUE].n_unique()
    return values < pairs.height and (values >= FEWEST or rank_of(name, identifying=True) != OTHERS)


def _counts_more(source: TableSource, persons: Sequence[str], name: str) -> bool:
    """Whether the other columns of a person seem to tell more apart than people."""
    return _counts_events(source, persons, name) or _stays_the_same(source, persons, name)


def _stays_the_same(source: TableSource, persons: Sequence[str], name: str) -> bool:
    """Whether those who have a number in common agree in what people keep for life, far more often than by chance.

    In [clinic, patient] those with the same number are different people, unless the clinics share their numbers; in
    [ward, patient] they are one person.
    """
    kept = [column for column in source.columns if keeps_for_life(column) and column not in persons][:MOST_KEPT]
    if not kept or numbering(name) is not Numbering.PEOPLE:
        return False
    shown = with_people(source.count_shown([*persons, *kept]), persons).unique(
        PEOPLE, keep="first", maintain_order=True
    )
    numbers = person_keys([shown[name]])
    told = [found for column in kept if (found := _agreement(numbers, shown[column])).is_told]
    return bool(told) and all(one.share >= MOSTLY for one in told) and any(one.holds for one in told)


def _agreement(numbers: pl.Series, values: pl.Series) -> Agreement:
    """How often people with the same number have the same value; each person counts once."""
    keys = spelling_keys(values)
    known = numbers.is_not_null() & keys.is_not_null() & (values != SUPPRESSED)
    codes, coded = (_dense(column.filter(known)) for column in (numbers, keys))
    once = np.ones(len(codes), dtype=np.int64)
    return agreement(codes, coded, once, missing=(_after(codes), _after(coded)))


def _dense(column: pl.Series) -> Codes:
    codes: Codes = (column.rank("dense").cast(pl.UInt32) - 1).to_numpy()
    return codes


def _after(codes: Codes) -> int:
    return int(codes.max(initial=0)) + 1


def _counts_events(source: TableSource, persons: Sequence[str], name: str) -> bool:
    """Whether the other columns of a person seem to tell cases, stays or dates apart, not people."""
    others = [other for other in persons if other != name]
    numbers_people = numbering(name) is Numbering.PEOPLE
    return (numbers_people and any(map(tells_events, others))) or _adds_nothing(source, persons, name)


def _adds_nothing(source: TableSource, persons: Sequence[str], name: str) -> bool:
    """Whether the other columns of a person tell the same people apart: then this one does not number within them.

    In [clinic, patient] a number of a patient occurs in several clinics; in [case, patient] the case says it all.
    """
    shown = present(source, persons)
    others = [other for other in persons if other != name]
    return with_people(shown, others)[PEOPLE].n_unique() == with_people(shown, persons)[PEOPLE].n_unique()
