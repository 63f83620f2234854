"""Convert frames of other libraries; a library is imported only when one of its frames is given."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from importlib import import_module
from typing import Any

import polars as pl

from kohorte.data.columns import categories_as_text, check_names, check_types, missing_as_null
from kohorte.errors import InputError

_SOURCE = "the frame"


class FrameKind(StrEnum):
    """The library of a frame, to return results in the same form."""

    POLARS = "polars"
    PANDAS = "pandas"
    ARROW_TABLE = "arrow-table"
    ARROW_BATCH = "arrow-batch"


def to_polars(frame: object) -> tuple[pl.DataFrame, FrameKind]:
    """Return a polars frame (missing as null, categories as text) and the kind of the given frame.

    Accepts polars DataFrame and LazyFrame (returned as DataFrame), pandas DataFrame, pyarrow Table and
    RecordBatch. The caller's frame is never changed.
    """
    kind = _kind_of(frame)
    if kind is FrameKind.POLARS:
        converted = _collected(frame)
    else:
        converted = _from_pandas(frame) if kind is FrameKind.PANDAS else _from_arrow(frame)
    check_names(converted.columns, source=_SOURCE)
    check_types(converted, source=_SOURCE)
    return missing_as_null(categories_as_text(converted)), kind


def from_polars(frame: pl.DataFrame, kind: FrameKind) -> object:
    """Convert a polars frame back to the given kind."""
    if kind is FrameKind.POLARS:
        return frame
    frame = categories_as_text(frame)
    try:
        return _exported(frame, kind)
    except ImportError:
        raise _missing_library(kind) from None


def _exported(frame: pl.DataFrame, kind: FrameKind) -> object:
    if kind is FrameKind.PANDAS:
        return frame.to_pandas()
    table = frame.to_arrow()
    if kind is FrameKind.ARROW_TABLE:
        return table
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else _empty_batch(table)


def _empty_batch(table: Any) -> object:
    batch: object = import_module("pyarrow").RecordBatch.from_pylist([], schema=table.schema)
    return batch


def _kind_of(frame: object) -> FrameKind:
    """Decide by the name of the type, so that pandas and pyarrow need not be installed."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return FrameKind.POLARS
    names = {(base.__module__.partition(".")[0], base.__name__) for base in type(frame).__mro__}
    known = {
        ("pandas", "DataFrame"): FrameKind.PANDAS,
        ("pyarrow", "Table"): FrameKind.ARROW_TABLE,
        ("pyarrow", "RecordBatch"): FrameKind.ARROW_BATCH,
    }
    for name, kind in known.items():
        if name in names:
            return kind
    raise InputError(
        f"a {type(frame).__module__}.{type(frame).__qualname__} is not a table; give a DataFrame of polars "
        "or pandas, or a Table of pyarrow",
        code="frame-unknown",
    )


def _collected(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        collected = frame.collect()
    except (pl.exceptions.PolarsError, OSError):
        raise InputError("the LazyFrame could not be collected", code="frame-not-collected") from None
    assert isinstance(collected, pl.DataFrame)
    return collected


def _from_pandas(frame: Any) -> pl.DataFrame:
    _check_labels(frame.columns)
    index = frame.index
    if type(index).__name__ != "RangeIndex" or index.start != 0 or index.step != 1 or index.name is not None:
        raise InputError(
            "the frame has its own index, which a release does not keep; call reset_index() if it "
            "belongs to the data, reset_index(drop=True) if not",
            code="frame-index",
        )
    columns = [_column(name, frame[name], FrameKind.PANDAS) for name in frame.columns]
    return pl.DataFrame(columns)


def _from_arrow(frame: Any) -> pl.DataFrame:
    names = frame.schema.names
    _check_labels(names)
    return pl.DataFrame([_column(name, frame.column(name), FrameKind.ARROW_TABLE) for name in names])


def _check_labels(labels: Iterable[object]) -> None:
    names = list(labels)
    if not all(isinstance(name, str) for name in names):
        raise InputError("the names of all columns must be text", code="frame-column-names")
    check_names([str(name) for name in names], source=_SOURCE)


def _column(name: str, values: Any, kind: FrameKind) -> pl.Series:
    try:
        if kind is FrameKind.PANDAS:
            values = pl.from_pandas(values, nan_to_null=True)
        return pl.Series(name, values)
    except ImportError:
        raise _missing_library(kind) from None
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError, NotImplementedError):
        raise InputError(
            f"the column {name!r} cannot be read: its values are of several types, or of one that is not "
            "supported; turn it into text, numbers or dates",
            code="frame-column-unreadable",
        ) from None


def _missing_library(kind: FrameKind) -> InputError:
    extra = "pandas" if kind is FrameKind.PANDAS else "arrow"
    return InputError(f"frames of this kind need pyarrow; install kohorte[{extra}]", code="frame-library-missing")
