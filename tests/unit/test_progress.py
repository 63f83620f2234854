"""The reports of long computations to their callers."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.progress import Progress, Stage, tell
from kohorte.search import Progress as ProgressOfASearch
from support.growing import SETTINGS, patients, plan


def test_the_five_fields_of_a_search_keep_their_places() -> None:
    found = ProgressOfASearch(3, 10, 5, 0.5, 0.25)
    assert (found.checked, found.nodes, found.settled, found.best_cost, found.lower_bound) == (3, 10, 5, 0.5, 0.25)
    assert (found.stage, found.share) == (Stage.SEARCHING, 0.5)


def test_a_stage_without_counts_can_be_divided_by_its_nodes() -> None:
    seen: list[Progress] = []
    tell(seen.append, Stage.READING, "a table")
    tell(None, Stage.READING)
    [only] = seen
    assert (only.settled / only.nodes, only.share, only.in_words) == (0, None, "reading a table")
    assert not math.isfinite(only.lower_bound)


FULL_DOMAIN = {"kind": "full-domain"}
LETTERS = ko.Plan.from_dict(
    {
        "kohorte": 1,
        "attributes": {"zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 3}}}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
)


@pytest.mark.parametrize("kind", ["regions", "levels"])
def test_a_release_of_a_series_reports_its_stages(kind: str, tmp_path: Path) -> None:
    frame = patients(150) if kind == "regions" else pl.DataFrame({"zip": ["123", "124", "123", "124"] * 5})
    started = (plan(), {"kohorte": 1, **SETTINGS}) if kind == "regions" else (LETTERS, FULL_DOMAIN)
    series = ko.Series.start(tmp_path / "s", *started)
    seen: list[Progress] = []
    series.release(frame, tmp_path / "release.csv", progress=seen.append)
    stages = list(dict.fromkeys(report.stage for report in seen))
    assert {Stage.ENCODING, Stage.SEARCHING, Stage.WRITING, Stage.VERIFYING} <= set(stages)
    assert stages[0] is Stage.ENCODING
    assert [report.stage for report in seen][-2:] == [Stage.WRITING, Stage.VERIFYING]


def test_a_series_ignores_what_the_callback_returns(tmp_path: Path) -> None:
    made = []
    for name, progress in (("watched", lambda _: False), ("alone", None)):
        series = ko.Series.start(tmp_path / name, plan(), {"kohorte": 1, **SETTINGS})
        made.append(series.release(patients(150), progress=progress))
    assert made[0].regions == made[1].regions
    assert made[0].loss == made[1].loss


def test_the_attribute_sets_of_a_risk_profile_are_counted_up() -> None:
    table = patients(150)
    seen: list[Progress] = []
    ko.risk(table, plan(), progress=seen.append)
    sets = [report for report in seen if report.unit == "sets"]
    assert [report.settled for report in sets] == list(range(sets[0].nodes))
    assert seen[-1].stage is Stage.ESTIMATING


def test_a_plan_of_a_survey_counts_the_combinations_that_it_examines() -> None:
    survey = ko.Survey({"a": {"categories": ["x", "y", "z"]}, "b": {"categories": ["x", "y"]}}, 10)
    seen: list[Progress] = []
    ko.plan_survey(survey, percent=1, progress=seen.append)
    examined = [report for report in seen if report.unit]
    assert [report.settled for report in examined] == list(range(8))
    assert {report.nodes for report in examined} == {8}
