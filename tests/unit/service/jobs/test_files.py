"""Files that nobody names are removed, others never."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from kohorte.errors import EngineError
from kohorte.service.context import Service
from kohorte.service.jobs.files import NAMING, PORTION, discard, named, sweep, temporary
from kohorte.service.storage.schema import datasets
from support.jobs import locked_files, new_dataset, row_of
from support.service import on_sqlite


def make_old(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (time.time() - 7200,) * 2, follow_symlinks=False)


def test_old_files_that_no_row_names_are_swept(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    kept = row_of(service, datasets, dataset_id).uploaded_file
    old, young = service.vault.write(b"old"), service.vault.write(b"young")
    half = temporary(service.vault, "0" * 32)
    half.write_bytes(b"half")
    make_old(service.vault.path(kept), service.vault.path(old), half)
    assert sweep(service) == 2
    assert locked_files(service) == {kept, young}


@on_sqlite
def test_what_is_not_a_locked_file_of_ours_is_not_swept(service: Service) -> None:
    folder = service.vault.folder
    others = [folder / name for name in ("notes.txt", ".nfs0001", "A" * 32, "0" * 31, f".{'0' * 32}.bak")]
    for path in others:
        path.write_bytes(b"somebody's")
    folders = [folder / "lost+found", folder / ("3" * 32)]
    for path in folders:
        path.mkdir()
    link = folder / ("4" * 32)
    link.symlink_to(others[0])
    make_old(*others, *folders, link)
    assert sweep(service) == 0
    assert set(folder.iterdir()) == {*others, *folders, link}


def test_a_file_that_cannot_be_removed_does_not_keep_the_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [service.vault.write(b"old") for _ in range(3)]
    make_old(*map(service.vault.path, names))
    unlink = Path.unlink

    def fail_once(path: Path, missing_ok: bool = False) -> None:
        if path.name == names[1]:
            raise PermissionError
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", fail_once)
    assert sweep(service) == 2
    assert locked_files(service) == {names[1]}


def test_any_number_of_files_is_looked_up_with_few_parameters_at_a_time(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    kept = row_of(service, datasets, dataset_id).uploaded_file
    many = [secrets.token_hex(16) for _ in range(2 * PORTION)]
    counts = []

    def count(*given: Any) -> None:
        counts.append(len(given[3]))

    event.listen(service.database.engine, "before_cursor_execute", count)
    with service.database.reading() as connection:
        assert named(connection, [*many, kept]) == {kept}
    assert max(counts) == PORTION
    assert sum(counts) == len(NAMING) * (2 * PORTION + 1)


@on_sqlite
def test_a_folder_that_cannot_be_read_is_an_error_of_the_package(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "iterdir", fail)
    with pytest.raises(EngineError) as caught:
        sweep(service)
    assert caught.value.code == "service-file"


def test_a_file_that_a_row_names_is_not_discarded(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    kept = row_of(service, datasets, dataset_id).uploaded_file
    gone = service.vault.write(b"gone")
    half = temporary(service.vault, "1" * 32)
    half.write_bytes(b"half")
    discard(service, [kept, gone, "1" * 32, "2" * 32])
    discard(service, [])
    assert locked_files(service) == {kept}
