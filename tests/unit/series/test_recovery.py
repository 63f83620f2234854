"""What a killed command left is removed or completed by the next one."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.release.write import StagedFiles
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.lock import locked
from kohorte.series.memory.note import NOTE, noted
from kohorte.series.memory.state import Pending
from kohorte.series.releasing.recovery import name_pending_files
from support.growing import SETTINGS, patients, plan


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with one release of 200 patients, written."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    series.release(patients(200), tmp_path / "r1.csv")
    return series


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Drafts of a release that was not made


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
    seen = []

    def failing(*_: object, **__: object) -> None:
        seen.append(json.loads((series.folder / NOTE).read_text()))
        raise MemoryError

    monkeypatch.setattr(StagedFiles, "__enter__", failing)
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


# Files of a release that was made


def pending_release(series: ko.Series, folder: Path) -> SeriesFolder:
    """A release that was made, and whose three files have no names yet."""
    home, pending = SeriesFolder(series.folder), []
    for name in ("out.certificate.txt", "out.certificate.json", "out.csv"):
        temporary = folder / f".{name}.{'1' * 16}.tmp"
        temporary.write_text("table" if name == "out.csv" else "certificate")
        temporary.chmod(0o600)
        pending.append(Pending(str(temporary), os.path.realpath(folder / name), False))
    home.write(replace(home.read(), pending=tuple(pending)))
    return home


def temporaries(folder: Path) -> list[Path]:
    return list(folder.glob(".*.tmp"))


def test_files_named_later_have_the_mode_of_other_files(series: ko.Series, tmp_path: Path) -> None:
    folder = pending_release(series, tmp_path)
    name_pending_files(folder, folder.read())
    assert {mode(path) for path in tmp_path.glob("out.*")} == {mode(tmp_path / "r1.csv")}
    assert len(list(tmp_path.glob("out.*"))) == 3
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("name", ["out.csv", "out.certificate.txt"])
def test_nothing_is_named_beside_the_file_of_somebody_else(series: ko.Series, tmp_path: Path, name: str) -> None:
    folder = pending_release(series, tmp_path)
    (tmp_path / name).write_text("mine")
    _, notice = name_pending_files(folder, folder.read())
    assert [path.name for path in tmp_path.glob("out.*")] == [name]
    assert (tmp_path / name).read_text() == "mine"
    assert temporaries(tmp_path) == []
    assert notice is not None
    assert "--again 1" in notice


def test_a_certificate_is_not_named_without_its_table(series: ko.Series, tmp_path: Path) -> None:
    folder = pending_release(series, tmp_path)
    (tmp_path / f".out.csv.{'1' * 16}.tmp").unlink()
    name_pending_files(folder, folder.read())
    assert list(tmp_path.glob("out.*")) == []
    assert temporaries(tmp_path) == []
