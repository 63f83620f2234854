"""Releases that count people: the two tables of the specification, verification from outside, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte import Plan, anonymize, verify
from kohorte.errors import InputError, PrivacyViolation
from kohorte.release import certify
from support.stays import Stays, different


def plan(**changes: Any) -> Plan:
    return Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "ward": {"role": "quasi-identifying"},
                "sex": {"role": "quasi-identifying"},
                "diagnosis": {"role": "sensitive"},
            },
            "models": [{"model": "k-anonymity", "k": 5}],
            "person": "patient",
            **changes,
        }
    )


def one_person_with_most_rows() -> pl.DataFrame:
    """A class of 1,000 rows that is one person, beside 40 people with a row each."""
    return pl.DataFrame(
        {
            "patient": ["long stay"] * 1000 + [f"p{number}" for number in range(40)],
            "ward": ["dialysis"] * 1000 + ["surgery"] * 40,
            "sex": ["f"] * 1000 + ["f", "m"] * 20,
            "diagnosis": ["A", "B", "C", "D"] * 260,
        }
    )


def test_a_thousand_rows_of_one_person_are_one_person() -> None:
    frame = one_person_with_most_rows()
    by_rows = anonymize(
        frame, plan(person="none", attributes=plan().to_dict()["attributes"] | {"patient": {"role": "identifying"}})
    )
    by_people = anonymize(frame, plan(suppression_limit=0.97))
    assert by_rows.levels == {"ward": 0, "sex": 0}
    assert (by_people.unit, by_people.smallest_class) == ("people", 20)
    assert by_people.suppressed == 1000 or by_people.levels["ward"] == 1


def test_a_class_of_one_person_is_never_released_whatever_the_models_allow() -> None:
    frame = one_person_with_most_rows()
    lenient = plan(models=[{"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.9}], suppression_limit=0.97)
    release = anonymize(frame, lenient)
    assert release.smallest_class is not None
    assert release.smallest_class >= 2


def test_all_people_sharing_a_value_is_not_diverse_although_there_are_several_values() -> None:
    frame = pl.DataFrame(
        {
            "patient": ["a", "a", "b", "b", "c", "c"],
            "ward": ["x"] * 6,
            "sex": ["f"] * 6,
            "diagnosis": ["HIV", "flu", "HIV", "cold", "HIV", "gout"],
        }
    )
    wanted = plan(models=[{"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}])
    with pytest.raises(Exception, match="no release satisfies the plan"):
        anonymize(frame, wanted)


def test_the_certificate_says_people_where_people_were_counted() -> None:
    release = anonymize(one_person_with_most_rows(), plan(suppression_limit=0.97))
    text = certify(release).to_text()
    assert "the smallest with 20 people" in text
    assert "People      about 40, of whom none lose rows, none of them all their rows" in text
    assert "attacker_knows: one_row" in text


def test_nobody_loses_a_row_where_every_quasi_identifier_is_removed_and_no_row_is_suppressed() -> None:
    stays = [(f"p{number}", f"w{number}", "fm"[number % 2], "AB"[number % 2]) for number in range(12) for _ in range(2)]
    frame = pl.DataFrame(stays, schema=["patient", "ward", "sex", "diagnosis"], orient="row")
    release = anonymize(frame, plan(models=[{"model": "k-anonymity", "k": 12}], suppression_limit=0))
    assert (release.levels, release.suppressed) == ({"ward": 1, "sex": 1}, 0)
    for verification in (release.verification, verify(release.data, release.plan, population=frame)):
        assert (verification.people_losing_rows, verification.people_losing_all_rows) == (0, 0)
    assert "of whom none lose rows, none of them all their rows" in certify(release).to_text()


def test_from_outside_only_the_original_table_says_whom_a_row_is_about() -> None:
    frame = one_person_with_most_rows()
    wanted = plan(suppression_limit=0.97)
    release = anonymize(frame, wanted).data
    alone = verify(release, wanted)
    assert alone.unit == "rows"
    assert any("people were not counted" in point for point in alone.open_points)
    counted = verify(release, wanted, population=frame)
    assert (counted.satisfied, counted.unit, counted.people, counted.open_points) == (True, "people", 41, ())


def test_a_release_by_rows_fails_once_its_people_are_counted() -> None:
    frame = one_person_with_most_rows()
    released = frame.drop("patient")
    assert verify(released, plan()).models[0].satisfied
    assert not verify(released, plan(), population=frame).satisfied


def test_rows_of_another_table_are_not_counted_for_this_one() -> None:
    frame = one_person_with_most_rows()
    verification = verify(frame.drop("patient"), plan(), population=frame.head(900))
    assert not verification.satisfied
    assert any("not those of the original table" in problem for problem in verification.problems)


def test_people_are_counted_in_a_subset_and_in_its_population() -> None:
    frame = pl.DataFrame(
        {
            "patient": ["a", "a", "b", "c", "d", "e", "f", "f"],
            "ward": ["x"] * 8,
            "sex": ["f"] * 8,
            "diagnosis": ["A"] * 8,
            "chosen": [1, 1, 1, 1, 0, 0, 0, 0],
        }
    )
    attributes = plan().to_dict()["attributes"] | {"chosen": {"role": "insensitive"}}
    wanted = plan(
        attributes=attributes, models=[{"model": "delta-presence", "minimum": 0.5, "maximum": 0.5, "subset": "chosen"}]
    )
    release = anonymize(frame, wanted)  # 3 of 6 people; by rows it is 4 of 8, and so it would be by chance
    assert release.verification.models[0].reached == (0.5, 0.5)
    more = frame.with_columns(pl.Series("chosen", [1, 1, 0, 0, 0, 0, 0, 0]))
    with pytest.raises(Exception, match="no release"):
        anonymize(more, wanted)


@pytest.mark.parametrize("seed", range(5))
def test_each_class_of_a_subset_is_compared_with_its_own_part_of_the_population(seed: int) -> None:
    stays = Stays.drawn(seed)
    frame = stays.frame.with_columns(chosen=pl.int_range(100) % 2)
    wanted = stays.plan(
        k=2,
        limit=0.5,
        attributes={"chosen": {"role": "insensitive"}},
        models=[{"model": "delta-presence", "minimum": 0, "maximum": 0.9, "subset": "chosen"}],
    )
    release = anonymize(frame, wanted)
    assert release.node is not None
    classes = stays.classes((release.node[0], release.node[1], release.node[2]))
    everybody = different(classes, stays.persons)
    chosen = different(classes[1::2], stays.persons[1::2])
    kept = [len(people) / len(everybody[group]) for group, people in chosen.items() if len(people) >= 2]
    shares = [share for share in kept if share <= 0.9]
    reached = release.verification.models[1].reached
    assert isinstance(reached, tuple)
    assert reached[1] == max(shares)
    assert release.classes == len(shares)


def test_a_row_without_a_person_is_refused_with_its_number() -> None:
    frame = one_person_with_most_rows().with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise(pl.col("patient")).alias("patient")
    )
    with pytest.raises(InputError, match=r"1 row \(5\)") as raised:
        anonymize(frame, plan())
    assert raised.value.code == "person-missing"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"person": []}, "plan-person"),
        ({"person": {"attacker_knows": "one_row"}}, "plan-person"),
        ({"person": {"column": "patient", "attacker_knows": "everything"}}, "plan-person"),
        ({"person": {"column": "patient", "atacker_knows": "one_row"}}, "plan-unknown-key"),
        ({"person": "diagnosis"}, "plan-person"),
        ({"person": {"column": "ward", "stays_because": "asked for"}}, "plan-person"),
        ({"linked_by": "patient"}, "plan-linked-by"),
        ({"person": "none", "linked_by": "diagnosis"}, "plan-linked-by"),
        ({"models": [{"model": "n-t-closeness", "attribute": "diagnosis", "n": 10, "t": 0.2}]}, "person-model"),
        (
            {
                "models": [{"model": "average-risk", "threshold": 0.2}],
                "person": {"column": "patient", "attacker_knows": "all_rows"},
            },
            "person-model",
        ),
    ],
)
def test_a_person_that_cannot_be_counted_is_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as raised:
        plan(**changes)
    assert raised.value.code == code


def test_a_column_that_ties_rows_of_different_people_is_refused() -> None:
    attributes = plan().to_dict()["attributes"] | {"case": {"role": "insensitive"}}
    frame = one_person_with_most_rows().with_columns(pl.lit("same").alias("case"))
    with pytest.raises(InputError) as raised:
        anonymize(frame, plan(attributes=attributes, linked_by="case"))
    assert raised.value.code == "linked-by-shared"


def test_several_columns_together_say_who_somebody_is(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "clinic": ["1", "1", "11", "11"] * 3,
            "patient": ["11", "2", "1", "2"] * 3,
            "ward": ["x"] * 12,
            "sex": ["f"] * 12,
            "diagnosis": ["A"] * 12,
        }
    )
    four = plan(person=["clinic", "patient"], models=[{"model": "k-anonymity", "k": 4}])
    assert anonymize(frame, four).smallest_class == 4
    with pytest.raises((InputError, PrivacyViolation)):
        anonymize(frame, plan(person=["clinic", "patient"]))


def test_knowing_all_rows_costs_at_least_as_much_and_the_release_says_how_much() -> None:
    frame = one_person_with_most_rows()
    one_row = anonymize(frame, plan(suppression_limit=0.97))
    all_rows = anonymize(
        frame, plan(suppression_limit=0.97, person={"column": "patient", "attacker_knows": "all_rows"})
    )
    assert one_row.one_row_cost is None
    assert all_rows.one_row_cost == one_row.cost
    assert all_rows.cost >= one_row.cost


def test_what_is_reached_holds_for_each_class_as_well_as_for_the_sets_of_classes() -> None:
    people = pl.DataFrame({"patient": [f"p{number}" for number in range(4)] * 2, "sex": ["f"] * 8})
    frame = people.with_columns(
        pl.Series("ward", ["x"] * 4 + ["y"] * 4), pl.Series("diagnosis", ["A", "B", "A", "B", "C", "D", "C", "D"])
    )

    def asking(diversity: int) -> Plan:
        models = [{"model": "l-diversity_distinct", "attribute": "diagnosis", "l": diversity}]
        return plan(models=models, person={"column": "patient", "attacker_knows": "all_rows"})

    release = anonymize(frame, asking(2))
    diverse = verify(release.data, asking(2), population=frame).models[0]
    assert release.levels == {"ward": 0, "sex": 0}
    assert diverse.reached == 2  # in each ward; all rows of the four people together have four values
    assert not verify(release.data, asking(3), population=frame).satisfied
