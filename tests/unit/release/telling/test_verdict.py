"""Green, amber or red: decided once, and the same in command, verification, certificate and report."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.release import warnings
from kohorte.release.certificate import table_warnings
from kohorte.release.telling.verdict import Standing, judge
from support.minority import minority, plan_for

PROTECTED = [KAnonymity(10), DistinctLDiversity("diagnosis", l=2)]


def standing(release: ko.Release) -> tuple[str, str]:
    """The standing by the certificate, and by a verification that knows the rows alone."""
    found = ko.verify(release.data, release.plan)
    again = judge(found, table_warnings(pl.DataFrame(release.data), release.plan, found))
    return str(ko.certify(release).verdict.standing), str(again.standing)


def test_nothing_open_is_green() -> None:
    common = minority().filter(pl.col("sex") != "diverse")
    release = ko.anonymize(common, plan_for(models=PROTECTED))
    assert standing(release) == ("green", "green")
    assert "Verdict: all models hold, and no point is open (green)" in ko.certify(release).to_text()


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (plan_for(), "'diagnosis' is sensitive, but no model of the plan protects it"),
        (plan_for(models=PROTECTED), "only 9 suppressed rows"),
        (plan_for(models=PROTECTED, order="input"), "the rows stand in the order of the input"),
        (plan_for(models=[KAnonymity(1)]), "no model of the plan promises anything"),
    ],
)
def test_an_open_point_is_amber_everywhere_and_its_reason_is_told(plan: ko.Plan, why: str) -> None:
    release = ko.anonymize(minority(), plan)
    assert standing(release) == ("amber", "amber")
    verdict = ko.certify(release).verdict
    assert any(why in reason for reason in verdict.reasons)
    assert "open" in verdict.sentence("the release")
    assert "(amber; see Warnings)" in ko.certify(release).to_text()


def test_a_table_that_fails_or_was_not_checked_is_red() -> None:
    plan = plan_for(models=[KAnonymity(50)], suppression_limit=0.0)
    found = ko.verify(minority(), plan)
    assert judge(found, ()).standing is Standing.RED
    assert judge(None, ()).standing is Standing.RED
    assert "does NOT satisfy" in judge(found, ["something"]).sentence("the table")
    assert judge(found, ()).reasons[0].startswith("k-anonymity (k = 50): FAILS")


def test_another_failure_is_red_although_the_models_hold() -> None:
    found = ko.anonymize(minority(), plan_for()).verification
    assert judge(found, (), failures=["above the limit"]).standing is Standing.RED


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_labels_made_of_values_are_open_for_the_release_and_for_its_verification(algorithm: str) -> None:
    frame = pl.DataFrame({"q": [str(number) for number in (1, 2, 3, 5, 6, 9, 12, 13, 17, 20)]})
    plan = ko.Plan(
        attributes={"q": {"role": "quasi-identifying", "hierarchy": {"ordering": {"by": "number", "fanouts": [5]}}}},
        models=[KAnonymity(5)],
    )
    release = ko.anonymize(frame, replace(plan, search=replace(plan.search, algorithm=algorithm)))
    found = ko.verify(release.data, plan)
    assert any("values that occur in the data" in point for point in warnings(release))
    assert any("values that occur in the data" in point for point in table_warnings(release.data, plan, found))


def test_people_that_a_verification_could_not_count_are_an_open_point() -> None:
    """Every person has two rows; the release no longer says whom a row is about."""
    common = minority().filter(pl.col("sex") != "diverse")
    twice = pl.concat([common, common]).with_columns(patient=pl.concat([pl.int_range(common.height, eager=True)] * 2))
    plan = plan_for(models=PROTECTED)
    attributes = {**plan.attributes, "patient": ko.Attribute("identifying")}
    release = ko.anonymize(twice, replace(plan, attributes=attributes, person="patient"))
    text = ko.certify(release).to_text()
    assert f"the smallest with {release.smallest_class} people" in text
    assert str(ko.certify(release).verdict.standing) == "green"
    found = ko.verify(release.data, release.plan)
    again = judge(found, table_warnings(release.data, release.plan, found))
    assert str(again.standing) == "amber"
    assert any("people were not counted" in reason for reason in again.reasons)
