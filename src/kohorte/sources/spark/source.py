"""A table in Spark: its rows stay with the workers, and only distinct tuples and counts come here."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from kohorte.data import Formulas
from kohorte.errors import InputError
from kohorte.sources.base import OutsideSource, Tuples, Written
from kohorte.sources.frame import FrameSource
from kohorte.sources.parquet_files import ParquetFiles
from kohorte.sources.spark.columns import Column, checked_columns, own_names
from kohorte.sources.spark.files import address, read_files, refuse_changed_types, refuse_spark_output, wait_for_workers
from kohorte.sources.spark.session import failures, library
from kohorte.sources.sql import COUNT

COUNTED = "count"
"""The column that Spark adds; in expressions, the columns of a table have other names."""

BROADCAST = 100_000
"""Labels of so many tuples are sent to each worker, so that rows need not move; our own choice, not measured."""

IN_RANDOM_ORDER = "reflect('java.util.UUID', 'randomUUID')"
"""Random numbers that Java makes for secrets, on the workers; a seed would stand in Spark's logs."""


def is_spark_frame(frame: object) -> bool:
    """Whether this is a DataFrame of Spark, classic or Connect; pyspark is not imported for it."""
    kinds = {(base.__module__.partition(".")[0], base.__name__) for base in type(frame).__mro__}
    return ("pyspark", "DataFrame") in kinds and hasattr(frame, "sparkSession")


def spark_as_source(frame: object) -> object:
    """Return a DataFrame of Spark as a source, and anything else as it is."""
    return SparkSource(frame) if is_spark_frame(frame) else frame


