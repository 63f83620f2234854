"""The table of a dataset: unlocked, and compared with its hash."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import as_text
from kohorte.data.files import sha256_of
from kohorte.data.parquet import read_parquet
from kohorte.errors import EngineError, InputError, nearest
from kohorte.service.context import Service


def load(service: Service, dataset: Row[Any]) -> pl.DataFrame:
    """Return the table of a dataset; one whose bytes are not those that were stored is refused."""
    if dataset.state != "ready" or dataset.table_file is None:
        raise InputError(
            "the dataset is not ready: it is still being read, or could not be read", code="dataset-conflict"
        )
    data = service.vault.read(dataset.table_file)
    if sha256_of(data) != dataset.table_sha256:
        raise EngineError(f"the table of dataset {dataset.id} is not the one that was stored", code="service-damaged")
    return read_parquet(data, source=f"dataset {dataset.id}")


def text_column(service: Service, dataset: Row[Any], attribute: str) -> pl.Series:
    """Return a column of a dataset as text; missing cells are null."""
    frame = load(service, dataset)
    if attribute not in frame.columns:
        raise InputError(
            f"attribute_name: the dataset has no such column{nearest(attribute, frame.columns)}", code="dataset-column"
        )
    return as_text(frame.get_column(attribute))
