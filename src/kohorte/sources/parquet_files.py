"""Which Parquet files a path means: one file, all files of a folder, those that fit a pattern, or objects in a store.

Folders whose names are `column=value` are columns of the table, as Hive and Spark write them.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kohorte.data import sha256_of
from kohorte.data.columns import check_names, check_types, quoted
from kohorte.data.files import unreadable
from kohorte.data.parquet import damaged_parquet
from kohorte.data.table import PARQUET
from kohorte.errors import InputError

PATTERN = frozenset("*?[")
REMOTE = ("s3://", "gs://", "gcs://", "r2://", "http://", "https://")


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns; `partitions` are the columns that the names of folders add."""

    path: Path
    files: tuple[Path, ...]
    schema: pl.Schema
    partitions: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: Path) -> ParquetFiles:
        """The files that a path means; a file with the name of a pattern is that file."""
        if path.is_file():
            return cls(path, (path,), _schema(path))
        if not is_several(path):
            raise unreadable(path, FileNotFoundError())
        root = path if path.is_dir() else _root(path)
        files = _in_folder(path) if path.is_dir() else _fitting(path)
        if not files:
            raise InputError(f"{path.name}: there is no Parquet file", code="file-unreadable")
        schemas = {file: _schema(file) for file in files}
        first = schemas[files[0]]
        for file, schema in schemas.items():
            if list(schema.items()) != list(first.items()):
                raise InputError(
                    f"{file.name}: its columns or their types differ from those of {files[0].name}; all files of a "
                    "table have the same columns, in the same order",
                    code="table-files-differ",
                )
        partitions = _partitions(files, root)
        if both := [name for name in partitions if name in first]:
            raise InputError(
                f"{path.name}: folders are named after {quoted(both)}, which the files have as columns, too",
                code="table-duplicate-columns",
            )
        whole = pl.Schema({**first, **dict.fromkeys(partitions, pl.String())})
        check_names(list(whole), source=path.name)
        return cls(path, files, whole, partitions)

    @property
    def root(self) -> Path:
        """The folder above all files."""
        if self.files == (self.path,):
            return self.path.parent
        return self.path if self.path.is_dir() else _root(self.path)

    @property
    def sha256(self) -> str:
        """The hash of the file; of several, the hash of the list of their hashes and names, as sha256sum prints it."""
        if self.files == (self.path,):
            return sha256_of(self.path)
        root = self.root
        lines = (f"{sha256_of(file)}  {file.relative_to(root).as_posix()}\n" for file in self.files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def refuse_among_files(path: Path, output: Path) -> None:
    """Refuse an output in a folder whose files are the table: the next time it would be a part of it."""
    if path.is_dir() and Path(os.path.realpath(output)).is_relative_to(os.path.realpath(path)):
        raise InputError(
            f"{output}: all files of this folder are the table that is released; write into another folder",
            code="output-is-input",
        )


def is_several(path: Path) -> bool:
    """Whether a path means a folder or a pattern, not one file."""
    return path.is_dir() or (_is_pattern(path) and not path.is_file())


def is_remote(path: str) -> bool:
    """Whether a path is the address of an object store."""
    return path.lower().startswith(REMOTE)


def only(path: Path) -> str:
    """The path as a pattern that only this file fits: DuckDB takes `*`, `?` and `[` for parts of a pattern."""
    return "".join(f"[{character}]" if character in PATTERN else character for character in str(path))


def _is_pattern(path: Path) -> bool:
    return not PATTERN.isdisjoint(str(path))


def _root(pattern: Path) -> Path:
    """The folder above the first part that is a pattern."""
    parts = pattern.parts
    at = next(number for number, part in enumerate(parts) if not PATTERN.isdisjoint(part))
    return Path(*parts[:at])


def _in_folder(folder: Path) -> tuple[Path, ...]:
    return _visible((file for suffix in sorted(PARQUET) for file in folder.rglob(f"*{suffix}")), folder)


def _fitting(pattern: Path) -> tuple[Path, ...]:
    return _visible(map(Path, glob.glob(str(pattern), recursive=True)), _root(pattern))  # noqa: PTH207 - absolute, too


def _visible(files: Iterable[Path], root: Path) -> tuple[Path, ...]:
    """The files in the order of their names, without those that Hive and Spark hide: names with `_` or `.` first."""
    return tuple(
        sorted(
            file
            for file in files
            if file.is_file() and not any(part.startswith(("_", ".")) for part in file.relative_to(root).parts)
        )
    )


def _partitions(files: Sequence[Path], root: Path) -> tuple[str, ...]:
    """The columns in the names of the folders; all files have the same."""
    found = {
        tuple(part.partition("=")[0] for part in file.relative_to(root).parts[:-1] if "=" in part) for file in files
    }
    if len(found) > 1:
        raise InputError(
            f"{root.name}: some files are in folders named column=value and others are not, or in folders of other "
            "columns",
            code="table-files-differ",
        )
    return found.pop()


def _schema(path: Path) -> pl.Schema:
    try:
        with path.open("rb") as file:  # its name would be a pattern to polars, too
            schema = pl.Schema(pl.read_parquet_schema(file))
    except OSError as error:
        raise unreadable(path, error) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise damaged_parquet(path.name) from None
    check_names(list(schema), source=path.name)
    check_types(pl.DataFrame(schema=schema), source=path.name)
    return schema
