"""Attempts to get identifiers or rare people past a check: under other names, in other roles, by other conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from kohorte.exchange.checking.check import Check
from kohorte.exchange.holding import Holding
from kohorte.plans import Plan
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}
TABLE = patients(1_400, people=700, treated=350)
PEOPLE = sorted(set(TABLE["patient"]))


def of_person(make: Callable[[int], str]) -> pl.Series:
    """A column in which all rows of a person have the same text."""
    texts = {person: make(at) for at, person in enumerate(PEOPLE)}
    return pl.Series([texts[person] for person in TABLE["patient"]], dtype=pl.String)


def with_column(role: str = "sensitive", name: str = "field_7") -> Holding:
    attributes = {**PLAN["attributes"], name: {"role": role}}
    return replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))


def treatment(found: Check, name: str = "field_7") -> str:
    return next(one["treatment"] for one in found.record["verdicts"]["verdicts"] if one["attribute"] == name)


FAMILIES = ("Huber", "Gruber", "Pichler", "Hofer", "Moser", "Steiner")
SMUGGLED = {
    "a code for each person": of_person(lambda at: f"K{at * 7919 % 100_000:05}"),
    "a number for each person": of_person(lambda at: str(at + 1)),
    "family names of several people": of_person(lambda at: FAMILIES[at % len(FAMILIES)]),
    "social security numbers": of_person(lambda at: ["1237 010180", "nothing", "none"][at % 3]),
    "numbers of insured people": of_person(lambda at: ["A123456780", "T555558879"][at % 2]),
    "addresses": of_person(lambda at: f"Hauptstraße {at % 5}"),
    "towns": of_person(lambda at: ["Graz", "Linz", "Wien", "Gries am Brenner"][at % 4]),
}
HIDDEN = {
    "streets": of_person(lambda at: ["Hauptstraße", "Kirchengasse", "Lindenallee"][at % 3]),
    "districts of a town": of_person(lambda at: ["Favoriten", "DÖBLING ", "Ottakring"][at % 3]),
    "Austrian postal codes": of_person(lambda at: ["1010", "1230", "8010", "2344"][at % 4]),
    "Swiss postal codes": of_person(lambda at: f"80{at % 4 + 1:02}"),
    "German postal codes, some of them not known": of_person(lambda at: ["10115", "80331", "unbekannt"][at % 3]),
    "postal codes with the letter of the country": of_person(lambda at: ["A 1010", "A 8010"][at % 2]),
    "dates as eight digits, some of them not known": of_person(lambda at: ["20250314", "20250401", "n/a"][at % 3]),
    "dates as eight digits, day first": of_person(lambda at: ["14032025", "01042025"][at % 2]),
    "dates as six digits": of_person(lambda at: ["140325", "310125"][at % 2]),
    "dates with blanks": of_person(lambda at: ["14 03 2025", "1 4 2025"][at % 2]),
    "dates in wide digits": of_person(lambda at: ["２０２５-０３-１４", "２０２５-０４-０１"][at % 2]),
    "names of months": of_person(lambda at: ["Jänner", "März", "Oktober"][at % 3]),
    "days of the week": of_person(lambda at: ["Montag", "Dienstag"][at % 2]),
    "e-mail addresses in words": of_person(lambda at: ["anna at home dot at", "ben at home dot at"][at % 2]),
    "e-mail addresses with invisible characters": of_person(lambda at: ["a\u200b@home.at", "b@\u200bhome.at"][at % 2]),
    "telephone numbers with dots": of_person(lambda at: ["0664.123.4567", "0316.44.55.66"][at % 2]),
    "telephone numbers, some of them not known": of_person(lambda at: ["06641234567", "06647654321", "keine"][at % 3]),
    "network addresses of devices": of_person(lambda at: ["0016.3e01.0001", "00163e010002"][at % 2]),
    "numbers of telephones": of_person(lambda at: ["490154203237518", "356938035643809"][at % 2]),
    "social security numbers with a dash": of_person(lambda at: ["1237-010180", "none"][at % 2]),
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_an_identifier_under_a_harmless_name_and_role_is_not_in_an_answer(check: Checked, what: str) -> None:
    table = TABLE.with_columns(SMUGGLED[what].alias("field_7"))
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), table, with_column())
    assert treatment(found) == "drop"
    assert found.draft is not None
    assert "field_7" not in found.draft.found.table.columns


def treatments(check: Checked, columns: dict[str, pl.Series]) -> dict[str, str]:
    """What happens to each of several columns with neutral names that the plan calls sensitive."""
    names = {what: f"field_{at}" for at, what in enumerate(columns)}
    table = TABLE.with_columns(column.alias(names[what]) for what, column in columns.items())
    attributes = {**PLAN["attributes"], **{name: {"role": "sensitive"} for name in names.values()}}
    house = replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))
    found = check(request(IBUPROFEN, ("age", "sex", *names.values())), table, house)
    return {what: treatment(found, name) for what, name in names.items()}


def test_identifiers_are_recognised_in_other_spellings_and_among_cells_that_say_nothing(check: Checked) -> None:
    assert treatments(check, HIDDEN) == dict.fromkeys(HIDDEN, "drop")


def test_people_with_a_sensitive_value_of_their_own_are_left_out(check: Checked) -> None:
    weights = of_person(lambda at: "210" if at >= 697 else str(60 + at % 20))
    table = TABLE.with_columns(weights.alias("field_7"))
    house = replace(with_column(), contents={"field_7": "kg"})
    found = check(request(IBUPROFEN, ("age", "sex", "field_7")), table, house)
    assert treatment(found) == "suppress values"
    assert found.draft is not None
    shown = found.draft.found.table.in_memory("test")["field_7"]
    assert "210" not in set(shown)
    people = pl.DataFrame({"value": found.draft.rows.frame["field_7"], "person": found.draft.rows.people})
    assert people.group_by("value").agg(pl.col("person").n_unique())["person"].min() >= 5


@pytest.mark.parametrize(
    "condition",
    [
        {"attribute": "field_7", "is": "A123456780"},
        {"not": {"attribute": "field_7", "is": "A123456780"}},
        {"all": [IBUPROFEN, {"attribute": "field_7", "in": ["A123456780", "T555558879"]}]},
    ],
)
def test_a_condition_on_a_column_that_identifies_by_its_content_is_never_answered(
    check: Checked, condition: dict[str, Any]
) -> None:
    table = TABLE.with_columns(SMUGGLED["numbers of insured people"].alias("field_7"))
    found = check(request(condition, ("age", "sex")), table, with_column())
    assert found.draft is None
    assert any("which identifies them" in reason for reason in found.record["recommendation"]["reasons"])


RARE = patients(900, people=700, treated=80)
"""80 people get methadone, for which 100 are needed."""
NONE_HAS_IT = {"attribute": "drug", "is": "M01AE01"}
"""A frequent drug that nobody gets here."""


@pytest.mark.parametrize(
    "condition",
    [
        METHADONE,
        {"attribute": "drug", "in": ["methadone", "Methadone", " METHADONE "] * 20},
        {"any": [METHADONE] * 40},
        {"any": [METHADONE, NONE_HAS_IT]},
        {"attribute": "drug", "in": ["methadone", "M01AE01"]},
        {"not": IBUPROFEN},
        {"not": {"not": METHADONE}},
        {"all": [{"not": IBUPROFEN}, {"not": NONE_HAS_IT}]},
        {"attribute": "drug", "starts_with": "meth"},
    ],
    ids=["is", "in", "any", "any other", "in others", "not", "not not", "none of", "starts with"],
)
def test_a_rare_condition_needs_as_many_people_however_it_is_written(check: Checked, condition: dict[str, Any]) -> None:
    found = check(request(condition, ("age", "sex")), RARE)
    assert found.record["global look-up"]["needed_people"] >= 100
    assert found.draft is None


MEMBER = "member of parliament"
"""Expected five times among the people of the area, which is too few for a condition."""
MEMBERS = patients(500, people=500, treated=10).with_columns(
    pl.when(pl.col("patient") > "P0000400").then(pl.lit(MEMBER)).otherwise(pl.col("occupation")).alias("occupation")
)


@pytest.mark.parametrize(
    "values",
    [
        [MEMBER],
        [MEMBER, MEMBER.upper(), MEMBER.title(), f" {MEMBER}", f"{MEMBER} ", MEMBER.capitalize()],
        [MEMBER.replace(" ", " " * blanks) for blanks in range(1, 8)],
        [MEMBER, "managers", "professionals"],
    ],
    ids=["once", "capital letters", "blanks", "with occupations that nobody has here"],
)
def test_a_known_property_that_is_rare_in_the_world_is_rare_however_it_is_written(
    check: Checked, values: list[str]
) -> None:
    found = check(request({"all": [IBUPROFEN, {"attribute": "occupation", "in": values}]}, ("age", "sex")), MEMBERS)
    assert found.record["draft"]["draft"] is None
    assert "can fit fewer than 20 people" in found.record["draft"]["reason"]
    assert found.record["global look-up"]["needed_people"] >= 300


def test_a_span_in_a_list_of_ages_does_not_make_one_age_more_frequent(check: Checked) -> None:
    asked = [{"all": [IBUPROFEN, {"attribute": "age", "in": values}]} for values in (["47"], ["47", "20-50"])]
    needed = [check(request(one), TABLE).record["global look-up"]["needed_people"] for one in asked]
    assert needed[0] <= needed[1]
