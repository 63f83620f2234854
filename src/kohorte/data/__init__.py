"""Tables, their files and the frames of other libraries."""

from __future__ import annotations

from kohorte.data.columns import categories_as_text, missing_as_null
from kohorte.data.csv import CsvTable, read_csv, write_csv
from kohorte.data.files import atomic_write, refuse_same_file, sha256_of
from kohorte.data.formulas import FormulaCells, Formulas
from kohorte.data.interop import FrameKind, from_polars, to_polars
from kohorte.data.missing_values import as_missing_values, without_marks
from kohorte.data.parquet import read_parquet, write_parquet
from kohorte.data.person_keys import loose_keys, one_spelling, one_text, person_keys, spelling_keys
from kohorte.data.roles import Role
from kohorte.data.table import (
    TableFile,
    fill_table,
    output_separator,
    parse_table,
    read_table,
    refuse_format,
    without_quotes,
    write_table,
)
from kohorte.data.text import as_text

__all__ = [
    "CsvTable",
    "FormulaCells",
    "Formulas",
    "FrameKind",
    "Role",
    "TableFile",
    "as_missing_values",
    "as_text",
    "atomic_write",
    "categories_as_text",
    "fill_table",
    "from_polars",
    "loose_keys",
    "missing_as_null",
    "one_spelling",
    "one_text",
    "output_separator",
    "parse_table",
    "person_keys",
    "read_csv",
    "read_parquet",
    "read_table",
    "refuse_format",
    "refuse_same_file",
    "sha256_of",
    "spelling_keys",
    "to_polars",
    "without_marks",
    "without_quotes",
    "write_csv",
    "write_parquet",
    "write_table",
]
