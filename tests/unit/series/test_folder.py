"""The folder of a series is private, and only one series begins in it."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.series.memory.folder import SeriesFolder
from support.growing import SETTINGS, patients, plan


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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
