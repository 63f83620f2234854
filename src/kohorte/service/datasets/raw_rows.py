"""The first rows of a raw table, for those who may see values: was the file read as it was meant?"""

from __future__ import annotations

from typing import Any

from kohorte.data import as_text
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.permissions import Permission


def preview(service: Service, actor: Actor, dataset_id: int, *, rows: int) -> dict[str, Any]:
    """Return the first rows as text, with an entry in the audit log; a missing cell is an empty text."""
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    frame = kept_tables.frame(service, dataset).head(rows)
    log_reading(service, actor, dataset_id, "preview-dataset", rows=frame.height)
    texts = [as_text(column).fill_null("").to_list() for column in frame.get_columns()]
    return {"columns": frame.columns, "rows": [list(row) for row in zip(*texts, strict=True)]}
