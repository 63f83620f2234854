"""What attacks count, people or rows, and how they say it."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import homogeneity_attack, linkage_attack, run_attacks, unsorted_matching_attack
from support.wards import KINDS, frame, plan

ROWS = (("a", "11", "m", "flu"), ("a", "11", "m", "ulcer"), ("b", "11", "m", "flu"), ("c", "12", "f", "flu"))


def test_three_people_who_all_have_one_value_among_others_are_hurt():
    rows = [
        (who, "11", "m", value)
        for who, value in zip("aabbcc", ["flu", "ulcer", "flu", "colic", "flu", "asthma"], strict=True)
    ]
    attack = homogeneity_attack(frame(rows), plan())
    assert (attack.hurt, attack.unit) == (3, "people")
    assert homogeneity_attack(frame(rows), plan(person="none")).hurt == 0


def test_a_class_of_a_thousand_rows_of_one_person_hurts_one_person():
    rows = [("a", "11", "m", value) for value in [*KINDS] * 250] + [
        ("b", "12", "f", "flu"),
        ("c", "12", "f", "ulcer"),
    ]
    original = frame(rows)
    attack = homogeneity_attack(original.drop("patient"), plan(), original=original)
    assert (attack.hurt, attack.people_tried, attack.rows_tried) == (1, 3, 1002)


def test_without_person_column_and_original_rows_are_counted_and_it_is_said():
    attacks = run_attacks(frame(ROWS).drop("patient"), plan())
    assert {attack.unit for attack in attacks} == {"rows"}
    assert all(
        "counts rows, not people: a person with several rows counts several times" in attack.notes for attack in attacks
    )
    assert attacks.open_points == (
        "4 attacks count rows, not people: homogeneity, background knowledge, skewness, similarity",
    )
    assert attacks.to_dict()["open_points"] == list(attacks.open_points)


EACH = tuple((str(number), *row[1:]) for number, row in enumerate(ROWS))
"""The same rows, each of another patient."""


def test_a_plan_that_counts_rows_of_different_people_has_no_open_point():
    assert run_attacks(frame(EACH), plan(person="none")).open_points == ()
    assert run_attacks(frame(EACH), plan(person="patient")).open_points == ()
    assert run_attacks(frame(EACH).drop("patient"), plan(person="none")).open_points == ()
    assert run_attacks(frame(ROWS), plan()).open_points == ()


@pytest.mark.parametrize("person", [None, "none"])
def test_rows_that_seem_to_be_of_one_person_are_an_open_point(person):
    attacks = run_attacks(frame(ROWS), plan(person=person))
    counted, why = attacks.open_points
    assert counted == "4 attacks count rows, not people: homogeneity, background knowledge, skewness, similarity"
    assert why.startswith("rows are counted, not people: ")
    assert "'patient' has 3 different values in 4 rows" in why


def test_a_release_without_its_identifiers_leaves_open_whether_rows_are_people():
    release = frame(EACH).drop("patient")
    _, why = run_attacks(release, plan(person=None)).open_points
    assert "the table does not have 'patient'" in why
    _, why = run_attacks(release, plan(person=None), original=frame(EACH)).open_points
    assert "nobody has said that every row is another person; every row has its own value of 'patient'" in why
    _, why = run_attacks(release, plan(person=None), original=frame(ROWS)).open_points
    assert "'patient' has 3 different values in 4 rows" in why


def test_an_original_with_other_rows_says_nothing_about_a_release():
    others = frame([("1", "11", "m", "colic"), *EACH[1:]])
    points = run_attacks(frame(EACH).drop("patient"), plan(person=None), original=others).open_points
    assert any("are not the rows of the release" in point for point in points)


def test_plain_data_names_what_was_counted():
    for rows, person, unit in ((ROWS, "patient", "people"), (EACH, "none", "rows")):
        told = homogeneity_attack(frame(rows), plan(person=person)).to_dict()
        assert [key for key in told if key.endswith("hurt")] == [f"{unit}_hurt"]


def test_an_original_that_does_not_say_whom_rows_are_about_is_told_in_the_note():
    release = frame(ROWS).drop("patient")
    attacks = run_attacks(release, plan(), original=frame(ROWS[1:]))
    assert {attack.unit for attack in attacks} == {"rows"}
    assert all("are not the rows of the release" in attack.notes[-1] for attack in attacks)
    with pytest.raises(ko.InputError) as caught:
        homogeneity_attack(release, plan(), original=frame(ROWS[1:]))
    assert caught.value.code == "people-unclear"


def test_whose_values_decorrelation_hides_is_not_known():
    original = frame(ROWS).with_columns(blood=pl.Series([*"AABA"]))
    shown = original.drop("patient").with_columns(blood=pl.Series(["A", "*", "B", "*"]))
    attributes = {"blood": {"role": "sensitive"}}
    own = plan(decorrelate={"attribute": "diagnosis", "l": 2}, attributes=attributes)
    [homogeneity, *_] = run_attacks(shown, own, original=original)
    assert homogeneity.unit == "rows"
    assert "whose values of 'blood' the release shows is not known" in homogeneity.notes[-1]
    register = pl.DataFrame({"ward": ["12"], "sex": ["f"]})
    assert linkage_attack(shown, own, register, original=original).unit == "people"


def test_linkage_by_other_columns_needs_a_table_that_says_whom_a_row_is_about():
    original = frame(ROWS)
    register = pl.DataFrame({"diagnosis": ["ulcer"]})
    assert linkage_attack(original, plan(), register, on=["diagnosis"]).hurt == 1
    with pytest.raises(ko.InputError) as caught:
        linkage_attack(original.drop("patient"), plan(), register, on=["diagnosis"], original=original)
    assert caught.value.code == "people-unclear"


def test_a_second_release_without_people_is_compared_by_rows():
    original = frame(ROWS)
    other = original.drop("patient")
    assert unsorted_matching_attack(original, plan(), other).unit == "rows"
    assert unsorted_matching_attack(original, plan(), other, original=original).unit == "people"


def test_rows_without_a_person_are_refused():
    with pytest.raises(ko.InputError) as caught:
        homogeneity_attack(frame([*ROWS, (None, "11", "m", "flu")]), plan())
    assert caught.value.code == "person-missing"
