"""Files that nobody names are removed, others never."""

from __future__ import annotations

import os
import time

from kohorte.service.context import Service
from kohorte.service.jobs.files import discard, sweep, temporary
from kohorte.service.storage.schema import datasets
from support.jobs import locked_files, new_dataset, row_of


def test_old_files_that_no_row_names_are_swept(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    kept = row_of(service, datasets, dataset_id).uploaded_file
    old, young = service.vault.write(b"old"), service.vault.write(b"young")
    half = temporary(service.vault, "0" * 32)
    half.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    for path in (service.vault.path(kept), service.vault.path(old), half):
        os.utime(path, (two_hours_ago, two_hours_ago))
    assert sweep(service) == 2
    assert locked_files(service) == {kept, young}


def test_a_file_that_a_row_names_is_not_discarded(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    kept = row_of(service, datasets, dataset_id).uploaded_file
    gone = service.vault.write(b"gone")
    half = temporary(service.vault, "1" * 32)
    half.write_bytes(b"half")
    discard(service, [kept, gone, "1" * 32, "2" * 32])
    discard(service, [])
    assert locked_files(service) == {kept}
