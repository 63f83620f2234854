"""Whom the rows of a table are about: said by the table, by its original, or by the run that made it."""

import random
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.risks.shown.whom import shown_people

COLUMNS = ["patient", "ward", "sex", "blood", "case"]


def plan(k=2, *, limit=1.0, algorithm="optimal", **more):
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "sex": {"role": "quasi-identifying"},
            "blood": {"role": "sensitive"},
            "case": {"role": "insensitive"},
        },
        models=[KAnonymity(k)],
        suppression_limit=limit,
        search=ko.SearchOptions(algorithm=algorithm),
        **({"person": "patient"} | more),
    )


def stays(seed, rows=40, people=15):
    """Random stays; each is a case of its own, and wards have two digits."""
    chance = random.Random(seed)
    cells = [
        (
            f"p{chance.randrange(people)}",
            chance.choice(["11", "12", "21", "22", None]),
            chance.choice("fm"),
            chance.choice("AB0"),
            f"c{number}",
        )
        for number in range(rows)
    ]
    return pl.DataFrame(cells, schema=COLUMNS, orient="row")


def people_by_cells(table, cells):
    """The people of each class by its cells, in plain Python; suppressed rows are left out."""
    found = defaultdict(set)
    for row, shown in zip(table.iter_rows(named=True), cells, strict=True):
        if set(shown) != {"*"}:
            found[shown].add(row["patient"])
    return {shown: len(people) for shown, people in found.items()}


def counted(shown):
    return dict(zip(shown.shown().iter_rows(), shown.counted.tolist(), strict=True))


def released(table, *, wards):
    """The table as a release shows it: the first digit of the ward, and nothing of some wards."""
    cells = []
    for _, ward, sex, _, _ in table.iter_rows():
        starred = "*" if ward is None else ward[0] + "*"
        cells.append(("*", "*") if starred in wards else (None if ward is None else starred, sex))
    frame = table.with_columns(ward=pl.Series([cell[0] for cell in cells]), sex=pl.Series([cell[1] for cell in cells]))
    return cells, frame.drop("patient").sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize("seed", range(10))
def test_a_raw_table_says_itself_who_is_in_its_classes(seed):
    table = stays(seed)
    shown = shown_people(table, plan())
    assert counted(shown) == people_by_cells(table, list(zip(table["ward"], table["sex"], strict=True)))
    assert shown.unit.many == "people"
    assert shown.people.everybody == shown.people.count == table["patient"].n_unique()


@pytest.mark.parametrize("seed", range(10))
def test_the_original_says_who_is_in_the_classes_of_a_release(seed):
    table = stays(seed)
    wards = random.Random(seed).choice([(), ("1*",), ("1*", "2*")])
    cells, release = released(table, wards=wards)
    shown = shown_people(release, plan(), original=table, most_suppressed=40)
    assert counted(shown) == people_by_cells(table, cells)
    assert shown.people.everybody == table["patient"].n_unique()
    assert shown.suppressed == sum(set(shown) == {"*"} for shown in cells)


def test_suppressed_rows_that_are_a_class_have_people_too():
    table = stays(3)
    _, release = released(table, wards=("1*",))
    shown = shown_people(release, plan(limit=0.0), original=table, most_suppressed=0)
    hidden = {row["patient"] for row in table.iter_rows(named=True) if (row["ward"] or "")[:1] == "1"}
    assert counted(shown)[("*", "*")] == len(hidden)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "local_recoding"])
@pytest.mark.parametrize("seed", range(3))
def test_the_run_that_made_a_release_knows_its_people(seed, algorithm):
    table = stays(seed).drop_nulls()
    own = plan(2, algorithm=algorithm, limit=0.3)
    release = ko.anonymize(table, own)
    shown = shown_people(release.data, own, known=release.people)
    assert shown.counted.min() == release.verification.smallest_class
    assert shown.people.everybody == table["patient"].n_unique()
    assert shown.people.rows.sum() == shown.kept_rows


def test_people_are_not_known_without_the_column_and_the_original():
    shown = shown_people(stays(1).drop("patient"), plan())
    assert shown.people is None
    assert shown.unit.many == "rows"
    assert shown.counted is shown.sizes


def test_rows_are_counted_where_every_row_is_another_person():
    shown = shown_people(stays(1), plan(person="none"))
    assert shown.people is None


def test_a_row_without_a_person_is_refused():
    table = stays(1).with_columns(patient=pl.lit(None, pl.String))
    with pytest.raises(ko.InputError) as caught:
        shown_people(table, plan())
    assert caught.value.code == "person-missing"
    with pytest.raises(ko.InputError, match="the original table") as caught:
        shown_people(table.drop("patient"), plan(), original=table)
    assert caught.value.code == "person-missing"


def test_a_tie_between_different_people_is_refused():
    table = stays(1).with_columns(case=pl.lit("c"))
    with pytest.raises(ko.InputError) as caught:
        shown_people(table, plan(linked_by="case"))
    assert caught.value.code == "linked-by-shared"


def test_another_table_is_not_taken_for_the_original():
    table = stays(1)
    with pytest.raises(ko.InputError) as caught:
        shown_people(table.drop("patient"), plan(), original=table.head(39))
    assert caught.value.code == "people-unclear"


@pytest.mark.parametrize("seed", range(5))
def test_sets_of_classes_are_those_of_the_definition(seed):
    table = stays(seed, rows=30, people=10)
    shown = shown_people(table, plan(person={"column": "patient", "attacker_knows": "all_rows"}))
    own = defaultdict(set)
    for row in table.iter_rows(named=True):
        own[row["patient"]].add((row["ward"], row["sex"]))
    sizes = sorted(list(own.values()).count(classes) for classes in own.values())
    set_of, people = shown.people.sets(np.arange(shown.classes))
    assert sorted(people[set_of].tolist()) == sizes


@pytest.mark.parametrize("told", ["by the table", "by its original"])
def test_sensitive_values_stand_beside_the_people(told):
    table = stays(2)
    if told == "by the table":
        shown = shown_people(table, plan())
    else:
        shown = shown_people(table.drop("patient"), plan(), original=table)
    beside = zip(shown.people.person.tolist(), shown.people.text("blood"), strict=True)
    people = sorted(set(table["patient"]))
    assert {(people[person], value) for person, value in beside} == set(table.select("patient", "blood").iter_rows())


def test_rows_that_all_show_nothing_are_a_class_of_their_people() -> None:
    stays = pl.DataFrame({"patient": ["p"] * 10 + ["q", "r", "s", "p"], "ward": ["1"] * 10 + ["2"] * 4})
    plan = ko.Plan(
        attributes={"patient": {"role": "identifying"}, "ward": {"role": "quasi-identifying"}},
        models=[KAnonymity(2)],
        person="patient",
    )
    profile = ko.risk(ko.anonymize(stays, plan), plan)
    assert (profile.people, profile.smallest_class) == (4, 4)
