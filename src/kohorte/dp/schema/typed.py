"""A table with the types of the metadata; cells that do not fit become missing, so that no error reveals a cell."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from kohorte.data import Role, as_text, person_keys, sha256_of, without_marks
from kohorte.data.columns import check_types
from kohorte.dp.schema.columns import Column, Datatype
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.errors import InputError
from kohorte.plans.people.contradicted_person import Contradiction, contradictions
from kohorte.plans.people.repeated_people import refuse_repeated, repeated_column
from kohorte.plans.unit import Unit
from kohorte.sources import FrameSource

PERSON = "person"
_TRUTHS = {"true": True, "t": True, "1": True, "yes": True, "false": False, "f": False, "0": False, "no": False}


@dataclass(frozen=True, eq=False)
class Rows:
    """A frame as Arrow; without the table, so that nothing refers to it in a circle."""

    frame: pl.DataFrame = field(repr=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, eq=False)
class TypedTable:
    """The columns of the metadata as DOUBLE, BOOLEAN or text under the names c0, c1 ..., and the private id."""

    frame: pl.DataFrame = field(repr=False)
    columns: Mapping[str, Column]
    person_columns: tuple[str, ...]
    sha256: str
    missing_values: Sequence[str] = ()
    doubts: tuple[str, ...] = ()
    """What contradicts the private id, without figures."""
    prepared: dict[int, list[Any]] = field(default_factory=dict, repr=False)
    """Connections of DuckDB that know the rows, by process, for the next queries; they end with the table."""

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The name of each column in the frame."""
        return _aliases(self.columns)

    def refuse_other(self, metadata: QueryMetadata) -> None:
        """Refuse metadata with other columns than those that the table was prepared for."""
        own = (dict(self.columns), self.person_columns, self.missing_values)
        if own != (dict(metadata.columns), metadata.person_columns, metadata.missing_values):
            raise InputError("the table was prepared for other metadata", code="query-table")

    @property
    def rows(self) -> Rows:
        """What DuckDB reads."""
        return Rows(self.frame)


def typed_table(frame: pl.DataFrame, metadata: QueryMetadata) -> TypedTable:
    """Return the columns that may be queried, with the types of the metadata."""
    names = list(dict.fromkeys([*metadata.columns, *metadata.person_columns]))
    for name in names:
        if name not in frame.columns:
            raise InputError(f"the table has no column {name!r}, which the metadata name", code="query-table")
    _refuse_unstated(frame, metadata)
    check_types(frame.select(names), source="the table")
    doubts = tuple(found.without_figures for found in contradicted_id(frame, metadata))
    frame = without_marks(frame.select(names), metadata.missing_values)
    aliases = _aliases(metadata.columns)
    columns = [_typed(frame[name], column).alias(aliases[name]) for name, column in metadata.columns.items()]
    if metadata.person_columns:
        columns.append(person_keys([as_text(frame[name]) for name in metadata.person_columns]).alias(PERSON))
    typed = pl.DataFrame(columns)
    persons = metadata.person_columns
    return TypedTable(typed, metadata.columns, persons, _hash(typed), metadata.missing_values, doubts)


def contradicted_id(frame: pl.DataFrame, metadata: QueryMetadata) -> tuple[Contradiction, ...]:
    """Find what contradicts the private id, as it contradicts the person of a plan."""
    roles = dict.fromkeys((*metadata.identifying, *metadata.person_columns), Role.IDENTIFYING)
    whole = FrameSource(without_marks(frame, metadata.missing_values))
    return contradictions(whole, Unit(metadata.person, None, roles))


def _refuse_unstated(frame: pl.DataFrame, metadata: QueryMetadata) -> None:
    """Refuse a table with repeated identifiers if the metadata do not say whom a row is about."""
    if metadata.private_id is None:
        whole = FrameSource(without_marks(frame, metadata.missing_values))
        roles = dict.fromkeys(metadata.identifying, Role.IDENTIFYING)
        refuse_repeated(repeated_column(whole, roles), "private_id")


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
