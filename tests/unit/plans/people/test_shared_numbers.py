"""Those who share a number are one person in [patient, site], and different people where sites number their own."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl
import pytest

from kohorte.data import Role
from kohorte.plans.people.contradicted_person import contradictions
from kohorte.plans.person import Person
from kohorte.plans.unit import Unit
from kohorte.sources import FrameSource


def doubted(frame: pl.DataFrame, persons: tuple[str, ...]) -> list[str]:
    """The columns that contradict the person of a table."""
    unit = Unit(Person(persons), None, dict.fromkeys(persons, Role.IDENTIFYING))
    found = contradictions(FrameSource(frame), unit)
    return [column for one in found for column in one.columns]


def counters(rng: random.Random, count: int) -> list[str]:
    first = rng.choice([1, 1_000, 20_240_000])
    return [f"{rng.choice(['', 'P'])[:1]}{first + number}" for number in range(count)]


def with_gaps(rng: random.Random, count: int) -> list[str]:
    return [f"{number:04d}" for number in sorted(rng.sample(range(1, 3 * count), count))]


def hashes(rng: random.Random, count: int) -> list[str]:
    return [f"{rng.getrandbits(64):016x}" for _ in range(count)]


NUMBERS: tuple[Callable[[random.Random, int], list[str]], ...] = (counters, with_gaps, hashes)


def made_person(rng: random.Random) -> dict[str, str]:
    """What somebody keeps, in every row."""
    return {"zip": f"{rng.randrange(40):05d}", "insurance": rng.choice("ABC"), "sex": rng.choice("fm")}


def frame_of(rows: list[dict[str, str]], rng: random.Random, *, kept: tuple[str, ...]) -> pl.DataFrame:
    """The rows in a random order, with what people keep and a value of each row."""
    rng.shuffle(rows)
    shown = [{name: row[name] for name in ("patient_id", "site", *kept)} for row in rows]
    return pl.DataFrame(shown).with_columns(pl.Series("result", [str(rng.randrange(50)) for _ in rows]))


def one_hospital(rng: random.Random, *, kept: tuple[str, ...], numbers: list[str]) -> pl.DataFrame:
    """Patients with one number in all sites, most of whom were in several."""
    rows = []
    for number in numbers:
        person = made_person(rng)
        sites = rng.sample("abcd", rng.randint(1, 4))
        rows += [person | {"patient_id": number, "site": site} for site in sites for _ in range(rng.randint(1, 2))]
    return frame_of(rows, rng, kept=kept)


def own_numbers(
    rng: random.Random, *, kept: tuple[str, ...], numbering: Callable[[random.Random, int], list[str]]
) -> pl.DataFrame:
    """Sites that number patients of their own, with as many as they have."""
    rows = []
    start = rng.getrandbits(32)
    for site in "abcd":
        count = rng.randint(40, 150)
        given = numbering(random.Random(start), count) if numbering is counters else numbering(rng, count)
        for number in given:
            person = made_person(rng) | {"patient_id": number, "site": site}
            rows += [person] * rng.randint(1, 3)
    return frame_of(rows, rng, kept=kept)


@pytest.mark.parametrize("kept", [("sex",), ("zip",), ("zip", "insurance"), ("sex", "zip")], ids=",".join)
@pytest.mark.parametrize("numbering", NUMBERS)
def test_a_number_that_one_person_has_in_all_sites_is_told_by_what_people_keep(
    numbering: Callable[[random.Random, int], list[str]], kept: tuple[str, ...]
) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        frame = one_hospital(rng, kept=kept, numbers=numbering(rng, rng.randint(60, 150)))
        assert doubted(frame, ("patient_id", "site")) == ["patient_id"]
        assert doubted(frame, ("patient_id",)) == []


@pytest.mark.parametrize("kept", [(), ("sex",), ("zip",), ("zip", "insurance"), ("sex", "zip")], ids=",".join)
@pytest.mark.parametrize("numbering", NUMBERS)
def test_numbers_that_sites_give_on_their_own_are_no_contradiction(
    numbering: Callable[[random.Random, int], list[str]], kept: tuple[str, ...]
) -> None:
    for seed in range(4):
        frame = own_numbers(random.Random(seed), kept=kept, numbering=numbering)
        assert doubted(frame, ("site", "patient_id")) == []


def test_numbers_that_nobody_counted_are_those_of_one_person_without_any_other_column() -> None:
    for seed in range(4):
        rng = random.Random(seed)
        assert doubted(one_hospital(rng, kept=(), numbers=hashes(rng, 80)), ("site", "patient_id")) == ["patient_id"]


def test_counters_without_any_other_column_that_tells_are_left_to_the_author() -> None:
    rng = random.Random(1)
    assert doubted(one_hospital(rng, kept=(), numbers=counters(rng, 80)), ("site", "patient_id")) == []


@pytest.mark.parametrize("column", ["ward", "Station", "department", "diagnosis", "seq"])
def test_wards_and_diagnoses_number_no_people_of_their_own(column: str) -> None:
    rng = random.Random(1)
    frame = one_hospital(rng, kept=(), numbers=counters(rng, 80)).rename({"site": column})
    assert doubted(frame, ("patient_id", column)) == ["patient_id"]


def test_a_ward_that_numbers_its_own_patients_is_believed_if_those_with_the_same_number_differ_in_sex() -> None:
    frame = own_numbers(random.Random(1), kept=("sex",), numbering=counters).rename({"site": "ward"})
    assert doubted(frame, ("patient_id", "ward")) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("arm", lambda number: "AB"[random.Random(number).randrange(2)]),
        ("year", lambda number: str(2000 + int(number[1:]) // 20)),
        ("copy", lambda number: f"0{number}"),
    ],
)
def test_what_a_number_itself_tells_does_not_make_it_a_persons(column: str, value: Callable[[str], str]) -> None:
    """Arms of a trial by the number, years in the order of the numbers, and the number in another column."""
    numbers = [f"P{number:04d}" for number in range(1, 121)]
    cells = [(number, site) for site in "abc" for number in numbers for _ in range(2)]
    frame = pl.DataFrame(
        {
            "patient_id": [number for number, _ in cells],
            "site": [site for _, site in cells],
            column: [value(number) for number, _ in cells],
        }
    )
    assert doubted(frame, ("site", "patient_id")) == []


def test_a_number_without_a_telling_name_is_told_by_what_people_keep_for_life() -> None:
    rng = random.Random(1)
    frame = one_hospital(rng, kept=("sex",), numbers=counters(rng, 80)).rename({"patient_id": "Nr"})
    assert doubted(frame, ("Nr", "site")) == ["Nr"]
    own = own_numbers(rng, kept=("sex",), numbering=counters).rename({"patient_id": "Nr"})
    assert doubted(own, ("Nr", "site")) == []
