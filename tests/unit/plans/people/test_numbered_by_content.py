"""Columns that number people by their content alone, and columns that only look like it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import Role
from kohorte.plans.people.numbered_by_content import numbered_by_content
from kohorte.plans.people.repeated_people import repeated_people
from kohorte.plans.person import Person
from kohorte.plans.proposal import propose
from kohorte.sources import FrameSource

Columns = dict[str, list[Any]]


def found(columns: Columns) -> tuple[str, tuple[str, ...]] | None:
    one = numbered_by_content(FrameSource(pl.DataFrame(columns)), {}, list(columns))
    return None if one is None else (one.column, one.agreeing)


def people(number: int = 100, each: int = 3, *, errors: int = 0, seed: int = 1) -> Columns:
    """People with some rows each, in a random order; some cells of sex and birth are wrong."""
    chance = random.Random(seed)
    codes = chance.sample(range(10_000, 99_999), number)
    own = {
        code: (
            chance.choice("fm"),
            f"{chance.randrange(1930, 2005)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
        )
        for code in codes
    }
    whom = [code for code in codes for _ in range(each)]
    chance.shuffle(whom)
    sexes, births = [own[code][0] for code in whom], [own[code][1] for code in whom]
    for at in chance.sample(range(len(whom)), errors):
        sexes[at] = "m" if sexes[at] == "f" else "f"
    return {
        "Nr": whom,
        "sex": sexes,
        "birth_date": births,
        "ward": [chance.choice("ABCD") for _ in whom],
        "diagnosis": [chance.choice(["flu", "gout", "HIV", "cold"]) for _ in whom],
    }


def renamed(columns: Columns, **names: str) -> Columns:
    return {names.get(name, name): values for name, values in columns.items()}


@pytest.mark.parametrize("errors", [0, 4])
def test_repeated_codes_whose_rows_agree_in_sex_and_birth_number_people(errors: int) -> None:
    assert found(people(errors=errors)) == ("Nr", ("sex", "birth_date"))


@pytest.mark.parametrize("names", [("Geschlecht", "Geburtsdatum"), ("geschl", "geb"), ("gender", "yob")])
def test_other_names_for_what_people_keep(names: tuple[str, str]) -> None:
    assert found(renamed(people(), sex=names[0], birth_date=names[1])) == ("Nr", names)


def test_codes_are_noticed_without_a_column_that_says_what_people_keep() -> None:
    chance, columns = random.Random(4), renamed(people(), sex="G", birth_date="D")
    assert found(columns) == ("Nr", ("G", "D"))
    homes = {code: str(chance.randrange(10_000, 10_030)) for code in columns["Nr"]}
    ages = {code: chance.randrange(20, 50) for code in columns["Nr"]}
    columns = {
        "Nr": columns["Nr"],
        "home": [homes[code] for code in columns["Nr"]],
        "years": [ages[code] for code in columns["Nr"]],
        "diagnosis": columns["diagnosis"],
    }
    assert found(columns) == ("Nr", ("home", "years"))


def test_of_people_and_their_cases_the_people_are_named() -> None:
    columns = people(each=4)
    cases = {code: iter([0, 0, 1, 1]) for code in columns["Nr"]}
    columns = {"Folge": [f"{code}{next(cases[code])}" for code in columns["Nr"]], **columns}
    assert found(columns) == ("Nr", ("sex", "birth_date"))


def test_a_code_that_tells_nothing_about_people_is_none() -> None:
    columns = people()
    chance = random.Random(2)
    columns["Nr"] = [chance.choice(columns["Nr"]) for _ in columns["Nr"]]
    assert found(columns) is None


def test_codes_of_places_and_diseases_tell_other_columns_and_nobody() -> None:
    chance = random.Random(3)
    zips = {str(code): (f"city {code % 37}", "AB"[code % 37 > 20]) for code in range(10_000, 10_100)}
    icd = {f"X{at // 10}.{at % 10}": (f"disease {at}", f"chapter {at // 20}") for at in range(100)}
    where, what = chance.choices(sorted(zips), k=400), chance.choices(sorted(icd), k=400)
    columns: Columns = {
        "area": where,
        "city": [zips[code][0] for code in where],
        "state": [zips[code][1] for code in where],
        "key": what,
        "text": [icd[code][0] for code in what],
        "chapter": [icd[code][1] for code in what],
        "sex": chance.choices("fm", k=400),
        "birth_year": chance.choices(range(1930, 2005), k=400),
    }
    assert found(columns) is None
    del columns["sex"], columns["birth_year"]
    assert found(columns) is None


def test_a_table_of_one_row_each_has_nobody_twice() -> None:
    assert found(people(300, 1)) is None


def test_few_codes_say_too_little() -> None:
    assert found(people(9)) is None


def test_the_note_and_the_proposal_name_the_column_and_no_value() -> None:
    frame = pl.DataFrame(people())
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "Nr": {"role": "insensitive"},
                "sex": {"role": "quasi-identifying"},
                "birth_date": {"role": "quasi-identifying"},
                "ward": {"role": "quasi-identifying"},
                "diagnosis": {"role": "sensitive"},
            },
            "models": [
                {"model": "k-anonymity", "k": 2},
                {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
            ],
            "suppression_limit": 0.1,
        }
    )
    facts = "'Nr' has 100 different values in 300 rows, and rows with the same value nearly always agree in 'sex' and"
    for said in (plan, replace(plan, person=Person())):
        certificate = ko.certify(ko.anonymize(frame, said))
        assert str(certificate.verdict.standing) == "amber"
        assert any(facts in reason and "person: Nr" in reason for reason in certificate.verdict.reasons)
    proposal = propose(frame)
    assert proposal.person is not None
    assert proposal.person.columns == ("Nr",)
    assert proposal.plan is not None
    assert proposal.plan.attributes["Nr"].role is Role.IDENTIFYING
    assert ko.anonymize(frame, proposal.plan).verification.people == 100


def test_beside_a_unique_number_of_people_a_number_by_content_is_a_question() -> None:
    columns = people()
    columns["patient_id"] = [f"p{at}" for at in range(300)]
    one = repeated_people(FrameSource(pl.DataFrame(columns)), {})
    assert one is not None
    assert one.columns == ("Nr",)
    assert one.is_question
