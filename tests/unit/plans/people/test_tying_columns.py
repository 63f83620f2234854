"""Columns that tie rows of one person together, also where a part of their values is shared by several people."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.tying_columns import tying_columns
from kohorte.sources import FrameSource

PLAN = ko.Plan(
    {"patient": {"role": "identifying"}, "age": {"role": "quasi-identifying"}, "case": {"role": "insensitive"}},  # type: ignore[dict-item]
    [{"model": "k-anonymity", "k": 2}],  # type: ignore[list-item]
    person="patient",  # type: ignore[arg-type]
)


def stays(shared: float, seed: int = 1, people: int = 60) -> pl.DataFrame:
    """Four rows of each person with a case of their own; so many cases are used for two people."""
    chance, rows = random.Random(seed), []
    for number in range(people):
        case = f"case {number // 2 if number < shared * people else 1000 + number}"
        rows += [(f"secret-{number}", str(chance.randrange(20, 25)), case) for _ in range(4)]
    return pl.DataFrame(rows, schema=["patient", "age", "case"], orient="row")


@pytest.mark.parametrize("shared", [0.0, 0.05, 0.2, 0.4])
def test_a_column_that_ties_most_rows_is_noticed_although_some_values_are_shared(shared: float) -> None:
    [note] = person_notes(FrameSource(stays(shared)), PLAN)
    assert "'case' stays in the release and ties rows of one person together" in note
    assert ("linked_by" in note) is (shared == 0), "a column whose values are shared cannot be stated"
    assert "secret" not in note
    if shared == 0:
        assert person_notes(FrameSource(stays(shared)), replace(PLAN, linked_by="case")) == ()


def test_a_column_of_which_most_people_share_their_values_ties_nobody() -> None:
    assert person_notes(FrameSource(stays(0.8)), PLAN) == ()


def test_one_frequent_word_does_not_hide_that_a_column_ties_rows() -> None:
    table = stays(0).with_columns(
        case=pl.when(pl.int_range(pl.len()) % 4 > 0).then("case").otherwise(pl.lit("unknown"))
    )
    assert len(person_notes(FrameSource(table), PLAN)) == 1


def people_tied(rows: list[tuple[str, str]]) -> tuple[int, int]:
    """The people with several rows, and those of them most of whose rows are tied, by a count of its own."""
    of_person: defaultdict[str, list[str]] = defaultdict(list)
    for person, value in rows:
        of_person[person].append(value)
    with_value = Counter(value for _, value in rows)
    several = {person: values for person, values in of_person.items() if len(values) > 1}
    tied = 0
    for values in several.values():
        own = Counter(values)
        least = (1 + len(values) / len(rows)) / 2
        ties = sum(count for value, count in own.items() if count > 1 and count > with_value[value] * least)
        tied += ties > len(values) / 2
    return len(several), tied


def test_random_columns_are_judged_as_a_count_of_its_own_does() -> None:
    noted = 0
    for seed in range(150):
        chance = random.Random(seed)
        people, values = chance.randint(5, 30), chance.choice([3, 20, 60, 400])
        tie = chance.random()
        rows = []
        for _ in range(chance.randint(20, 120)):
            person = chance.randrange(people)
            value = f"v{person}" if chance.random() < tie else f"w{chance.randrange(values)}"
            rows.append((f"p{person}", value))
        several, tied = people_tied(rows)
        table = FrameSource(pl.DataFrame(rows, schema=["person", "column"], orient="row"))
        found = list(tying_columns(table, ["person"], ["column"], several=several))
        if tied >= min(5, several) and 2 * tied > several:
            noted += 1
            assert found
        elif found:
            assert found[0].own >= 0.9 * found[0].repeated
    assert noted >= 30


def test_a_person_with_most_rows_has_most_of_every_value_by_chance() -> None:
    chance = random.Random(1)
    whom = ["p0"] * 900 + [f"p{number}" for number in range(1, 41)]
    table = FrameSource(pl.DataFrame({"person": whom, "diagnosis": [chance.choice("abcde") for _ in whom]}))
    assert list(tying_columns(table, ["person"], ["diagnosis"], several=1)) == []


@pytest.mark.parametrize("name", ["adult", "cup"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_columns_of_public_tables_tie_nobody(name: str, shuffled: bool, benchmark_folder: Path) -> None:
    frame = ko.read_table(benchmark_folder / f"{name}.csv", separator=";").frame.head(10_000)
    people = (pl.int_range(frame.height, eager=True) // 3).cast(pl.String).alias("\0whom")
    table = FrameSource(frame.with_columns(people.shuffle(seed=1) if shuffled else people))
    assert list(tying_columns(table, ["\0whom"], frame.columns, several=frame.height // 3)) == []


def test_columns_of_a_cohort_tie_nobody_unless_they_belong_to_one_person() -> None:
    frame = ko.cohort(600, seed=3)
    people = pl.Series("whom", [str(row // 3) for row in range(600)])
    table = FrameSource(frame.with_columns(people))
    assert list(tying_columns(table, ["whom"], frame.columns, several=200)) == []
    repeated = FrameSource(pl.concat([frame, frame.with_columns(admission_date=frame["admission_date"].reverse())]))
    found = [one.column for one in tying_columns(repeated, ["ssn"], frame.columns, several=600)]
    assert set(found) == {"ssn", "name", "birth_date"}
