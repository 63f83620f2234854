"""A table is brought to the disk while it is verified; an error of the disk is not lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.errors import EngineError
from kohorte.models import KAnonymity


def released(folder: Path) -> Path:
    data, output = folder / "data.csv", folder / "release.csv"
    data.write_text("age\n30\n30\n40\n40\n", encoding="utf-8")
    plan = ko.Plan(attributes={"age": ko.Attribute(ko.Role.QUASI_IDENTIFYING)}, models=[KAnonymity(k=2)])
    ko.write_release(ko.anonymize(ko.read_table(data).frame, plan), output)
    return output


def test_a_release_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    fsync = os.fsync

    def noted(number: int) -> None:
        flushed.append(os.fstat(number).st_ino)
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    output = released(tmp_path)
    assert output.stat().st_ino in flushed


def test_an_error_of_the_disk_that_only_the_first_to_ask_is_told_ends_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OSError(errno.EIO, "the disk fails")]
    fsync = os.fsync

    def failing_once(number: int) -> None:
        if failures:
            raise failures.pop()
        fsync(number)

    monkeypatch.setattr(os, "fsync", failing_once)
    with pytest.raises(EngineError):
        released(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]
