"""The report of a plan that counts people: every figure of risk in people, and what all rows of a person tell."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.report.figures.contributions import contributions
from kohorte.report.write import report_of
from support.risk_oracle import PeopleAtRisk, Stay

Make = Callable[..., str]


def plan_for(knows: str = "one_row", *, k: int = 3, person: object = None, algorithm: str = "optimal") -> ko.Plan:
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "sex": {"role": "quasi-identifying"},
            "blood": {"role": "sensitive"},
        },
        models=[KAnonymity(k), DistinctLDiversity("blood", 2)],
        suppression_limit=0.05,
        person={"column": "patient", "attacker_knows": knows} if person is None else person,
        search=ko.SearchOptions(algorithm=algorithm),
    )


@pytest.fixture(scope="module")
def stays() -> pl.DataFrame:
    """203 rows of 128 patients; the ward of one of them is unique."""
    chance = random.Random(9)
    blood = {number: chance.choice("AB0") for number in range(128)}
    whom = [*range(128), *(chance.randrange(128) for _ in range(75))]
    rows = [(f"p{n}", chance.choice(["11", "12", "21", "22"]), chance.choice("fm"), blood[n]) for n in whom]
    rows[0] = ("p0", "31", "f", "A")
    return pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood"], orient="row")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(frame: Any, plan: ko.Plan, **options: Any) -> str:
        ko.write_report(tmp_path / "report.html", frame, plan, force=True, **options)
        return words((tmp_path / "report.html").read_text(encoding="utf-8"))

    return made


def words(page: str) -> str:
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " "))


@pytest.mark.parametrize("given", ["release", "table"])
def test_risk_before_and_after_is_in_people(make: Make, stays: pl.DataFrame, given: str) -> None:
    plan = plan_for()
    release = ko.anonymize(stays, plan)
    text = make(stays, plan, release=release if given == "release" else release.data, view="internal")
    people = PeopleAtRisk([Stay(*row[:1], row[1:3]) for row in stays.iter_rows()], 2)
    assert "203 rows (people: 128), 2 quasi-identifiers" in text
    assert f"smallest class {min(people.fewest_alike.values())} person {release.smallest_class} people" in text
    assert f"unique people {len(people.unique_by((0, 1)))} (0.781 %) 0 (0 %)" in text
    assert "The highest risk that a person is found by one of their rows is" in text
    assert "none of 128 people is above the threshold" in text
    assert "People by their risk" in text
    assert "share of the people with a row that is not suppressed" in text
    assert "the figures of risk in this report count rows, not people" not in text
    assert "Rows by" not in text
    assert "unique rows" not in text.lower()


def test_where_the_people_of_a_release_are_unclear_all_figures_count_rows(make: Make, stays: pl.DataFrame) -> None:
    plan = plan_for()
    other = ko.anonymize(stays, plan).data.with_columns(blood=pl.lit("A"))
    text = make(stays, plan, release=other, view="internal")
    assert "203 rows, 2 quasi-identifiers" in text
    assert "Rows by their risk" in text
    assert "Not counted: it is not known whom the rows of the release are about." in text
    facts = report_of(stays, plan, release=other)
    assert facts.table.profile.people_not_counted
    assert facts.judged.profile.people_not_counted


def test_a_release_alone_holds_by_rows_in_sentence_and_table(make: Make, stays: pl.DataFrame) -> None:
    alone = make(ko.anonymize(stays, plan_for()).data, plan_for())
    assert (
        "The table satisfies, counted in rows and not in people, in rows that are not suppressed, k-anonymity (k = 3)"
        in alone
    )
    assert "k-anonymity (k = 3) holds by rows" in alone
    both = make(stays, plan_for(), release=ko.anonymize(stays, plan_for()).data)
    assert "by rows" not in both
    assert "counted in rows" not in both


def test_what_was_added_and_what_the_author_states_stands_beside_the_models(make: Make, stays: pl.DataFrame) -> None:
    page = make(stays, plan_for(k=1), release=ko.anonymize(stays, plan_for(k=1)))
    assert "a class of one person is never released" not in page  # l-diversity asks for two people already
    none = plan_for(person="none")
    assert "stated by the author of the plan (person: none)" in make(stays, none, release=ko.anonymize(stays, none))


def test_a_release_alone_is_amber_because_rows_are_counted(make: Make, stays: pl.DataFrame) -> None:
    plan = plan_for()
    text = make(ko.anonymize(stays, plan).data, plan)
    assert "the figures of risk in this report count rows, not people" in text
    assert "! Meets the plan, but look closer" in text


@pytest.mark.parametrize(("knows", "alike"), [("one_row", "in their smallest class"), ("all_rows", "set of classes")])
def test_charts_say_by_what_people_are_judged(make: Make, stays: pl.DataFrame, knows: str, alike: str) -> None:
    plan = plan_for(knows)
    text = make(stays, plan, release=ko.anonymize(stays, plan), view="internal")
    assert f"People by the number of people {'with the same ' if knows == 'all_rows' else ''}{alike}" in text


class TestRowsOfOnePerson:
    TITLE = "What all rows of a person tell together"

    @pytest.mark.parametrize("given", ["release", "table"])
    def test_it_is_a_section_with_the_figures_of_the_attack(self, make: Make, stays: pl.DataFrame, given: str) -> None:
        plan = plan_for()
        release = ko.anonymize(stays, plan)
        found = release.rows_of_one_person
        assert found is not None
        assert found.people_hurt
        text = make(stays, plan, release=release if given == "release" else release.data, view="internal")
        part = text.rsplit(self.TITLE, 1)[1].split("The three questions")[0]
        assert "somebody who knows one row of a person (attacker_knows: one_row)" in part
        assert f"It hurts {found.people_hurt} of {found.people} people." in part
        assert f"share the classes of all their rows with fewer than 3 people {found.fewer_than_k} (" in part
        assert f"share the classes of all their rows with nobody {found.alone} (" in part
        assert "have only one value of blood left in all their classes" in part
        assert "! Meets the plan, but look closer" in text
        assert found.in_words in text

    def test_nobody_is_hurt_where_the_plan_assumes_it(self, make: Make, stays: pl.DataFrame) -> None:
        plan = plan_for("all_rows")
        text = make(stays, plan, release=ko.anonymize(stays, plan))
        part = text.rsplit(self.TITLE, 1)[1].split("The three questions")[0]
        assert "somebody who knows all rows: k people share all their classes" in part
        assert "It hurts none of about 130 people" in part

    def test_the_public_view_counts_no_small_group(self, make: Make, stays: pl.DataFrame) -> None:
        plan = plan_for()
        text = make(stays, plan, release=ko.anonymize(stays, plan))
        part = text.rsplit(self.TITLE, 1)[1].split("The three questions")[0]
        assert re.search(r"with nobody (about|less than) \d+ %", part)

    def test_plans_that_count_rows_have_no_such_section(self, make: Make, stays: pl.DataFrame) -> None:
        plan = plan_for(person="none")
        assert self.TITLE not in make(stays, plan, release=ko.anonymize(stays, plan))
        assert self.TITLE not in make(stays, plan_for())  # a raw table


@pytest.mark.parametrize("view", ["public", "internal"])
@pytest.mark.parametrize("given", ["release", "table"])
def test_a_diagnosis_that_one_person_has_in_many_rows_is_not_named(make: Make, view: str, given: str) -> None:
    chance = random.Random(1)
    rows = [(f"p{number}", chance.choice(["11", "12"]), "f", chance.choice("AB")) for number in range(60)]
    rows += [("p0", ward, "f", "Rh-null") for ward in ("11", "12") * 6]
    table = pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood"], orient="row")
    plan = plan_for()
    release = ko.anonymize(table, plan)
    shown = {"release": release if given == "release" else release.data, "view": view}
    assert "Rh-null" not in make(table, plan, **shown)
    assert "named only if at least 5 rows of 5 people have it" in make(table, plan, **shown)


@pytest.mark.parametrize("sets", [False, True])
def test_contributions_are_those_of_people(stays: pl.DataFrame, sets: bool) -> None:
    people = PeopleAtRisk([Stay(row[0], row[1:3]) for row in stays.iter_rows()], 2, sets=sets)
    profile = ko.risk(stays, plan_for("all_rows" if sets else "one_row"))
    for column, found in enumerate(contributions(profile)):
        others = (1 - column,)
        groups = people.alike(others)
        risks = [max(1 / len(groups[look]) for look in people.looks(person, others)) for person in people.people]
        assert found.average_without == pytest.approx(sum(risks) / len(risks))
        assert found.uniques_without == len(people.unique_by(others))
        assert found.separation == pytest.approx(float(people.separation((column,))))


@pytest.mark.parametrize("given", ["release", "table"])
def test_the_public_box_has_no_exact_number_of_few_people(make: Make, stays: pl.DataFrame, given: str) -> None:
    """Somebody who knows all rows of a person hurts a few people; the internal report says how many."""
    plan = plan_for()
    release = ko.anonymize(stays, plan)
    attack = release.rows_of_one_person
    assert attack is not None
    assert 0 < attack.alone < attack.people_hurt < attack.people
    passed = release if given == "release" else release.data
    public, internal = (make(stays, plan, release=passed, view=view) for view in ("public", "internal"))
    begin = "an attacker who knows all rows of a person hurts"
    [told] = re.findall(rf"{begin} (.*? with nobody)", public)
    assert re.fullmatch(
        r"(about \d0|fewer than 10) of about 130 people: (about \d0|fewer than 10) share the classes of all "
        r"their rows with fewer than 3 people, (about \d0|fewer than 10) with nobody",
        told,
    )
    assert f"{begin} {attack.people_hurt} of 128 people" in internal
    assert f"{begin} {attack.people_hurt} of" not in public


@pytest.mark.parametrize("view", ["public", "internal"])
def test_the_three_questions_are_not_denied_where_all_rows_of_a_person_answer_them(make: Make, view: str) -> None:
    # Of the values in wards 33 and 44 only C is in both; only p0 was in three wards.
    rows = [(f"p{n}", ward, "f", "A" if n % 2 else "B") for n in range(60) for ward in ("11", "22")]
    rows += [(f"q{n}", "11", "f", "AB0"[n % 3]) for n in range(60)] + [(f"r{n}", "22", "f", "0") for n in range(60)]
    rows += [(f"s{n}", ward, "f", "C") for n in range(20) for ward in ("33", "44")]
    rows += [(f"t{n}", "33", "f", "A") for n in range(20)] + [(f"u{n}", "44", "f", "0") for n in range(20)]
    rows += [("p0", "33", "f", "B")]
    stays = pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood"], orient="row")
    plan = plan_for()
    release = ko.anonymize(stays, plan)
    found = release.rows_of_one_person
    assert found is not None
    assert found.alone == 1
    assert found.values[0].single_value == 20
    text = make(stays, plan, release=release, view=view)
    answers = text.split("05/2014). The figures")[1].split("None of the answers")[0]
    assert "Not by one row: no person has a row that nobody else has." in answers
    assert "share the classes of all their rows with nobody" in answers
    assert "By all rows together it is higher for" in answers
    assert "Not by one class: in no class do all people share it" in answers
    assert "By all rows together, yes: only one value of blood is left for" in answers
    assert "No person's sensitive value is certain" not in text
    protected = plan_for("all_rows")
    hidden = make(stays, protected, release=ko.anonymize(stays, protected), view=view)
    assert "By all rows together" not in hidden
    assert "No person's sensitive value is certain" in hidden
