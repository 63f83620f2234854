"""Suppressed rows look alike: what all of them share is known, and the verdict says so."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.release.certificate import table_warnings
from kohorte.release.telling.verdict import Verdict, judge
from kohorte.report.verdict import verdict as verdict_of
from kohorte.report.write import report_of

Row = tuple[str, str, str, str]
COLUMNS = ["patient", "ward", "sex", "diagnosis"]


def table(rare: list[Row]) -> pl.DataFrame:
    """Two large classes with three diagnoses, and the rows of a rare ward."""
    common = [(f"p{at}", str(at % 2), "f", ("flu", "gout", "cold")[at // 2 % 3]) for at in range(60)]
    return pl.DataFrame([*common, *rare], schema=COLUMNS, orient="row")


def plan(model: dict[str, Any], *, person: object = "none", limit: float = 0.2) -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "patient": {"role": "identifying"},
                "ward": {"role": "quasi-identifying"},
                "sex": {"role": "quasi-identifying"},
                "diagnosis": {"role": "sensitive"},
            },
            "models": [{"model": "k-anonymity", "k": 3}, model],
            "suppression_limit": limit,
            "person": person,
        }
    )


TWO = {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}
THREE = {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 3}
SAME = [(f"q{at}", "9", "m", "HIV") for at in range(4)]
SHARED = "all suppressed rows share a value of 'diagnosis'"


def standings(frame: pl.DataFrame, chosen: ko.Plan) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The verdict of certificate, verification and report on the release of a table."""
    release = ko.anonymize(frame, chosen)
    assert release.suppressed == frame.filter(pl.col("ward").is_in(["8", "9"])).height
    found = ko.verify(release.data, chosen, population=frame)
    told = {
        "certificate": ko.certify(release).verdict,
        "verify": judge(found, table_warnings(pl.DataFrame(release.data), chosen, found)),
        "report": verdict_of(report_of(frame, chosen, release=release)),
    }
    return {
        name: (str(one.standing), one.reasons if isinstance(one, Verdict) else one.open_points)
        for name, one in told.items()
    }


@pytest.mark.parametrize("model", [TWO, {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.5}])
def test_a_value_that_all_suppressed_rows_share_is_an_open_point_everywhere(model: dict[str, Any]) -> None:
    for where, (standing, reasons) in standings(table(SAME), plan(model)).items():
        assert standing == "amber", where
        assert any(reason.startswith(SHARED) for reason in reasons), where
        assert "HIV" not in " ".join(reasons)


def test_suppressed_rows_with_different_values_leave_the_verdict_green() -> None:
    rare = [("q0", "8", "f", "HIV"), ("q1", "8", "f", "flu"), ("q2", "9", "m", "HIV"), ("q3", "9", "m", "flu")]
    for standing, reasons in standings(table(rare), plan(TWO)).values():
        assert (standing, reasons) == ("green", ())


def test_suppressed_rows_that_would_fail_a_model_as_one_class_are_an_open_point() -> None:
    rare = [("q0", "8", "f", "HIV"), ("q1", "8", "f", "flu"), ("q2", "9", "m", "HIV"), ("q3", "9", "m", "flu")]
    for standing, reasons in standings(table(rare), plan(THREE)).values():
        assert standing == "amber"
        assert any("taken as one class, do not satisfy l-diversity_distinct" in reason for reason in reasons)


def test_a_missing_value_that_all_suppressed_rows_share_tells_nothing() -> None:
    frame = table(SAME).with_columns(pl.when(pl.col("ward") != "9").then("diagnosis").alias("diagnosis"))
    assert not [point for point in ko.anonymize(frame, plan(TWO)).open_points if "share a value" in point]


def test_people_share_a_value_although_their_rows_have_several() -> None:
    others = ("flu", "gout", "cold", "flu")
    rare = [(f"q{at}", "9", "m", value) for at in range(4) for value in ("HIV", others[at])]
    shared = "all people with suppressed rows share a value of 'diagnosis'"
    for where, (standing, reasons) in standings(table(rare), plan(TWO, person="patient")).items():
        assert standing == "amber"
        assert any(reason.startswith(shared) for reason in reasons), where


def test_without_the_original_the_rows_of_a_plan_with_people_are_compared() -> None:
    chosen = plan(TWO, person="patient")
    release = ko.anonymize(table(SAME), chosen)
    assert any(point.startswith(SHARED) for point in ko.verify(release.data, chosen).open_points)
