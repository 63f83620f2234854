"""A table with the types of the metadata; cells that do not fit become missing, so that no error reveals a cell."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from kohorte.data import as_text, sha256_of, without_marks
from kohorte.data.columns import check_types
from kohorte.dp.schema.columns import Column, Datatype
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.errors import InputError

PERSON = "person"
_TRUTHS = {"true": True, "t": True, "1": True, "yes": True, "false": False, "f": False, "0": False, "no": False}


@dataclass(frozen=True, eq=False)
class TypedTable:
    """The columns of the metadata as DOUBLE, BOOLEAN or text under the names c0, c1 ..., and the private id."""

    frame: pl.DataFrame = field(repr=False)
    columns: Mapping[str, Column]
    private_id: str | None
    sha256: str
    missing_values: Sequence[str] = ()

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The name of each column in the frame."""
        return _aliases(self.columns)

    def refuse_other(self, metadata: QueryMetadata) -> None:
        """Refuse metadata with other columns than those that the table was prepared for."""
        own = (dict(self.columns), self.private_id, self.missing_values)
        if own != (dict(metadata.columns), metadata.private_id, metadata.missing_values):
            raise InputError("the table was prepared for other metadata", code="query-table")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def typed_table(frame: pl.DataFrame, metadata: QueryMetadata) -> TypedTable:
    """Return the columns that may be queried, with the types of the metadata."""
    names = list(dict.fromkeys([*metadata.columns, *filter(None, [metadata.private_id])]))
    for name in names:
        if name not in frame.columns:
            raise InputError(f"the table has no column {name!r}, which the metadata name", code="query-table")
    check_types(frame.select(names), source="the table")
    frame = without_marks(frame.select(names), metadata.missing_values)
    aliases = _aliases(metadata.columns)
    columns = [_typed(frame[name], column).alias(aliases[name]) for name, column in metadata.columns.items()]
    if metadata.private_id is not None:
        columns.append(as_text(frame[metadata.private_id]).alias(PERSON))
    typed = pl.DataFrame(columns)
    return TypedTable(typed, metadata.columns, metadata.private_id, _hash(typed), metadata.missing_values)


def _aliases(columns: Mapping[str, Column]) -> dict[str, str]:
    return {name: f"c{number}" for number, name in enumerate(columns)}


def _typed(series: pl.Series, column: Column) -> pl.Series:
    if column.datatype is Datatype.TEXT:
        return as_text(series)
    plain = series.dtype.is_numeric() or isinstance(series.dtype, pl.String | pl.Boolean | pl.Null)
    if not plain:
        raise InputError(
            f"the column {series.name!r} does not have the type given in the metadata ({column.datatype})",
            code="query-table",
        )
    if column.datatype is Datatype.BOOL:
        text = as_text(series).str.strip_chars().str.to_lowercase()
        return text.replace_strict(_TRUTHS, default=None, return_dtype=pl.Boolean)
    text = series.str.strip_chars() if isinstance(series.dtype, pl.String) else series
    return text.cast(pl.Float64, strict=False).fill_nan(None)


def _hash(frame: pl.DataFrame) -> str:
    buffer = io.BytesIO()
    frame.rechunk().write_ipc(buffer, compression="uncompressed")
    return sha256_of(buffer.getvalue())
