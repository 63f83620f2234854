"""What a verification of a release says about people, from the release alone and with the original table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl
import pytest

import kohorte as ko
from kohorte.release.certificate import table_warnings
from kohorte.release.telling.verdict import Verdict, judge
from support.stays import Stays, judged

LDIV = {"model": "l-diversity_distinct", "attribute": "blood", "l": 2}


def verdict(release: pl.DataFrame, plan: ko.Plan, found: ko.Verification) -> Verdict:
    return judge(found, table_warnings(release, plan, found))


def about_people(found: ko.Verification) -> list[str]:
    """The open points about people who were not counted; what suppressed rows share is another matter."""
    return [point for point in found.open_points if "suppressed rows share a value" not in point]


def released(stays: Stays, plan: ko.Plan) -> pl.DataFrame:
    return pl.DataFrame(ko.anonymize(stays.frame, plan).data)


def unique_stays(seed: int = 1) -> Stays:
    return Stays.drawn(seed, people=100, rows=100)


class TestAPlanWithoutPerson:
    def test_the_release_alone_does_not_say_whether_several_rows_are_about_one_person(self) -> None:
        for stays in (Stays.drawn(1), unique_stays()):
            plan = stays.plan(models=[LDIV], person=None)
            release = released(stays, plan)
            found = ko.verify(release, plan)
            said = verdict(release, plan, found)
            assert (found.satisfied, found.unit, str(said.standing)) == (True, "rows", "amber")
            assert any(reason.startswith("rows are counted, not people: ") for reason in said.reasons)

    def test_the_original_says_that_identifiers_repeat_in_the_words_of_anonymize(self) -> None:
        stays = Stays.drawn(1)
        plan = stays.plan(models=[LDIV], person=None)
        made = ko.anonymize(stays.frame, plan)
        found = ko.verify(made.data, plan, population=stays.frame)
        [note] = found.open_points
        assert f"'patient' has {len(set(stays.persons))} different values in {len(stays.rows)} rows" in note
        assert note in ko.certify(made).verdict.reasons

    def test_an_original_in_which_no_identifier_repeats_does_not_say_that_rows_are_people(self) -> None:
        stays = unique_stays()
        plan = stays.plan(models=[LDIV], person=None)
        release = released(stays, plan)
        found = ko.verify(release, plan, population=stays.frame)
        [note] = found.open_points
        assert found.satisfied
        assert "nobody has said that every row is another person; every row has its own value of 'patient'" in note

    def test_an_original_with_other_rows_is_no_original(self) -> None:
        stays, others = Stays.drawn(1), unique_stays(2)
        plan = stays.plan(models=[LDIV], person=None)
        found = ko.verify(released(stays, plan), plan, population=others.frame)
        assert not found.satisfied
        assert any("not those of the original table" in problem for problem in found.problems)

    def test_an_original_is_not_compared_with_a_recoding(self) -> None:
        stays = unique_stays()
        plan = stays.plan(models=[LDIV], person=None, search={"algorithm": "mondrian"})
        found = ko.verify(released(stays, plan), plan, population=stays.frame)
        assert found.satisfied
        assert any("levels differ from row to row" in point for point in found.open_points)

    @pytest.mark.parametrize("person", [None, "patient"])
    def test_a_recoding_by_an_algorithm_that_the_plan_does_not_name_is_not_taken_for_another_table(
        self, person: str | None
    ) -> None:
        stays = Stays.drawn(1)
        plan = stays.plan(models=[LDIV], person=person)
        release = released(stays, replace(plan, search=replace(plan.search, algorithm="mondrian")))
        found = ko.verify(release, plan, population=stays.frame)
        assert found.satisfied
        assert any("levels differ from row to row, or the original is another" in point for point in found.open_points)

    def test_without_an_identifying_column_there_is_nothing_to_ask_an_original(self) -> None:
        stays = unique_stays()
        plan = stays.plan(models=[LDIV], person=None)
        attributes = {name: value for name, value in plan.attributes.items() if name != "patient"}
        bare = ko.Plan(attributes, plan.models, suppression_limit=0.2)
        release = pl.DataFrame(ko.anonymize(stays.frame.drop("patient"), bare).data)
        [note] = ko.verify(release, bare).open_points
        assert "nobody has said that every row is another person" in note
        with pytest.raises(ko.InputError) as caught:
            ko.verify(release, bare, population=stays.frame)
        assert caught.value.code == "verify-population-unneeded"


def test_a_statement_that_rows_are_people_is_compared_with_the_original() -> None:
    stays = Stays.drawn(1)
    plan = stays.plan(models=[LDIV], person="none")
    release = released(stays, plan)
    assert ko.verify(release, plan).open_points == ()
    [note] = ko.verify(release, plan, population=stays.frame).open_points
    assert "contradicts the table: 'patient' has 40 different values in 100 rows" in note


def fewest(stays: Stays, release: pl.DataFrame) -> tuple[int, int]:
    """The fewest people of a class, and with one set of classes, among the rows that are not suppressed."""
    of_class, of_person = defaultdict(set), defaultdict(set)
    for patient, *shown in release.select("patient", "ward", "age", "sex").iter_rows():
        if shown != ["*"] * 3:
            of_class[tuple(shown)].add(patient)
            of_person[patient].add(tuple(shown))
    sets = defaultdict(int)
    for own in of_person.values():
        sets[frozenset(own)] += 1
    return min(map(len, of_class.values())), min(sets.values())


class TestAPersonWhoStays:
    def plan(self, stays: Stays, **more: Any) -> ko.Plan:
        attributes = {"patient": {"role": "insensitive"}}
        person = {"column": "patient", "stays_because": "a pseudonym"}
        return stays.plan(person=person, attributes=attributes, limit=0.6, **more)

    def test_the_release_itself_says_whom_a_row_is_about(self) -> None:
        stays = Stays.drawn(3, people=30, rows=40)
        plan = self.plan(stays)
        release = released(stays, plan)
        found = ko.verify(release, plan)
        shown = set(release.filter(pl.col("patient") != "*")["patient"])
        assert found.suppressed > 0
        assert min(fewest(stays, release)) >= 3
        assert (found.satisfied, found.unit, found.people, found.open_points) == (True, "people", len(shown), ())
        assert (found.people_losing_rows, found.people_losing_all_rows) == (None, None)
        assert found.models[0].in_words == "holds"

    def test_a_model_about_the_whole_table_needs_the_people_of_suppressed_rows_too(self) -> None:
        stays = Stays.drawn(3, people=30, rows=40)
        plan = self.plan(stays, models=[{"model": "t-closeness_equal", "attribute": "blood", "t": 0.5}])
        made = ko.anonymize(stays.frame, plan)
        assert made.suppressed
        alone = ko.verify(made.data, plan)
        assert (alone.unit, alone.models[0].in_words) == ("rows", "holds by rows")
        [point] = alone.open_points
        assert "suppressed rows do not say whom they are about" in point
        found = ko.verify(made.data, plan, population=stays.frame)
        assert (found.satisfied, found.unit, found.people, about_people(found)) == (True, "people", 30, [])

    def test_a_person_whose_rows_are_alone_in_the_release_fails(self) -> None:
        stays = Stays.drawn(3, people=30, rows=40)
        strict, lenient = self.plan(stays), stays.plan(person="none", attributes={"patient": {"role": "insensitive"}})
        release = released(stays, lenient)
        assert fewest(stays, release)[1] < 3
        found = ko.verify(release, strict)
        assert not found.satisfied
        assert found.unit == "people"


class TestAllRowsOfAPerson:
    @pytest.mark.parametrize("limit", [0.0, 0.3, 0.6])
    @pytest.mark.parametrize("seed", range(4))
    def test_sets_are_checked_with_the_original_and_not_from_the_release_alone(self, seed: int, limit: float) -> None:
        stays = Stays.drawn(seed, people=40, rows=60)
        plan = stays.plan(person={"column": "patient", "attacker_knows": "all_rows"}, models=[LDIV], limit=limit)
        made = ko.anonymize(stays.frame, plan)
        alone = ko.verify(made.data, plan)
        assert [model.in_words for model in alone.models] == ["holds by rows"] * 2
        [point] = alone.open_points
        assert "all rows of a person together, as attacker_knows: all_rows asks for, were not checked either" in point
        found = ko.verify(made.data, plan, population=stays.frame)
        assert (found.satisfied, found.unit, about_people(found)) == (True, "people", [])
        assert (found.smallest_class, found.suppressed) == (made.smallest_class, made.suppressed)
        assert [model.in_words for model in found.models] == ["holds"] * 2

    @pytest.mark.parametrize("seed", range(6))
    def test_the_people_with_the_same_set_are_those_of_a_count_in_plain_python(self, seed: int) -> None:
        stays = Stays.drawn(seed, people=40, rows=60)
        plan = stays.plan(person={"column": "patient", "attacker_knows": "all_rows"}, limit=0.5)
        made = ko.anonymize(stays.frame, plan)
        found = ko.verify(made.data, plan, population=stays.frame)
        node = (made.levels["ward"], made.levels["age"], made.levels["sex"])
        counted = judged(stays, node, 3, all_rows=True)
        assert (found.unit, found.suppressed, found.classes, found.smallest_class) == ("people", *counted)

    def test_a_release_by_one_row_fails_where_sets_are_asked_for(self) -> None:
        stays = Stays.drawn(1, people=40, rows=90)
        one_row = stays.plan(person="patient", limit=0.0)
        all_rows = stays.plan(person={"column": "patient", "attacker_knows": "all_rows"}, limit=0.0)
        made = ko.anonymize(stays.frame, one_row)
        attack = made.rows_of_one_person
        assert attack is not None
        assert attack.fewer_than_k
        found = ko.verify(made.data, all_rows, population=stays.frame)
        assert (found.satisfied, found.unit) == (False, "people")
        assert [model.in_words for model in ko.verify(made.data, all_rows).models] == ["holds by rows"]

    def test_an_original_with_fewer_rows_is_another_table(self) -> None:
        stays = Stays.drawn(1, people=40, rows=60)
        plan = stays.plan(person={"column": "patient", "attacker_knows": "all_rows"}, limit=0.5)
        release = released(stays, plan)
        found = ko.verify(release, plan, population=stays.frame.head(59))
        assert not found.satisfied
        assert any("not those of the original table" in problem for problem in found.problems)

    def test_a_column_that_ties_rows_is_named_as_what_was_not_checked(self) -> None:
        stays = Stays.drawn(2, people=40, rows=60, constant=True)
        frame = stays.frame.with_columns(case=pl.col("patient").str.replace("patient", "case"))
        plan = stays.plan(person="patient", linked_by="case", attributes={"case": {"role": "insensitive"}}, limit=0.8)
        release = pl.DataFrame(ko.anonymize(frame, plan).data)
        [point] = ko.verify(release, plan).open_points
        assert "as linked_by: case asks for, were not checked either" in point
        found = ko.verify(release, plan, population=frame)
        assert (found.satisfied, found.unit, found.open_points) == (True, "people", ())
        mixed = release.with_columns(case=pl.when(pl.col("case") != "*").then(pl.col("case").sort()).otherwise("case"))
        assert not any(model.in_words == "holds" for model in ko.verify(mixed, plan, population=frame).models)


def test_a_model_that_fails_says_one_class_and_one_person() -> None:
    plan = Stays.drawn(0).plan(k=2)
    rows = [("a", "11", 41, "f", "A"), ("a", "11", 41, "f", "B"), *[(who, "22", 50, "m", "A") for who in "bc"]]
    frame = Stays(tuple(rows)).frame
    found = ko.verify(frame.drop("patient"), plan, population=frame)
    assert found.models[0].in_words == "FAILS in 1 class (1 person)"
    assert ko.verify(frame.drop("patient"), plan).models[0].in_words == "holds by rows"


def test_what_all_rows_of_a_person_tell_is_said_by_verify_as_by_anonymize() -> None:
    stays = Stays.drawn(1)
    plan = stays.plan(models=[LDIV])
    made = ko.anonymize(stays.frame, plan)
    assert made.rows_of_one_person is not None
    assert made.rows_of_one_person.people_hurt
    point = made.rows_of_one_person.in_public_words
    assert point in ko.certify(made).verdict.reasons
    assert point in ko.verify(made.data, plan, population=stays.frame).open_points
    assert ko.verify(made.data, plan).open_points != ()
    assert point not in ko.verify(made.data, plan).open_points


def test_an_original_with_rows_that_do_not_say_whom_they_are_about_is_refused() -> None:
    stays = Stays.drawn(1)
    plan = stays.plan(models=[LDIV])
    lacking = stays.frame.with_columns(pl.when(pl.col("patient") != "patient-3").then("patient").alias("patient"))
    with pytest.raises(ko.InputError) as caught:
        ko.verify(released(stays, plan), plan, population=lacking)
    assert caught.value.code == "person-missing"
    assert "patient-3" not in caught.value.message


def test_what_fails_by_rows_is_not_said_to_fail_for_people() -> None:
    """Three people of each class have three diagnoses, but one of them has many rows."""
    rows = [
        (f"p{one}", "m" if one < 3 else "f", f"d{one % 3}") for one in range(6) for _ in range(9 if one % 3 == 0 else 1)
    ]
    table = pl.DataFrame(rows, schema=["pid", "sex", "diagnosis"], orient="row")
    roles = {"pid": "identifying", "sex": "quasi-identifying", "diagnosis": "sensitive"}
    plan = ko.Plan(
        attributes={name: ko.Attribute(role) for name, role in roles.items()},
        models=[ko.models.EntropyLDiversity("diagnosis", l=2.5)],
        person="pid",
    )
    released = ko.anonymize(table, plan).data
    alone = ko.verify(released, plan)
    assert not alone.satisfied
    assert alone.models[0].in_words == "FAILS by rows in 2 classes (22 rows)"
    assert any("can hold for people" in point for point in alone.open_points)
    certain = ko.verify(released, replace(plan, models=[ko.models.KAnonymity(k=12)]))
    assert certain.models[0].in_words == "FAILS in 2 classes (22 rows)", "a class never has more people than rows"
    assert not any("can hold for people" in point for point in certain.open_points)
    whole = ko.verify(released, plan, population=table)
    assert whole.models[0].in_words == "holds"
    assert not any("can hold for people" in point for point in whole.open_points)


class TestARecodedRelease:
    """Levels differ from row to row: whom the rows are about is found by recoding the original again."""

    ENTROPY: ClassVar = {"model": "l-diversity_entropy", "attribute": "blood", "l": 1.8}

    @pytest.mark.parametrize("algorithm", ["mondrian", "mondrian_relaxed", "local_recoding", "cell_suppression"])
    @pytest.mark.parametrize("seed", [1, 2])
    def test_people_are_counted_with_the_original(self, algorithm: str, seed: int) -> None:
        stays = Stays.drawn(seed, constant=True)
        plan = stays.plan(models=[self.ENTROPY], search={"algorithm": algorithm})
        made = ko.anonymize(stays.frame, plan)
        found = ko.verify(made.data, plan, population=stays.frame)
        assert (found.satisfied, found.unit, found.people) == (True, "people", 40)
        assert [model.in_words for model in found.models] == ["holds", "holds"]
        assert (found.smallest_class, found.suppressed) == (made.smallest_class, made.suppressed)
        assert not any("people were not counted" in point for point in found.open_points)

    def test_a_class_of_one_person_that_was_made_by_rows_is_not_green(self) -> None:
        rows = [("a", "11", 41, "f", "A")] * 3 + [(who, "22", 70, "m", "A") for who in "bcd"]
        frame = Stays(tuple(rows)).frame
        by_rows = Stays(tuple(rows)).plan(person="none", search={"algorithm": "mondrian"}, limit=0)
        release = pl.DataFrame(ko.anonymize(frame, by_rows).data)
        found = ko.verify(release, replace(by_rows, person=Stays(()).plan().person), population=frame)
        assert found.models[0].in_words == "holds by rows"
        assert any("does not give the same rows" in point for point in found.open_points)
        assert str(verdict(release, by_rows, found).standing) == "amber"

    def test_a_release_that_was_recoded_otherwise_is_not_said_to_need_the_original(self) -> None:
        rows = [
            (f"p{one}", "11" if one < 3 else "22", 50, "f", "AB0"[one % 3])
            for one in range(6)
            for _ in range(1 if one % 3 else 9)
        ]
        stays = Stays(tuple(rows))
        plan = stays.plan(k=2, models=[self.ENTROPY | {"l": 2.5}], search={"algorithm": "mondrian"}, limit=0)
        release = pl.DataFrame(ko.anonymize(stays.frame, plan).data)
        other = release.with_columns(age=pl.lit("[0, 100["))
        found = ko.verify(other, plan, population=stays.frame)
        assert (found.satisfied, found.unit) == (False, "rows")
        assert found.models[1].in_words.startswith("FAILS by rows")
        assert any("is not known, although the original table was given" in point for point in found.open_points)
        assert not any("only the original table tells" in point for point in found.open_points)
        assert str(verdict(other, plan, found).standing) == "red"

    def test_an_original_with_fewer_rows_is_another_table(self) -> None:
        stays = Stays.drawn(1)
        plan = stays.plan(search={"algorithm": "mondrian"})
        found = ko.verify(released(stays, plan), plan, population=stays.frame.head(99))
        assert not found.satisfied
        assert any("not those of the original table" in problem for problem in found.problems)
