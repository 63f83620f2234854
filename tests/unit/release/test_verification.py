"""Does a table satisfy a plan? The verdict is compared with counts made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import AverageRisk, KAnonymity

MakePlan = Callable[..., ko.Plan]


def test_a_model_about_the_whole_table_fails_in_no_class(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    plan = replace(patient_plan, models=[AverageRisk(threshold=0.01)])
    (verdict,) = ko.verify(patients, plan).models
    assert (verdict.satisfied, verdict.failing_classes) == (False, 0)
    assert verdict.in_words == "FAILS for the table as a whole"


def test_a_raw_table_fails_and_its_release_passes(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    raw = ko.verify(patients, patient_plan)
    assert not raw.satisfied
    assert raw.problems == ("the identifying column 'name' is still there",)
    [model] = raw.models
    assert (model.name, model.parameters, model.satisfied, model.reached) == ("k-anonymity", {"k": 2}, False, 1)
    assert (model.failing_classes, model.failing) == (1, 1)
    release = ko.anonymize(patients, patient_plan)
    released = ko.verify(release.data, patient_plan)
    assert released.satisfied
    assert released.problems == ()
    assert (released.rows, released.classes, released.smallest_class, released.suppressed) == (
        12,
        release.classes,
        release.smallest_class,
        release.suppressed,
    )


def test_an_identifying_column_left_in_is_a_violation_even_where_the_models_hold(
    patients: pl.DataFrame, patient_plan: ko.Plan
) -> None:
    release = ko.anonymize(patients, patient_plan)
    verification = ko.verify(release.data.with_columns(name=patients["name"]), patient_plan)
    assert all(model.satisfied for model in verification.models)
    assert not verification.satisfied
    assert verification.problems == ("the identifying column 'name' is still there",)


def test_changing_one_cell_of_a_release_makes_it_fail(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    release = ko.anonymize(patients, patient_plan)
    data = release.data.with_columns(pl.col("zip", "age", "sex").cast(pl.String))
    for column in ("zip", "age", "sex"):
        for row in range(data.height):
            if data[row, column] == "*":
                continue
            tampered = data.clone()
            tampered[row, column] = "changed"
            assert not ko.verify(tampered, patient_plan).satisfied, (row, column)


def test_too_many_starred_rows_are_not_exempt(make_plan: MakePlan) -> None:
    table = pl.DataFrame({"q": ["a"] * 5 + ["*"] * 2})
    assert ko.verify(table, make_plan("q", k=5, suppression_limit=0.3)).satisfied
    verification = ko.verify(table, make_plan("q", k=5, suppression_limit=0.2))
    assert not verification.satisfied
    assert (verification.suppressed, verification.classes, verification.smallest_class) == (0, 2, 2)


def test_rows_with_some_stars_are_not_suppressed_rows(make_plan: MakePlan) -> None:
    table = pl.DataFrame({"p": ["*", "*", "a", "a"], "q": ["x", "y", "x", "x"]})
    verification = ko.verify(table, make_plan("p q", k=2, suppression_limit=0.5))
    assert not verification.satisfied
    assert verification.suppressed == 0


def test_columns_that_a_release_may_lack_are_only_those_that_are_not_counted(
    patients: pl.DataFrame, patient_plan: ko.Plan
) -> None:
    release = ko.anonymize(patients, patient_plan)
    assert ko.verify(release.data.select("zip", "age", "sex"), patient_plan).satisfied
    with pytest.raises(ko.InputError, match="'age'"):
        ko.verify(release.data.drop("age"), patient_plan)
    with pytest.raises(ko.InputError, match="'room'"):
        ko.verify(release.data.with_columns(room=pl.lit(1)), patient_plan)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "*", None]), st.sampled_from(["x", "*", ""])), min_size=1, max_size=20
    ),
    k=st.integers(1, 4),
    hundredths=st.integers(0, 100),
)
def test_the_verdict_is_that_of_counting_by_hand(rows: list[tuple[str | None, str]], k: int, hundredths: int) -> None:
    plan = ko.Plan(
        attributes={name: ko.Attribute("quasi-identifying") for name in "pq"},
        models=[KAnonymity(k=k)],
        suppression_limit=hundredths / 100,
    )
    verification = ko.verify(pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String}, orient="row"), plan)
    sizes = Counter((p, q or None) for p, q in rows)
    starred = sizes.get(("*", "*"), 0)
    exempt = 100 * starred <= hundredths * len(rows)
    if exempt:
        sizes.pop(("*", "*"), None)
    assert verification.satisfied == all(size >= k for size in sizes.values())
    assert verification.suppressed == (starred if exempt else 0)
    assert verification.classes == len(sizes)
    assert verification.smallest_class == min(sizes.values(), default=None)
    assert verification.models[0].failing == sum(size for size in sizes.values() if size < k)


def test_people_who_fail_are_not_called_rows() -> None:
    plan = ko.Plan(
        attributes={"patient": {"role": "identifying"}, "zip": {"role": "quasi-identifying"}},
        models=[KAnonymity(3)],
        person="patient",
    )
    original = pl.DataFrame({"patient": ["a", "a", "a", "b"], "zip": ["1"] * 4})
    told = ko.verify(original.drop("patient"), plan, population=original).to_dict()
    (model,) = told["models"]
    assert (model["failing_people"], told["unit"]) == (2, "people")
    assert "failing_rows" not in model
