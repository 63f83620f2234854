"""Several sensitive attributes that go together: table 15 of the source, and its remedy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import DistinctLDiversity, KAnonymity

TABLE_15 = pl.DataFrame(
    {
        "zip": ["102*"] * 4,
        "age": ["< 50"] * 4,
        "diagnosis": ["manic depressive", "Oedipus", "drugs", "alcohol"],
        "medication": ["A", "B", "C", "C"],
    }
)


def plan_of(l: int | None = 3, *, limit: float = 0.0, models: Any = None) -> ko.Plan:  # noqa: E741
    return ko.Plan(
        attributes={
            "zip": {"role": "quasi-identifying"},
            "age": {"role": "quasi-identifying"},
            "diagnosis": {"role": "sensitive"},
            "medication": {"role": "sensitive"},
        },
        models=models or [KAnonymity(k=2), DistinctLDiversity("diagnosis", l=2)],
        suppression_limit=limit,
        order="input",
        decorrelate=None if l is None else {"attribute": "diagnosis", "l": l},
    )


def test_each_attribute_alone_is_3_diverse_but_excluding_a_diagnosis_tells_the_medication() -> None:
    models = [DistinctLDiversity("diagnosis", l=3), DistinctLDiversity("medication", l=3)]
    assert ko.verify(TABLE_15, plan_of(None, models=models)).satisfied
    left = TABLE_15.filter(pl.col("diagnosis") != "manic depressive")
    assert left["medication"].value_counts().height < 3  # 'A' is excluded, too


def test_the_remedy_suppresses_the_other_attributes_of_most_rows_of_each_value() -> None:
    release = ko.anonymize(TABLE_15, plan_of(3))
    assert release.data["diagnosis"].to_list() == TABLE_15["diagnosis"].to_list()
    assert release.data["medication"].to_list() == ["*"] * 4  # ceil(2/3 * 1) of each
    assert ko.verify(release.data, plan_of(3)).satisfied


def test_a_table_without_the_remedy_does_not_pass() -> None:
    verdict = ko.verify(TABLE_15, plan_of(3))
    assert not verdict.satisfied
    assert all(model.satisfied for model in verdict.models)
    assert "'diagnosis'" in verdict.problems[0]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("12"), st.sampled_from(["flu", "gout", None]), st.sampled_from("ABC")),
        min_size=2,
        max_size=40,
    ),
    l=st.integers(2, 5),
)
def test_exactly_as_many_values_are_suppressed_as_the_rule_says(
    rows: list[tuple[str, str | None, str]],
    l: int,  # noqa: E741 - the published letter
) -> None:
    table = pl.DataFrame(
        {
            "zip": [row[0] for row in rows],
            "age": ["x"] * len(rows),
            "diagnosis": pl.Series([row[1] for row in rows], dtype=pl.String),
            "medication": [row[2] for row in rows],
        }
    )
    plan = plan_of(l, models=[KAnonymity(k=1)])
    release = ko.anonymize(table, plan)
    cells: Counter[tuple[str, str | None]] = Counter(zip(release.data["zip"], release.data["diagnosis"], strict=True))
    starred = Counter(
        (zip_, diagnosis) for zip_, _, diagnosis, medication in release.data.iter_rows() if medication == "*"
    )
    for cell, count in cells.items():
        assert starred[cell] == -(-count * (l - 1) // l)
    kept = release.data["medication"] != "*"
    assert release.data["medication"].filter(kept).to_list() == table["medication"].filter(kept).to_list()


def test_the_rows_are_chosen_by_chance() -> None:
    table = pl.DataFrame({"zip": ["1"] * 40, "age": ["x"] * 40, "diagnosis": ["flu"] * 40, "medication": ["A"] * 40})
    plan = plan_of(2, models=[KAnonymity(k=2)])
    seen = {tuple(ko.anonymize(table, plan).data["medication"]) for _ in range(5)}
    assert len(seen) > 1


def test_later_rows_are_refused_because_another_choice_would_show_what_was_suppressed() -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.anonymize(TABLE_15, plan_of(3)).transform(TABLE_15)
    assert caught.value.code == "transform-decorrelate"


def test_a_plan_with_the_remedy_is_written_and_read_back() -> None:
    plan = plan_of(3)
    assert ko.Plan.from_dict(plan.to_dict()) == plan
    assert plan.decorrelate == ko.Decorrelation("diagnosis", l=3)


@pytest.mark.parametrize(
    "remedy",
    [
        {"attribute": "zip", "l": 3},
        {"attribute": "nobody", "l": 3},
        {"attribute": "diagnosis"},
        {"l": 3},
        {"attribute": "diagnosis", "l": 1},
        {"attribute": "diagnosis", "l": 2.5},
        {"attribute": "diagnosis", "l": 3, "x": 1},
        "diagnosis",
        {"attribute": 3, "l": 3},
    ],
)
def test_a_remedy_that_makes_no_sense_is_refused(remedy: Any) -> None:
    entry = plan_of(None).to_dict() | {"decorrelate": remedy}
    with pytest.raises(ko.InputError, match="decorrelate") as caught:
        ko.Plan.from_dict(entry)
    assert caught.value.code in ("plan-decorrelate", "plan-incomplete", "plan-unknown-key")


def test_models_can_protect_only_the_attribute_that_stays_whole() -> None:
    with pytest.raises(ko.InputError, match="'medication' is suppressed") as caught:
        plan_of(3, models=[DistinctLDiversity("medication", l=2)])
    assert caught.value.code == "plan-decorrelate"


def test_the_certificate_warns_where_several_attributes_are_protected_each_for_itself() -> None:
    models = [DistinctLDiversity("diagnosis", l=2), DistinctLDiversity("medication", l=2)]
    alone = ko.certify(ko.anonymize(TABLE_15, plan_of(None, models=models))).facts["warnings"]
    assert any("decorrelate" in str(warning) for warning in alone)  # type: ignore[attr-defined]
    remedied = ko.certify(ko.anonymize(TABLE_15, plan_of(3))).facts
    assert any("suppressed in most rows" in str(note) for note in remedied["notes"])  # type: ignore[attr-defined]
    assert not any("no model" in str(warning) for warning in remedied["warnings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", ["input", "shuffled"])
def test_somebody_with_many_rows_of_a_value_is_not_shown_more_easily(order: str) -> None:
    """Of four people with one diagnosis, nothing else is shown of two, however many rows they have."""
    people = [(f"p{one}", "flu" if one < 4 else "gout", f"drug {one}") for one in range(8)]
    rows = [("102*", "< 50", *one) for one in people for _ in range(12)]
    table = pl.DataFrame(rows, schema=["zip", "age", "patient", "diagnosis", "medication"], orient="row")
    entries = {**plan_of(2).to_dict(), "person": "patient", "output": {"order": order}}
    entries["attributes"] = {**entries["attributes"], "patient": {"role": "identifying"}}
    plan = ko.Plan.from_dict(entries)
    release = ko.anonymize(table, plan)
    assert release.data.columns == ["zip", "age", "diagnosis", "medication"]
    for diagnosis in ("flu", "gout"):
        shown = release.data.filter((pl.col("diagnosis") == diagnosis) & (pl.col("medication") != "*"))
        assert shown["medication"].n_unique() == 2
        assert shown.height <= 24
    assert ko.verify(release.data, plan, population=table).satisfied
