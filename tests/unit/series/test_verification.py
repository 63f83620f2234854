"""The verification of a series finds what is wrong, also where the program that made it did not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.release.verification import Verification, verify_source
from kohorte.series import series as series_module
from kohorte.series.domain.regions import Regions, Split
from kohorte.series.drafting import growing_table, region_table
from kohorte.series.drafting.region_table import RegionTable, is_finer
from kohorte.series.releasing import certificate
from kohorte.series.splitting.refine import Refined
from kohorte.sources import TableSource
from support.growing import SETTINGS, patients, plan


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with two releases, written as files."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    for number, rows in enumerate((200, 400), start=1):
        series.release(patients(rows), tmp_path / f"release-{number}.csv")
    return series


def test_files_are_recognised_by_their_bytes_or_by_what_they_show(series: ko.Series, tmp_path: Path) -> None:
    ko.write_table(
        ko.read_table(tmp_path / "release-1.csv").frame[::-1], tmp_path / "a.parquet", like=None, force=False
    )
    files = [tmp_path / "release-2.csv", str(tmp_path / "a.parquet"), series.again(2, patients(400)).data]
    found = series.verify(patients(400), files)
    assert found.satisfied
    assert [(file.number, file.same_bytes) for file in found.files] == [(2, True), (1, False), (2, False)]


def test_a_file_in_which_one_cell_differs_is_no_release_of_the_series(series: ko.Series, tmp_path: Path) -> None:
    text = (tmp_path / "release-1.csv").read_text()
    (tmp_path / "release-1.csv").write_text(text.replace("flu", "tb", 1))
    found = series.verify(patients(400), [tmp_path / "release-1.csv"])
    assert not found.satisfied
    assert found.problems == ("release-1.csv is not a release of this series",)


def test_the_candidates_are_those_of_a_count_in_plain_python(series: ko.Series, tmp_path: Path) -> None:
    """An attacker who recognises rows knows their cells in all releases; a person fits the rows with the same cells."""
    table = patients(400)
    last = series.again(2, table).data
    of_last = last.group_by("age", "zip", "ward").len()["len"].min()
    found = series.verify(table)
    assert found.releases[1].candidates == of_last
    assert found.least == 5
    assert found.to_dict()["satisfied"] is True


def unchecked(table: TableSource, plan: ko.Plan, *, rows: int, people: object = None) -> Verification:
    """The verification of a program that finds nothing."""
    return replace(verify_source(table, plan, {}), satisfied=True, models=())


def test_releases_that_break_the_models_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without judgement splits every age apart; the verification has its own."""

    def reckless(regions: Regions, positions: np.ndarray, check: object, **options: object) -> Refined:
        splits, region = [], 0
        for position in range(20, 100, 20):
            splits.append(Split(region, 0, position))
            region = len(regions) + len(splits) - 1
        divided = regions.divided(splits)
        return Refined(divided, tuple(splits), divided.locate(positions))

    monkeypatch.setattr(region_table, "refine", reckless)
    for module in (growing_table, certificate):
        monkeypatch.setattr(module, "verified", unchecked)
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    series.release(patients(12))
    found = series.verify(patients(12))
    assert not found.satisfied
    assert "release 1 does not satisfy the models" in found.problems
    assert "linking the releases up to 1 leaves groups that do not satisfy the models" in found.problems


def test_a_release_that_showed_something_else_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = RegionTable.data

    def wrong(*arguments: object) -> pl.DataFrame:
        return shown(*arguments).with_columns(pl.lit("flu").alias("diagnosis"))  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(RegionTable, "data", wrong)
        for module in (growing_table, certificate):
            patch.setattr(module, "verified", unchecked)
        series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
        series.release(patients(200))
    found = series.verify(patients(200))
    assert found.problems == ("what release 1 showed is not what the state and the table give",)


def test_rows_that_are_gone_without_a_word_are_found(series: ko.Series, monkeypatch: pytest.MonkeyPatch) -> None:
    read = series_module.SeriesFolder.record

    def forgetful(folder: object, state: object) -> object:
        record = read(folder, state)  # type: ignore[arg-type]
        return replace(record, arrivals=np.where(record.arrivals == 1, 2, record.arrivals))

    monkeypatch.setattr(series_module.SeriesFolder, "record", forgetful)
    found = series.verify(patients(400))
    assert not found.satisfied
    assert found.problems == ("release 1 showed 200 rows, of which 200 are not accounted for",)


def test_finer_means_inside_disjoint_and_covering_the_same() -> None:
    before = Regions.of([[(0, 10)], [(20, 30)]])
    assert is_finer(before, before)
    assert is_finer(Regions.of([[(0, 4)], [(4, 10)], [(20, 30)]]), before)
    assert not is_finer(Regions.of([[(0, 4)], [(5, 10)], [(20, 30)]]), before)  # a gap
    assert not is_finer(Regions.of([[(0, 6)], [(4, 10)], [(20, 30)]]), before)  # an overlap
    assert not is_finer(Regions.of([[(0, 6)], [(4, 8)], [(20, 30)]]), before)  # both, with the same total
    assert not is_finer(Regions.of([[(0, 10)], [(15, 25)]]), before)  # across
    assert not is_finer(Regions.of([[(0, 30)]]), before)


def test_an_empty_series_has_nothing_to_prove(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    assert series.verify(patients(10)).satisfied


def test_verify_counts_the_figures_of_the_state_again(tmp_path: Path) -> None:
    series, table = ko.Series.start(tmp_path / "series", plan(), SETTINGS), patients(200)
    series.release(table)
    state = series.state
    assert series.verify(table).satisfied
    for lie in ({"loss": 0.0}, {"regions": 99}, {"smallest_region": 199}, {"departed": 5}):
        told = replace(state, releases=(replace(state.releases[0], **lie),))
        found = series_module.verify_series(series._table(table, state)[0], told)
        assert not found.satisfied, lie
