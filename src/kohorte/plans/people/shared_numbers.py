"""Whether those who share a number are one person: [patient, ward] counts a patient once in each ward, while clinics
that number their own patients give the same number to different people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.data import one_text, person_keys, spelling_keys
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.agreement import FEWEST_CODES, MOSTLY, Agreement, agreement
from kohorte.identifiers.people import Numbering, keeps_for_life, names_a_thing, numbering, within_a_house
from kohorte.in_words import listed
from kohorte.kernels.arrays import Codes
from kohorte.plans.people.numbered_by_content import LARGE, MOST_KEPT, MOST_OTHERS
from kohorte.plans.people.repeated import PEOPLE, absent, with_people
from kohorte.sources import COUNT, TableSource

NUMBER = "\0number"
LEAST_CHANCE = 0.25
"""Columns tell that a number is one person's only if chance alone would let less than this share agree in all of them:
arms of a trial may follow the number in every clinic."""
COUNTED = 0.1
"""Clinics that count their patients use most numbers of a range; if fewer numbers than this share have a neighbour,
they are no counters."""
FAR_FROM_CHANCE = 5
"""So many times as many numbers must be shared as by chance. All our own choice."""
LONGEST = 17
"""So many digits of a number are looked at, the last ones."""


def one_person(source: TableSource, persons: Sequence[str], name: str) -> str:
    """Why those who share a value of one of the columns of a person seem to be one person; empty if they do not.

    What people keep for life decides, where there is such a column that tells. Otherwise it is the name of another
    column, or that those who share a number agree in the other columns, or that the numbers are no counters.
    """
    people = _people(source, persons, name)
    kept = [column for column in people.columns if keeps_for_life(column)]
    told = {column: found for column in kept if (found := _agreement(people, column)).is_told}
    if told:
        agree = all(one.share >= MOSTLY for one in told.values()) and any(one.holds for one in told.values())
        return _agreeing(name, list(told)) if agree else ""
    if numbering(name) is not Numbering.PEOPLE:
        return ""
    if within := [column for column in persons if column != name and within_a_house(column)]:
        return f"{within[0]!r} hardly numbers people of its own, by its name"
    if alike := _alike(people, [column for column in people.columns if column not in (NUMBER, PEOPLE, *kept)]):
        return _agreeing(name, alike)
    shared = _share_sparse_numbers(people[NUMBER])
    return f"the values of {name!r} are no counters, and are shared far more often than by chance" if shared else ""


def _agreeing(name: str, columns: Sequence[str]) -> str:
    return f"those with the same {name!r} nearly always agree in {listed(list(map(repr, columns)))}"


def _people(source: TableSource, persons: Sequence[str], name: str) -> pl.DataFrame:
    """The people whom the columns tell apart, one row each, with their number and what they may keep.

    Of very many, a part of the numbers: all people with a number or none.
    """
    free = [column for column in source.columns if column not in persons]
    kept = [column for column in free if keeps_for_life(column)][:MOST_KEPT]
    others = [column for column in free if not names_a_thing(column) and column not in kept][:MOST_OTHERS]
    shown = source.count_shown([*persons, *kept, *others]).filter(~absent(name))
    shown = shown.with_columns(person_keys([shown[name]]).alias(NUMBER)).drop_nulls(NUMBER)
    if shown.height > LARGE:
        shown = shown.filter(pl.col(NUMBER).hash(0) % (shown.height // LARGE + 1) == 0)
    people = with_people(shown, persons).unique(PEOPLE, keep="first", maintain_order=True)
    return people.select(NUMBER, PEOPLE, *kept, *others)


def _alike(people: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """The columns in which people with the same number agree, if chance would hardly let them agree in all of these.

    A copy of the number tells nothing, nor does what follows the order of the numbers, such as the year.
    """
    found = [column for column in columns if _agreement(people, column).holds]
    found = [column for column in found if _is_shared(people, column) and not _follows_the_order(people, column)]
    if not found:
        return []
    together = people.with_columns(one_text([people[column] for column in found]).alias(PEOPLE))
    return found if _agreement(together, PEOPLE).by_chance < LEAST_CHANCE else []


def _is_shared(people: pl.DataFrame, column: str) -> bool:
    """Whether different numbers have the same value, so that it is no copy of the number."""
    return people[column].n_unique() <= MOSTLY * people[NUMBER].n_unique()


def _follows_the_order(people: pl.DataFrame, column: str) -> bool:
    """Whether neighbouring numbers agree nearly as often as equal ones."""
    ordered = people.with_columns(_in_order(people[NUMBER]), pl.int_range(pl.len()).over(NUMBER).alias(COUNT))
    moved = ordered.with_columns(pl.col(NUMBER) + pl.col(COUNT) % 2)
    found = _agreement(moved.with_columns(pl.col(NUMBER).cast(pl.String)), column)
    return found.share > (1 + found.by_chance) / 2


def _in_order(numbers: pl.Series) -> pl.Series:
    """The rank of each number: by its digits, then by its text."""
    order = pl.DataFrame([_digits(numbers).alias(COUNT), numbers]).unique().sort(COUNT, NUMBER)[NUMBER]
    return numbers.replace_strict(order, pl.int_range(len(order), eager=True)).alias(NUMBER)


def _digits(numbers: pl.Series) -> pl.Series:
    digits = numbers.str.replace_all(r"[^0-9]", "").str.tail(LONGEST)
    return digits.cast(pl.Int64, strict=False)


def _share_sparse_numbers(numbers: pl.Series) -> bool:
    """Whether many people share numbers that nobody counted: drawn at random, they would hardly coincide."""
    digits = _digits(numbers).drop_nulls()
    different = digits.unique().to_numpy()
    if len(different) < FEWEST_CODES or len(different) < numbers.n_unique() * MOSTLY:
        return False
    if max(_with_neighbours(different), _with_neighbours(np.unique(different // 10))) >= COUNTED:
        return False
    people = digits.value_counts()["count"]
    shared, span = int((people > 1).sum()), int(different.max() - different.min()) + 1
    return shared >= FEWEST_CODES and shared >= FAR_FROM_CHANCE * len(digits) ** 2 / (2 * span)


def _with_neighbours(different: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """The share of different numbers whose next or previous number occurs, too."""
    near = np.diff(np.sort(different)) == 1
    return float((np.append(near, False) | np.insert(near, 0, False)).mean())


def _agreement(people: pl.DataFrame, column: str) -> Agreement:
    """How often people with the same number have the same value; each person counts once."""
    numbers, values = people[NUMBER], people[column]
    keys = spelling_keys(values)
    known = numbers.is_not_null() & keys.is_not_null() & (values != SUPPRESSED)
    codes, coded = (_dense(one.filter(known)) for one in (numbers, keys))
    once = np.ones(len(codes), dtype=np.int64)
    return agreement(codes, coded, once, missing=(_after(codes), _after(coded)))


def _dense(column: pl.Series) -> Codes:
    codes: Codes = (column.rank("dense").cast(pl.UInt32) - 1).to_numpy()
    return codes


def _after(codes: Codes) -> int:
    return int(codes.max(initial=0)) + 1
