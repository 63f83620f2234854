"""Values that no kept row has, and who is suppressed: counted like a plain definition, and named to nobody outside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.release.telling.compared_losses import losses_between
from kohorte.release.telling.loss_words import lost_by_name, lost_in_numbers, lost_publicly
from kohorte.release.telling.losses import Group, of_values
from kohorte.sources import DuckDbSource
from support.examples import examples
from support.minority import minority, plan_for

QUASI = ko.Attribute("quasi-identifying")


def by_column(losses):
    return {one.attribute: one for one in losses}


def test_a_value_whose_rows_are_all_suppressed_is_lost() -> None:
    release = ko.anonymize(minority(), plan_for())
    assert release.suppressed == 9
    found = by_column(release.losses)
    assert [(group.label, group.rows) for group in found["sex"].lost] == [("diverse", 9)]
    assert [(group.label, group.rows) for group in found["diagnosis"].lost] == [("porphyria", 9)]
    assert found["age"].lost_values == found["ward"].lost_values == 0
    assert release.to_dict()["lost_values"] == {"sex": 1, "diagnosis": 1}


def test_the_certificate_tells_of_a_lost_value_and_does_not_name_it() -> None:
    certificate = ko.certify(ko.anonymize(minority(), plan_for()))
    assert "sex: a rare value no longer appears" in certificate.to_text()
    assert "diagnosis: a rare value appears in suppressed rows only" in certificate.to_text()
    for text in (certificate.to_text(), certificate.to_json()):
        assert "diverse" not in text
        assert "porphyria" not in text


def test_a_release_without_suppressed_rows_lost_no_value() -> None:
    release = ko.anonymize(minority(), plan_for(suppression_limit=0.0))
    assert release.losses == ()
    assert "Lost values\n  - none" in ko.certify(release).to_text()


def test_lost_values_are_named_inside_if_five_rows_have_them() -> None:
    losses = [of_values("d", ko.anonymize(minority(), plan_for()).losses[2].role, groups()) for groups in (few, many)]
    assert lost_by_name(losses[:1]) == ["d: 2 values appear in suppressed rows only: too rare to be named (5 rows)"]
    assert lost_by_name(losses[1:]) == [
        "d: 3 values appear in suppressed rows only: y (7 rows), z (5 rows) and 1 more (4 rows)"
    ]
    assert "y" not in "".join(lost_publicly(losses[1:])).replace("only", "").replace("by", "")


def few() -> list[Group]:
    return [Group("x", 90, 80), Group("y", 4, 0), Group("z", 1, 0)]


def many() -> list[Group]:
    return [Group("x", 90, 80), Group("y", 7, 0), Group("z", 5, 0), Group("w", 4, 0)]


def test_the_public_gets_no_exact_small_number_of_lost_values() -> None:
    role = plan_for().attributes["ward"].role

    def told(lost: int) -> str:
        groups = [Group("x", 900, 900), *(Group(str(value), 1, 0) for value in range(lost))]
        return lost_publicly([of_values("c", role, groups)])[0]

    assert told(1) == told(2) == told(9)
    assert told(43) == "c: rare values appear in suppressed rows only (about 40 values, in about 40 rows)"


def test_values_that_most_rows_have_alone_are_no_categories() -> None:
    frame = minority().with_columns(ward=pl.int_range(600).cast(pl.String))
    assert by_column(ko.anonymize(frame, plan_for()).losses)["ward"].lost_values == 0


def test_no_repr_of_a_loss_contains_a_value() -> None:
    release = ko.anonymize(minority(), plan_for())
    assert "diverse" not in repr(release.losses)
    assert "diverse" not in repr(release)
    assert "diverse" not in repr(release.losses[1].lost[0])


def test_rows_in_duckdb_lose_the_same_values(tmp_path) -> None:
    minority().write_parquet(tmp_path / "in.parquet")
    release = ko.anonymize(DuckDbSource(tmp_path / "in.parquet"), plan_for())
    assert release.to_dict()["lost_values"] == {"sex": 1, "diagnosis": 1}


def test_a_recoder_loses_a_value_if_all_its_rows_are_suppressed() -> None:
    plan = plan_for()
    recoded = replace(plan, search=replace(plan.search, algorithm="cell_suppression"))
    release = ko.anonymize(minority(), recoded)
    shown = release.data.filter((pl.col("age") != "*") | (pl.col("sex") != "*"))
    lost = set(minority()["diagnosis"].unique()) - set(shown["diagnosis"].unique())
    assert {group.label for one in release.losses if one.attribute == "diagnosis" for group in one.lost} == lost


@pytest.mark.parametrize("changed", [{}, {"models": [KAnonymity(200)]}])
def test_two_tables_tell_the_same_losses_as_the_release_itself(changed) -> None:
    plan = plan_for(**changed)
    release = ko.anonymize(minority(), plan)
    compared = losses_between(minority(), release.data, plan)
    assert compared is not None
    made = by_column(release.losses)
    for one in compared:
        assert (one.lost_values, one.lost_rows) == (made[one.attribute].lost_values, made[one.attribute].lost_rows)


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from("pqr")), min_size=4)


@examples(60)
@given(ROWS, st.integers(2, 4))
def test_lost_values_and_suppressed_groups_are_those_of_a_plain_count(rows: list[tuple[str, str, str]], k: int) -> None:
    frame = pl.DataFrame(rows, schema=["one", "two", "s"], orient="row")
    plan = ko.Plan(
        attributes={"one": QUASI, "two": QUASI, "s": ko.Attribute("sensitive")},
        models=[KAnonymity(min(k, len(rows)))],
        suppression_limit=0.9,
        order="input",
    )
    release = ko.anonymize(frame, plan)
    kept = [(row, shown) for row, shown in zip(rows, release.data.rows(), strict=True) if shown[:2] != ("*", "*")]
    if not kept or len(kept) == len(rows):
        assert release.losses == ()
        return
    for place, one in enumerate(release.losses):
        lowest = one.attribute == "s" or release.levels[one.attribute] == 0
        before, after = Counter(row[place] for row in rows), Counter(row[place] for row, _ in kept)
        if lowest:
            assert {group.label for group in one.lost} | set() == set(before) - set(after) or 2 * len(before) > len(
                rows
            )
        if one.levels:
            assert {(group.label, group.rows, group.kept) for group in one.levels[0]} == {
                (label, before[label], after[label]) for label in before
            }


PERSON = "patient"


def with_people(rows_each: int) -> tuple[pl.DataFrame, ko.Plan]:
    """The table with several rows of each person, and a plan that counts people; nine rows have the rare values."""
    frame = minority()
    rare, rest = frame.filter(pl.col("sex") == "diverse"), frame.filter(pl.col("sex") != "diverse")
    people = [f"r{row // rows_each}" for row in range(rare.height)] + [f"p{row}" for row in range(rest.height)]
    return pl.concat([rare, rest]).with_columns(pl.Series(PERSON, people)), plan_for(person=PERSON)


@pytest.mark.parametrize(("rows_each", "people"), [(1, 9), (3, 3)])
@pytest.mark.parametrize("given", ["release", "tables"])
def test_lost_values_are_told_with_the_people_who_had_them(given: str, rows_each: int, people: int) -> None:
    frame, plan = with_people(rows_each)
    release = ko.anonymize(frame, plan)
    losses = release.losses if given == "release" else losses_between(frame, release.data, plan)
    assert losses is not None
    found = by_column(losses)
    for name in ("sex", "diagnosis"):
        assert (found[name].lost_rows, found[name].lost_people) == (9, people)
    assert lost_in_numbers([found["sex"]]) == [f"sex: 1 value no longer appears ({people} people)"]
    assert lost_publicly([found["sex"]]) == [
        "sex: a rare value no longer appears (fewer than 10 values, of fewer than 10 people)"
    ]


def test_a_value_of_many_rows_and_few_people_is_too_rare_to_be_named() -> None:
    one, three = (lost_by_name(ko.anonymize(*with_people(rows_each)).losses) for rows_each in (1, 3))
    assert "sex: 1 value no longer appears: diverse (9 people)" in one
    assert "sex: 1 value no longer appears: too rare to be named (3 people in all)" in three


def test_the_certificate_says_whether_rows_or_people_had_a_lost_value() -> None:
    assert "(fewer than 10 values, of fewer than 10 people)" in ko.certify(ko.anonymize(*with_people(3))).to_text()
    assert "(fewer than 10 values, in fewer than 10 rows)" in ko.certify(ko.anonymize(minority(), plan_for())).to_text()
