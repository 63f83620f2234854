"""The verdict on a series: green, amber while a point is open, red if a promise is broken; everywhere the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.release.telling.verdict import Standing, Verdict
from support.growing import SETTINGS, patients, plan

K_ONLY = [{"model": "k-anonymity", "k": 5}]
UNPROTECTED = "'diagnosis' is sensitive, but no model of the plan protects it"
ARRIVAL = "an attacker who knows which release first showed a person"
QUOTE = {"output": {"order": "shuffled", "formulas": "quote"}}
AS_IS = {"output": {"order": "shuffled", "formulas": "as_is"}}


def start(folder: Path, settings: dict[str, object] | None = None, **changes: object) -> ko.Series:
    return ko.Series.start(folder / "series", plan(**({"person": "none"} | changes)), SETTINGS | (settings or {}))


def verdicts(series: ko.Series, table: pl.DataFrame) -> list[Verdict]:
    """The verdicts on the first release: before it is made, on it, and on the series with it."""
    status, preview = series.status(table).verdict, series.preview(table).verdict
    made = series.release(table)
    assert status is not None
    assert made.certificate is not None
    again = series.again(1, table).verdict
    return [status, preview, made.verdict, made.certificate.verdict, again, series.verify(table).verdict]


def test_a_series_in_which_nothing_is_open_is_green(tmp_path: Path) -> None:
    assert verdicts(start(tmp_path), patients(150)) == [Verdict(Standing.GREEN)] * 6


def test_a_sensitive_column_that_no_model_protects_is_open(tmp_path: Path) -> None:
    found = verdicts(start(tmp_path, models=K_ONLY), patients(150))
    assert {verdict.standing for verdict in found} == {Standing.AMBER}
    assert len(set(found)) == 1
    assert found[0].reasons[0].startswith(UNPROTECTED)


def test_people_who_are_not_counted_are_open(tmp_path: Path) -> None:
    table = patients(150).with_columns(id=pl.Series([f"p{number // 2}" for number in range(150)]))
    found = verdicts(start(tmp_path, person=None), table)
    assert len(set(found)) == 1
    assert found[0].standing is Standing.AMBER
    assert found[0].reasons[0].startswith("rows are counted, not people: 'id' has 75 different values in 150 rows")
    (tmp_path / "people").mkdir()
    counted = verdicts(start(tmp_path / "people", person="id", suppression_limit=1.0), table)
    assert len(set(counted)) == 1
    [reason] = counted[0].reasons
    assert reason.startswith("an attacker who knows all rows of a person hurts")


def test_formulas_that_are_released_as_they_are_are_open(tmp_path: Path) -> None:
    table = patients(150).with_columns(diagnosis=pl.col("diagnosis").replace("flu", "=1+1"))
    found = verdicts(start(tmp_path, **AS_IS), table)
    assert len(set(found)) == 1
    assert "a spreadsheet program may run" in found[0].reasons[0]


def test_an_arrival_that_leaves_too_few_candidates_is_open_and_not_counted_in_public(tmp_path: Path) -> None:
    series = start(tmp_path)
    series.release(patients(150))
    made = series.release(patients(200))
    assert made.smallest_arrival < 5
    assert made.certificate is not None
    for verdict in (made.verdict, made.certificate.verdict, series.verify(patients(200)).verdict):
        assert verdict.standing is Standing.AMBER
        assert [reason.startswith(ARRIVAL) for reason in verdict.reasons] == [True]
        assert "fewer rows than the models require" in verdict.reasons[0]


def test_arrivals_that_are_protected_are_not_open(tmp_path: Path) -> None:
    series = start(tmp_path, {"arrivals": "known"}, suppression_limit=1.0)
    series.release(patients(150))
    assert series.release(patients(300)).verdict == Verdict(Standing.GREEN)
    assert series.verify(patients(300)).verdict == Verdict(Standing.GREEN)


def test_a_release_that_cannot_be_verified_again_is_open(tmp_path: Path) -> None:
    settings: dict[str, object] = {"identified_by": "id", "withdrawn": "accept"}
    series = start(tmp_path, settings, suppression_limit=1.0)
    series.release(patients(200))
    series.release(patients(200)[1:])
    found = series.verify(patients(200)[1:])
    assert found.satisfied
    assert found.verdict.standing is Standing.AMBER
    expected = f"release 1 cannot be verified again, because {found.releases[0].gone} rows of it were corrected"
    assert [reason.startswith(expected) for reason in found.verdict.reasons] == [True]


def test_a_series_without_releases_is_not_green(tmp_path: Path) -> None:
    verdict = start(tmp_path).verify(patients(150)).verdict
    assert verdict == Verdict(Standing.AMBER, ("the series has no release yet, so that nothing was verified",))


def test_a_file_that_is_no_release_is_red_with_its_reason(tmp_path: Path) -> None:
    series = start(tmp_path, models=K_ONLY)
    series.release(patients(150))
    found = series.verify(patients(150), [patients(150)])
    assert found.verdict == Verdict(Standing.RED, ("the frame is not a release of this series",))
    assert found.to_dict()["verdict"] == found.verdict.to_dict()


def test_a_file_whose_formulas_lost_their_apostrophes_is_open(tmp_path: Path) -> None:
    table = patients(150).with_columns(diagnosis=pl.col("diagnosis").replace("flu", "=1+1"))
    series = start(tmp_path, **QUOTE)
    series.release(table, tmp_path / "release.csv")
    text = (tmp_path / "release.csv").read_text()
    (tmp_path / "bare.csv").write_text(text.replace("'=", "="))
    assert series.verify(table, [tmp_path / "release.csv"]).verdict.standing is Standing.GREEN
    found = series.verify(table, [tmp_path / "bare.csv"])
    assert found.satisfied
    assert ["have no apostrophe" in reason for reason in found.verdict.reasons] == [True]


def test_a_next_release_that_would_be_refused_is_red(tmp_path: Path) -> None:
    status = start(tmp_path).status(patients(4))
    assert status.refused is not None
    assert status.verdict == Verdict(Standing.RED, (status.refused.message,))


def test_whether_rows_are_people_is_open_although_no_number_repeats(tmp_path: Path) -> None:
    found = verdicts(start(tmp_path, person=None), patients(150))
    assert len(set(found)) == 1
    assert found[0].standing is Standing.AMBER
    [reason] = found[0].reasons
    assert reason.startswith("rows are counted, not people: nobody has said that every row is another person")


@pytest.mark.parametrize(
    ("changes", "points"), [({}, 0), ({"models": K_ONLY}, 1), ({"person": None}, 1), ({"person": "id"}, 0)]
)
def test_without_a_table_nothing_is_verified_but_the_points_of_the_plan_are_known(
    tmp_path: Path, changes: dict[str, object], points: int
) -> None:
    status = start(tmp_path, **changes).status()
    assert status.verdict is None
    assert status.to_dict()["verdict"] is None
    assert len(status.open_points) == points


def test_a_note_of_a_series_proposes_nothing_that_a_series_refuses(tmp_path: Path) -> None:
    people = [f"p{number // 2}" for number in range(150)]
    table = patients(150).with_columns(id=pl.Series(people), case=pl.Series(people))
    attributes = {**plan().attributes, "case": {"role": "insensitive"}}
    verdict = start(tmp_path, person="id", suppression_limit=1.0, attributes=attributes).status(table).verdict
    assert verdict is not None
    [tied] = [reason for reason in verdict.reasons if "ties rows of one person together" in reason]
    assert "linked_by" not in tied
    assert tied.endswith("make the column identifying")