class SparkSource(OutsideSource):
    """The rows of a Spark DataFrame (extra `spark`), counted, generalized and written by Spark.

    It does not support what needs single rows: recoders, subsets of flagged rows, pseudonyms, decorrelation.
    """

    name: ClassVar[str] = "spark"
    place: ClassVar[str] = "Spark"

    def __init__(self, frame: Any, *, source: str = "the frame") -> None:
        library()
        self.files: tuple[Path, ...] = ()
        self.found: ParquetFiles | None = None
        self.separator: str | None = None
        with failures(source):
            schema = frame.schema
            own = checked_columns(schema, source=source)
            named = frame.toDF(*(column.own for column in own.values()))
            for field, column in zip(schema, own.values(), strict=True):
                if field.metadata:  # could list values that no kept row has
                    named = named.withMetadata(column.own, {})
            cleaned = named.selectExpr(*(column.cleaned for column in own.values()))
        self._reads(cleaned, own)

    @classmethod
    def at(cls, path: Path, session: Any) -> Self:
        """The rows of a Parquet file, a folder or a pattern, which this machine and all workers see."""
        found = ParquetFiles.at(path)
        source = cls._opened(found, session, source=path.name)
        source.files, source.found = found.files, found
        return source

    @classmethod
    def _opened(cls, found: ParquetFiles, session: Any, *, source: str) -> Self:
        """Read files, and refuse types that Spark would change."""
        with failures(source):
            frame = read_files(found, session)
        table = cls(frame, source=source)
        refuse_changed_types(found, table._own.values(), source=source)
        return table

    def _reads(self, frame: Any, own: dict[str, Column]) -> None:
        self._frame, self._own, self.columns = frame, own, tuple(own)
        self._counted: dict[tuple[str, ...], FrameSource] = {}

    def _table(self, frame: Any, own: dict[str, Column]) -> Self:
        """Another table in the same session."""
        table = copy(self)
        table._reads(frame, own)  # noqa: SLF001 - its own class
        return table

    @property
    def data(self) -> Any:
        """The rows, as a DataFrame of Spark."""
        return self._frame.toDF(*self.columns)

    @property
    def path(self) -> Path:
        """The path that was read."""
        assert self.found is not None
        return self.found.path

    @property
    def sha256(self) -> str:
        """The hash of the file; of several, the hash of the list of their hashes and names, as sha256sum prints it."""
        assert self.found is not None
        return self.found.sha256

    def settled(self) -> Self:
        """Compute the rows now, and keep them with the workers.

        A frame that is computed again could give other rows, or another order, than were verified. If a worker is
        lost, what it kept is lost, too, and Spark refuses.
        """
        with failures("the release"):
            return self._table(self._frame.localCheckpoint(eager=True), self._own)

    # Counting

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self._counted:
            return next(iter(self._counted.values())).rows
        with failures("the table"):
            return int(self._frame.count())

    def without_marks(self, marks: Sequence[str]) -> Self:
        """Return the table in which cells with one of these texts are missing."""
        if not marks:
            return self
        with failures("the table"):
            cells = [column.unmarked(marks) for column in self._own.values()]
            return self._table(self._frame.selectExpr(*cells), self._own)

    def distinct(self, columns: Sequence[str]) -> Tuples:
        """Return the distinct tuples of these columns, with their counts."""
        return self._group(columns).distinct(columns)

    def count_shown(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct tuples of these columns as text, with their counts."""
        return self._group(columns).count_shown(columns)

    def _group(self, columns: Sequence[str]) -> FrameSource:
        """Count the tuples by their values, by Spark or, if more columns were counted already, from their tuples."""
        names = tuple(columns)
        if names not in self._counted:
            finer = [known for known in self._counted if set(names) <= set(known)]
            if finer and names:
                known = min((self._counted[one] for one in finer), key=lambda one: one.in_memory("").height)
                raw = known.in_memory("").select(names).with_columns(pl.Series(COUNT, known.weights))
                counted = raw.group_by(names).agg(pl.col(COUNT).sum())
            else:
                counted = self._counted_by_spark(names)
            counted = counted.sort(names, nulls_last=True) if names else counted
            counts = counted[COUNT].to_numpy().astype(np.int64)
            self._counted[names] = FrameSource(counted.drop(COUNT), counts=counts)
        return self._counted[names]

    def _counted_by_spark(self, names: tuple[str, ...]) -> pl.DataFrame:
        with failures("the table"):
            own = [self._own[name].own for name in names]
            fetched = pl.DataFrame(self._frame.groupBy(*own).count().toArrow())
        return fetched.select(*own, COUNTED).rename(dict(zip([*own, COUNTED], [*names, COUNT], strict=True)))

    # Releasing

    def released(self, tuples: Tuples, shown: pl.DataFrame, *, without: Sequence[str] = (), shuffled: bool) -> Self:
        """Return the table with the columns of `shown` instead of its own; `shuffled` decides about its order."""
        kept = [name for name in self.columns if name not in without]
        frame, takes = self._frame, {name: self._own[name].own for name in kept}
        with failures("the table"):
            if shown.width:
                frame, labels = self._labelled(tuples, shown)
                takes |= {name: label for name, label in labels.items() if name in takes}
            cells = [f"{takes[name]} AS {own}" for name, own in zip(kept, own_names(len(kept)), strict=True)]
            if shuffled:
                frame = frame.selectExpr(*cells, f"{IN_RANDOM_ORDER} AS place").orderBy("place").drop("place")
            else:
                frame = frame.selectExpr(*cells)
        own = {
            name: Column(number, pl.String(), "STRING")
            if name in shown.columns
            else Column(number, self._own[name].dtype, self._own[name].sql)
            for name, number in zip(kept, own_names(len(kept)), strict=True)
        }
        return self._table(frame, own)

    def _labelled(self, tuples: Tuples, shown: pl.DataFrame) -> tuple[Any, dict[str, str]]:
        """Join the rows with what their tuples show; return them, and the columns of the texts."""
        counted = self._group(tuples.columns)
        by_value = counted.released(tuples, shown, shuffled=False).in_memory("")
        keys = [column.alias(f"k{at}") for at, column in enumerate(counted.in_memory("").select(tuples.columns))]
        own = {name: f"l{number}" for number, name in enumerate(shown.columns)}
        sent = pl.DataFrame([*keys, *(by_value[name].alias(label) for name, label in own.items())])
        types = [self._own[name].sql for name in tuples.columns] + ["STRING"] * len(own)
        schema = ", ".join(f"{name} {kind}" for name, kind in zip(sent.columns, types, strict=True))
        arrow = sent.to_arrow(compat_level=pl.CompatLevel.oldest())
        labels = self._frame.sparkSession.createDataFrame(arrow, schema)
        if sent.height <= BROADCAST:
            labels = labels.hint("broadcast")
        same = [
            self._frame[self._own[name].own].eqNullSafe(labels[key.name])
            for name, key in zip(tuples.columns, keys, strict=True)
        ]
        return self._frame.join(labels, reduce(lambda one, other: one & other, same)), own

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Write a folder of Parquet files, by the workers."""
        del separator, formulas
        refuse_spark_output(output)
        if target.exists():
            raise InputError(
                f"{output.name}: a table in Spark is written as a folder, with write_folder", code="output-elsewhere"
            )
        with failures(output.name):
            try:
                self.data.write.parquet(address(target))
            except KeyboardInterrupt:  # the workers must not go on writing into a folder that is removed
                self._frame.sparkSession.interruptAll()
                wait_for_workers(target)
                raise

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Open the folder as a new table of the same session."""
        del separator, formulas
        try:
            found = ParquetFiles.at(target)
        except InputError:
            raise InputError(
                f"{output.name}: this machine does not see what the workers of Spark wrote into {target.parent} on "
                "their own disks, which is not verified and has to be removed there; give a folder that all share",
                code="spark-folder",
            ) from None
        return Written(self._opened(found, self._frame.sparkSession, source=output.name), found.sha256)
