"""Where the rows of a table are: in memory, in DuckDB, PostgreSQL or Spark. Sources know nothing about privacy."""

from kohorte.sources.base import COUNT, TableSource, Tuples, Written, spread
from kohorte.sources.duckdb import DuckDbSource
from kohorte.sources.encoding import (
    EncodedColumn,
    EncodedTable,
    People,
    encode,
    encode_rows,
    encode_sensitive,
)
from kohorte.sources.frame import FrameSource, which_rows
from kohorte.sources.missing import Missing
from kohorte.sources.persons import PersonColumns, Persons, classes_of_rows, numbered_keys
from kohorte.sources.postgresql import PostgresqlSource
from kohorte.sources.sensitive import SensitiveColumn, counted_as
from kohorte.sources.spark import SparkSource

SOURCES: tuple[type[TableSource], ...] = (FrameSource, DuckDbSource, PostgresqlSource, SparkSource)

__all__ = [
    "COUNT",
    "SOURCES",
    "DuckDbSource",
    "EncodedColumn",
    "EncodedTable",
    "FrameSource",
    "Missing",
    "People",
    "PersonColumns",
    "Persons",
    "PostgresqlSource",
    "SensitiveColumn",
    "SparkSource",
    "TableSource",
    "Tuples",
    "Written",
    "classes_of_rows",
    "counted_as",
    "encode",
    "encode_rows",
    "encode_sensitive",
    "numbered_keys",
    "spread",
    "which_rows",
]
