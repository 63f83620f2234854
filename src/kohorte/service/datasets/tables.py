"""The table of a dataset: decrypted, and compared with its hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import as_text
from kohorte.data.files import sha256_of
from kohorte.data.parquet import read_parquet
from kohorte.errors import EngineError, InputError, nearest
from kohorte.service.context import Service


def load(service: Service, dataset: Row[Any], *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the table of a dataset, or some of its columns; a table that was changed on disk is refused."""
    if dataset.state != "ready" or dataset.table_file is None:
        raise InputError(
            "the dataset is not ready: it is still being read, or could not be read", code="dataset-conflict"
        )
    data = service.vault.read(dataset.table_file)
    if sha256_of(data) != dataset.table_sha256:
        raise EngineError(f"the table of dataset {dataset.id} is not the one that was stored", code="service-damaged")
    return read_parquet(data, source=f"dataset {dataset.id}", columns=columns)


def text_column(service: Service, dataset: Row[Any], attribute: str) -> pl.Series:
    """Return a column of a dataset as text; missing cells are null, and no other column is read."""
    names = [column["name"] for column in dataset.columns or ()]
    if names and attribute not in names:
        raise InputError(
            f"attribute_name: the dataset has no such column{nearest(attribute, names)}", code="dataset-column"
        )
    return as_text(load(service, dataset, columns=[attribute]).get_column(attribute))
