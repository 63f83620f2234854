"""A series restored from an old copy refuses a release beside those that it does not know."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import kohorte as ko
from support.growing import SETTINGS, patients, plan


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with one release of 200 patients, written."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    series.release(patients(200), tmp_path / "r1.csv")
    return series


def restored(series: ko.Series, copy: Path) -> ko.Series:
    shutil.rmtree(series.folder)
    shutil.copytree(copy, series.folder)
    return ko.Series.open(series.folder)


@pytest.fixture
def old(series: ko.Series, tmp_path: Path) -> ko.Series:
    """The series as an old copy has it, beside its two releases."""
    shutil.copytree(series.folder, tmp_path / "copy")
    series.release(patients(300), tmp_path / "r2.csv")
    return restored(series, tmp_path / "copy")


@pytest.mark.parametrize(("name", "force"), [("r3.csv", False), ("r2.csv", True), ("r1.csv", True)])
def test_a_release_from_an_old_copy_is_refused_beside_the_releases_that_it_does_not_know(
    old: ko.Series, tmp_path: Path, name: str, force: bool
) -> None:
    before = {path: path.read_bytes() for path in tmp_path.glob("r*")}
    with pytest.raises(ko.PrivacyViolation) as refused:
        old.release(patients(400, seed=1), tmp_path / name, force=force)
    assert refused.value.code == "series-backwards"
    assert "r2.certificate.json" in refused.value.message
    assert "latest copy" in refused.value.message
    assert {path: path.read_bytes() for path in tmp_path.glob("r*")} == before
    assert len(old.history) == 1


def test_the_latest_copy_goes_on(series: ko.Series, tmp_path: Path) -> None:
    series.release(patients(300), tmp_path / "r2.csv")
    shutil.copytree(series.folder, tmp_path / "copy")
    latest = restored(series, tmp_path / "copy")
    assert latest.release(patients(400), tmp_path / "r3.csv").number == 3
    assert latest.release(patients(500), tmp_path / "r3.csv", force=True).number == 4


def test_a_series_that_went_another_way_is_refused_later_too(old: ko.Series, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    old.release(patients(400), tmp_path / "elsewhere" / "r2.csv")
    with pytest.raises(ko.PrivacyViolation) as refused:
        old.release(patients(500), tmp_path / "r3.csv")
    assert refused.value.code == "series-backwards"


def test_an_output_that_is_a_link_is_looked_at_where_its_file_is(old: ko.Series, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "new.csv").symlink_to(tmp_path / "r2.csv")
    with pytest.raises(ko.PrivacyViolation):
        old.release(patients(400), tmp_path / "links" / "new.csv", force=True)


def test_certificates_of_others_and_what_is_none_do_not_matter(series: ko.Series, tmp_path: Path) -> None:
    other = ko.Series.start(tmp_path / "other", plan(), SETTINGS)
    for number in (1, 2, 3):
        other.release(patients(100 + 100 * number), tmp_path / f"other-{number}.csv")
    for number, text in enumerate(('{"series": 7}', "[]", "{", "[" * 100_000, '{"series": {"id": 1}}')):
        (tmp_path / f"{number}.certificate.json").write_text(text)
    (tmp_path / "folder.certificate.json").mkdir()
    assert series.release(patients(300), tmp_path / "r2.csv").number == 2


def test_an_earlier_release_written_again_is_known(series: ko.Series, tmp_path: Path) -> None:
    series.release(patients(300), tmp_path / "r2.csv")
    series.again(1, patients(300), tmp_path / "again.parquet")
    assert series.release(patients(400), tmp_path / "r3.csv").number == 3
