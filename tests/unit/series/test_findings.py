"""What a review found: old copies of a series, files that a killed command left, and counts that are too small."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.series.memory.committing import settle
from kohorte.series.memory.drafting import NOTE, noted
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.lock import locked
from kohorte.series.memory.state import Pending
from support.growing import SETTINGS, patients, plan


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with one release of 200 patients, written."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    series.release(patients(200), tmp_path / "r1.csv")
    return series


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Going backwards


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


# What a killed command left


def left_by_a_killed_command(series: ko.Series, output: Path) -> list[Path]:
    """The note of a command, and the temporary files that it could not remove."""
    with noted(series.folder, [output]):
        note = (series.folder / NOTE).read_bytes()
    (series.folder / NOTE).write_bytes(note)
    files = [output.parent / f".{output.name}.{digits * 8}.tmp" for digits in ("0a", "ff")]
    for file in files:
        file.write_text("draft")
    return files


@pytest.mark.parametrize("command", ["status", "status of a table", "preview", "verify", "release"])
def test_the_next_command_removes_drafts(series: ko.Series, tmp_path: Path, command: str) -> None:
    files = left_by_a_killed_command(series, tmp_path / "r2.csv")
    strangers = [tmp_path / name for name in (".r2.csv.tmp", ".r2.csv.0123.tmp", f".r3.csv.{'0' * 16}.tmp")]
    for stranger in strangers:
        stranger.write_text("mine")
    match command:
        case "status":
            series.status()
        case "status of a table":
            series.status(patients(300))
        case "preview":
            series.preview(patients(300))
        case "verify":
            series.verify(patients(300))
        case _:
            series.release(patients(300))
    assert not any(file.exists() for file in files)
    assert all(stranger.read_text() == "mine" for stranger in strangers)
    assert not (series.folder / NOTE).exists()


@pytest.mark.parametrize("text", ["", "[", "7", "[7]", '["relative/r.csv"]', '["/no/such/folder/r.csv"]'])
def test_a_note_that_says_nothing_is_removed(series: ko.Series, text: str) -> None:
    (series.folder / NOTE).write_text(text)
    series.status()
    assert not (series.folder / NOTE).exists()


def test_the_note_is_there_before_any_temporary_file_and_gone_after_a_failure(
    series: ko.Series, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kohorte.series import writing

    seen = []

    def failing(*_: object, **__: object) -> None:
        seen.append(json.loads((series.folder / NOTE).read_text()))
        raise MemoryError

    monkeypatch.setattr(writing, "write_certified", failing)
    with pytest.raises(MemoryError):
        series.release(patients(300), tmp_path / "r2.csv")
    names = ("r2.csv", "r2.certificate.json", "r2.certificate.txt")
    assert seen == [[os.path.realpath(tmp_path / name) for name in names]]
    assert not (series.folder / NOTE).exists()


def test_status_without_a_table_names_the_files_of_a_killed_release(series: ko.Series, tmp_path: Path) -> None:
    pending_release(series, tmp_path)
    fresh = ko.Series.open(series.folder)
    fresh.status()
    assert (tmp_path / "out.csv").read_text() == "table"
    assert fresh.state.pending == ()


def test_status_without_a_table_works_beside_another_command_and_says_so(series: ko.Series) -> None:
    with locked(series.folder):
        assert len(series.status().releases) == 1
    assert "another command" in series.notices[0]


# Files that a killed command could not name


def pending_release(series: ko.Series, folder: Path) -> SeriesFolder:
    """A release that was made, and whose three files have no names yet."""
    place, pending = SeriesFolder(series.folder), []
    for name in ("out.certificate.txt", "out.certificate.json", "out.csv"):
        temporary = folder / f".{name}.{'1' * 16}.tmp"
        temporary.write_text("table" if name == "out.csv" else "certificate")
        temporary.chmod(0o600)
        pending.append(Pending(str(temporary), os.path.realpath(folder / name), False))
    place.write(replace(place.read(), pending=tuple(pending)))
    return place


def temporaries(folder: Path) -> list[Path]:
    return list(folder.glob(".*.tmp"))


def test_files_named_later_have_the_mode_of_other_files(series: ko.Series, tmp_path: Path) -> None:
    place = pending_release(series, tmp_path)
    settle(place, place.read())
    assert {mode(path) for path in tmp_path.glob("out.*")} == {mode(tmp_path / "r1.csv")}
    assert len(list(tmp_path.glob("out.*"))) == 3
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("name", ["out.csv", "out.certificate.txt"])
def test_nothing_is_named_beside_the_file_of_somebody_else(series: ko.Series, tmp_path: Path, name: str) -> None:
    place = pending_release(series, tmp_path)
    (tmp_path / name).write_text("mine")
    _, notice = settle(place, place.read())
    assert [path.name for path in tmp_path.glob("out.*")] == [name]
    assert (tmp_path / name).read_text() == "mine"
    assert temporaries(tmp_path) == []
    assert notice is not None
    assert "--again 1" in notice


def test_a_certificate_is_not_named_without_its_table(series: ko.Series, tmp_path: Path) -> None:
    place = pending_release(series, tmp_path)
    (tmp_path / f".out.csv.{'1' * 16}.tmp").unlink()
    settle(place, place.read())
    assert list(tmp_path.glob("out.*")) == []
    assert temporaries(tmp_path) == []


# The start


def test_an_empty_folder_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "series").mkdir(mode=0o755)
    ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    assert mode(tmp_path / "series") == 0o700


def test_a_folder_with_other_files_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "series").mkdir(mode=0o755)
    (tmp_path / "series" / "thesis.txt").write_text("precious")
    before = mode(tmp_path / "series")
    with pytest.raises(ko.InputError):
        ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    assert mode(tmp_path / "series") == before
    assert [path.name for path in (tmp_path / "series").iterdir()] == ["thesis.txt"]


def test_only_one_of_several_starts_at_once_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together, codes = threading.Barrier(4), []
    refuse_taken = SeriesFolder._refuse_taken

    def checked(folder: SeriesFolder) -> None:
        refuse_taken(folder)
        if not hasattr(passed, "once"):
            passed.once = True
            together.wait(10)  # all have seen an empty folder

    passed = threading.local()

    def start() -> None:
        try:
            ko.Series.start(tmp_path / "series", plan(), SETTINGS)
            codes.append("started")
        except ko.InputError as error:
            codes.append(error.code)

    monkeypatch.setattr(SeriesFolder, "_refuse_taken", checked)
    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes.count("started") == 1
    assert set(codes) <= {"started", "series-locked", "series-exists"}
    assert ko.Series.open(tmp_path / "series").release(patients(200)).number == 1


# Targets


def test_a_target_that_expects_fewer_rows_than_a_region_needs_is_refused(tmp_path: Path) -> None:
    marginals = {"age": {"0-119": 1.0}, "zip": {"000-999": 1.0}, "ward": {"A1": 1.0}}
    with pytest.raises(ko.InputError, match="expected_rows must be at least 5") as refused:
        ko.Series.start(tmp_path / "s", plan(), {**SETTINGS, "target": {"expected_rows": 4, "marginals": marginals}})
    assert refused.value.code == "series-target"
    assert not (tmp_path / "s").exists()


# Certificates


def facts(release: ko.SeriesRelease) -> dict[str, object]:
    assert release.certificate is not None
    found = release.certificate.facts["series"]
    assert isinstance(found, dict)
    return found


def with_held(rows: int, held: int) -> pl.DataFrame:
    """So many patients, of whom the first few lack a value, so that they are held back."""
    lacks = pl.int_range(pl.len()) < held
    return patients(rows).with_columns(age=pl.when(lacks).then(None).otherwise(pl.col("age")))


def test_a_certificate_does_not_tell_how_few_rows_are_held_back(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(missing="suppress"), SETTINGS)
    release = series.release(with_held(300, 3))
    told = facts(release)
    assert (release.held, release.rows, release.shown) == (3, 300, 297)
    assert (told["held"], told["rows"], told["loss"], told["shown"], told["least"]) == (None, None, None, 297, 5)
    assert release.certificate is not None
    text = release.certificate.to_text()
    assert release.certificate.facts["input"] == {"rows": None}
    assert "Rows        297 are shown (297 for the first time) and fewer than 5 held back" in text
    assert "Loss        not told" in text


def test_a_certificate_does_not_tell_how_few_rows_are_new(series: ko.Series) -> None:
    release = series.release(patients(202))
    assert (release.new, facts(release)["new"], facts(release)["held"]) == (2, None, 0)
    assert release.certificate is not None
    assert "(fewer than 5 for the first time) and 0 held back" in release.certificate.to_text()
    assert facts(release)["rows"] == 202


def test_counts_that_are_large_enough_are_told(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(missing="suppress"), SETTINGS)
    release = series.release(with_held(300, 5))
    assert (facts(release)["held"], facts(release)["rows"], facts(release)["loss"]) == (5, 300, release.loss)


def test_the_certificate_of_a_full_domain_series_speaks_of_classes(tmp_path: Path) -> None:
    attributes = dict(plan().to_dict()["attributes"])  # type: ignore[call-overload]
    attributes["zip"] = {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 3}}}
    series = ko.Series.start(tmp_path / "series", plan(attributes=attributes), {"kind": "full-domain"})
    release = series.release(patients(300))
    assert release.certificate is not None
    assert "region" not in release.certificate.to_text().lower()
    assert "came together into a class" in release.certificate.to_text()
