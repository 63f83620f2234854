"""The node of a release, applied to later rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.hierarchies import CsvFile, Redaction

MakePlan = Callable[..., ko.Plan]


def test_the_original_table_gives_the_release_again(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    release = ko.anonymize(patients, patient_plan)
    assert release.suppressed == 1
    assert release.transform(patients).equals(release.data)


@pytest.mark.parametrize("policy", ["category", "suppress"])
def test_the_original_table_with_missing_values_gives_the_release_again(make_plan: MakePlan, policy: str) -> None:
    frame = ko.cohort(300, missing=0.1).select("zip", "occupation", "sex")
    plan = make_plan(
        "zip occupation sex",
        k=3,
        hierarchies={"zip": Redaction()},
        missing=policy,
        suppression_limit=0.5,
        order="input",
    )
    release = ko.anonymize(frame, plan)
    assert release.transform(frame).equals(release.data)


def test_columns_at_level_0_keep_their_type_as_in_the_release(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": [1, 1, 2, 2]})
    release = ko.anonymize(frame, make_plan("q", order="input"))
    assert release.transform(frame).schema == release.data.schema == frame.schema


def test_new_rows_are_generalized_to_the_same_levels(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    release = ko.anonymize(patients, patient_plan)
    one = patients.row(0, named=True)
    new = pl.DataFrame([one | {"name": "new", "visits": 99}])
    shown = release.transform(new).row(0, named=True)
    assert shown == release.data.row(0, named=True) | {"visits": 99}
    assert "name" not in shown


def test_rows_of_classes_that_the_release_does_not_keep_are_suppressed(
    patients: pl.DataFrame, patient_plan: ko.Plan
) -> None:
    release = ko.anonymize(patients, patient_plan)
    lone = patients.filter(pl.col("sex") == "d")
    assert release.transform(lone).select("zip", "age", "sex").row(0) == ("*", "*", "*")
    unseen = patients.head(1).with_columns(age=pl.lit(99))
    assert release.transform(unseen).select("zip", "age", "sex").row(0) == ("*", "*", "*")


def test_values_that_the_hierarchy_does_not_know_are_refused_with_their_rows(make_plan: MakePlan) -> None:
    release = ko.anonymize(pl.DataFrame({"q": ["a", "a", "b", "b"]}), make_plan("q"))
    with pytest.raises(InputError, match=r"1 of 2 distinct values, in 2 rows \(2, 3\)") as caught:
        release.transform(pl.DataFrame({"q": ["a", "secret", "secret"]}))
    assert caught.value.code == "value-not-in-hierarchy"
    assert "secret" not in str(caught.value)


def test_a_value_longer_than_any_of_the_release_is_refused_by_redaction(make_plan: MakePlan) -> None:
    plan = make_plan("q", hierarchies={"q": Redaction()})
    release = ko.anonymize(pl.DataFrame({"q": ["12", "13", "12", "14"]}), plan)
    assert release.levels == {"q": 1}
    assert release.transform(pl.DataFrame({"q": ["19"]}))["q"].to_list() == ["1*"]
    with pytest.raises(InputError) as caught:
        release.transform(pl.DataFrame({"q": ["123"]}))
    assert caught.value.code == "value-not-in-hierarchy"


def test_a_shorter_value_is_masked_at_the_same_positions(make_plan: MakePlan) -> None:
    plan = make_plan("q", hierarchies={"q": Redaction(padding="0")}, order="input")
    release = ko.anonymize(pl.DataFrame({"q": ["123", "124"]}), plan)
    assert release.data["q"].to_list() == ["12*", "12*"]
    assert release.transform(pl.DataFrame({"q": ["12", "125", "1"]}))["q"].to_list() == ["12*", "12*", "*"]


def test_identifying_columns_may_be_absent_and_others_not(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    release = ko.anonymize(patients, patient_plan)
    assert release.transform(patients.drop("name")).equals(release.data)
    for needed in ("zip", "diagnosis", "visits"):
        with pytest.raises(InputError, match=needed) as caught:
            release.transform(patients.drop(needed))
        assert caught.value.code == "columns-missing"
    with pytest.raises(InputError, match="'room'"):
        release.transform(patients.with_columns(room=pl.lit(1)))


def test_the_policy_for_missing_values_holds_for_new_rows(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": ["a", "a", "b", "b"]})
    lacking = pl.DataFrame({"q": ["a", None]})
    suppress = ko.anonymize(frame, make_plan("q", missing="suppress", order="input"))
    assert suppress.transform(lacking)["q"].to_list() == ["a", "*"]
    category = ko.anonymize(frame, make_plan("q", missing="category", order="input"))
    assert category.transform(lacking)["q"].to_list() == ["a", "*"]
    refuse = ko.anonymize(frame, make_plan("q", missing="refuse", order="input"))
    with pytest.raises(InputError) as caught:
        refuse.transform(lacking)
    assert caught.value.code == "missing-refused"


def test_new_rows_are_shuffled_unless_the_plan_says_otherwise(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": ["a"] * 100, "n": range(100)})
    release = ko.anonymize(frame, make_plan("q", insensitive="n"))
    assert release.transform(frame)["n"].to_list() != list(range(100))
    assert sorted(release.transform(frame)["n"]) == list(range(100))


def test_new_rows_are_not_changed(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    before = patients.clone()
    ko.anonymize(patients, patient_plan).transform(patients)
    assert patients.equals(before)


def test_a_hierarchy_file_serves_new_rows_too(make_plan: MakePlan, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;first;*\nb;first;*\nc;first;*\n")
    plan = make_plan("q", hierarchies={"q": CsvFile("h.csv", folder=tmp_path)}, order="input")
    release = ko.anonymize(pl.DataFrame({"q": ["a", "b"]}), plan)
    assert release.transform(pl.DataFrame({"q": ["c"]}))["q"].to_list() == ["first"]
