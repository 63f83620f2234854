"""The formats in which a release is handed out: the certified file, or its rows and cells in another format."""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum

from kohorte.data import read_csv, write_csv, write_parquet
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.datasets import kept_tables
from kohorte.service.datasets.memory_room import READING
from kohorte.service.projects import released_files

MEDIA_TYPES = {"csv": "text/csv", "spreadsheet": "text/csv", "parquet": "application/vnd.apache.parquet"}


class Format(StrEnum):
    """CSV is the file of the certificate; a spreadsheet program with German settings opens the second one correctly."""

    CSV = "csv"
    SPREADSHEET = "spreadsheet"
    PARQUET = "parquet"

    @property
    def media_type(self) -> str:
        """The type of the content."""
        return MEDIA_TYPES[self]

    def file_name(self, project_id: int) -> str:
        """The name under which a browser stores the file."""
        ends = {Format.CSV: ".csv", Format.SPREADSHEET: "-spreadsheet.csv", Format.PARQUET: ".parquet"}
        return f"project-{project_id}{ends[self]}"


def release_chunks(service: Service, actor: Actor, project_id: int, wanted: Format) -> Iterator[bytes]:
    """Return the released table in a format; every format has the same rows and the same text in every cell."""
    found = released_files.csv_chunks(service, actor, project_id)
    if wanted is Format.CSV:
        return found
    content, written = b"".join(found), io.BytesIO()
    header, _, rows = content.partition(b"\n")
    with kept_tables.room(service).taking((header.count(b",") + 1) * rows.count(b"\n"), READING):
        frame = read_csv(content, source=f"project {project_id}").frame
        if wanted is Format.PARQUET:
            write_parquet(frame, written)
        else:
            write_csv(frame, written, separator=";", encoding="utf-8-sig", newline="\r\n")
    return iter((written.getvalue(),))
