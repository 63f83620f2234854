"""Cells that a spreadsheet program could run as formulas when it opens a CSV file, and the apostrophe before them.

A cell counts as a formula if its text begins with one of the signs = + - @, their full-width forms, a tab, a line end
or a null character, unless it is a plain number (-3.5, +4) or consists of plus and minus signs only (-, ++), which
leaves nothing to compute. The apostrophe makes a spreadsheet program show the cell as text.

A text that already has apostrophes before a formula gets one more. So different cells stay different, and removing one
apostrophe gives every cell back.

Source
    OWASP Foundation, OWASP Application Security Verification Standard 5.0, 2025, requirement 1.2.10; MITRE, Common
    Weakness Enumeration, CWE-1236: Improper Neutralization of Formula Elements in a CSV File. Line ends and full-width
    signs are added here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from kohorte.data.columns import dictionary, is_coded, tallied

APOSTROPHE = "'"

_FIRST = r"[=+\-@＝＋－＠\t\r\n\x00]"
_BEGINS = f"^{_FIRST}"
_BEGINS_BEHIND_APOSTROPHES = f"^'*{_FIRST}"
_NUMBER = r"[+\-]?(?:[0-9]+(?:[.,][0-9]+)*|[.,][0-9]+)(?:[eE][+\-]?[0-9]+)?"
_HARMLESS = rf"^(?:[+\-]+|{_NUMBER})$"


class Formulas(StrEnum):
    """What a CSV file does with cells that a spreadsheet program could run as formulas."""

    QUOTE = "quote"  # an apostrophe is put before them
    AS_IS = "as_is"  # they are written unchanged, which is an open point


@dataclass(frozen=True)
class FormulaCells:
    """How many cells of each column are formulas, and which names of columns; no values."""

    cells: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.cells or self.names)


def is_formula(text: pl.Series) -> pl.Series:
    """Tell which texts a spreadsheet program could run as a formula; missing ones are none."""
    begins = text.str.contains(_BEGINS).fill_null(value=False)
    return begins & ~text.str.contains(_HARMLESS).fill_null(value=False) if begins.any() else begins


def bare_formulas(frame: pl.DataFrame) -> FormulaCells:
    """Count the formulas without an apostrophe in a table of texts."""
    names = pl.Series(frame.columns, dtype=pl.String)
    counts = {name: _count(frame[name], is_formula) for name in _with_formulas(frame)}
    return FormulaCells(_above_zero(counts), tuple(names.filter(is_formula(names))))


def quote_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before the formulas of a table of texts, and before names of columns that are formulas."""
    return _changed(frame, _with_apostrophe)


def unquote_formulas(frame: pl.DataFrame) -> tuple[pl.DataFrame, FormulaCells]:
    """Undo `quote_formulas`; also say where the apostrophes were.

    A table with a formula that has no apostrophe was not made by `quote_formulas`. It is returned unchanged: removing
    apostrophes could make cells equal that differ in the file.
    """
    if bare_formulas(frame):
        return frame, FormulaCells()
    before, quoted = _changed(frame, _without_apostrophe), _with_formulas(frame)
    counts = {
        name: _count(column, _behind_apostrophes) for name, column in _named(before, frame) if column.name in quoted
    }
    names = tuple(own for own, shown in zip(before.columns, frame.columns, strict=True) if own != shown)
    return before, FormulaCells(_above_zero(counts), names)


def _named(before: pl.DataFrame, frame: pl.DataFrame) -> zip[tuple[str, pl.Series]]:
    """The columns of the file under the names that they have without apostrophes."""
    return zip(before.columns, frame.iter_columns(), strict=True)


def _changed(frame: pl.DataFrame, change: Callable[[pl.Series], pl.Series]) -> pl.DataFrame:
    names, touched = change(pl.Series(frame.columns, dtype=pl.String)), _with_formulas(frame)
    columns = (
        (_cells(column, change) if column.name in touched else column).alias(name)
        for column, name in zip(frame.iter_columns(), names, strict=True)
    )
    return pl.DataFrame(list(columns)) if frame.width else frame


def _with_formulas(frame: pl.DataFrame) -> list[str]:
    """The columns that have a formula behind any number of apostrophes, or behind none.

    A table can have hundreds of columns, so they are looked at together. In most of them no cell begins as a formula.
    """
    coded = [column.name for column in frame.iter_columns() if is_coded(column) and _coded_formula(column)]
    texts = frame.select(column for column in frame.iter_columns() if not is_coded(column))
    begin = _those_with(texts, pl.all().str.contains(_BEGINS_BEHIND_APOSTROPHES))
    behind = pl.all().str.strip_chars_start(APOSTROPHE)
    found = {*coded, *_those_with(texts.select(begin), behind.str.contains(_BEGINS) & ~behind.str.contains(_HARMLESS))}
    return [name for name in frame.columns if name in found]


def _those_with(texts: pl.DataFrame, cells: pl.Expr) -> list[str]:
    """The columns in which this is true of a cell."""
    if not texts.width:
        return []
    found = texts.select(cells.any()).row(0)
    return [name for name, some in zip(texts.columns, found, strict=True) if some]


def _coded_formula(column: pl.Series) -> bool:
    """Rows are looked at only if the dictionary has a formula, which can be a text that no row has any more."""
    return _has_formula(dictionary(column)) and _has_formula(tallied(column)[0])


def _has_formula(texts: pl.Series) -> bool:
    return bool(_behind_apostrophes(texts).any())


def _cells(column: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The changed texts of a column; a coded one, none of whose texts changes, stays coded."""
    if is_coded(column):
        texts = tallied(column)[0]
        if change(texts).equals(texts):
            return column
        column = column.cast(pl.String)
    return change(column)


def _count(column: pl.Series, which: Callable[[pl.Series], pl.Series]) -> int:
    """How many rows have such a text; those of a coded column are looked at once each."""
    if not is_coded(column):
        return int(which(column).sum())
    texts, rows = tallied(column)
    return int(rows.filter(which(texts)).sum())


def _with_apostrophe(text: pl.Series) -> pl.Series:
    meant = _behind_apostrophes(text)
    return text.zip_with(~meant, APOSTROPHE + text) if meant.any() else text


def _without_apostrophe(text: pl.Series) -> pl.Series:
    """Remove one apostrophe from each formula; all of them have at least one."""
    meant = _behind_apostrophes(text)
    return text.zip_with(~meant, text.str.slice(1)) if meant.any() else text


def _behind_apostrophes(text: pl.Series) -> pl.Series:
    """Tell which texts are a formula behind any number of apostrophes, or behind none."""
    begins = text.str.contains(_BEGINS_BEHIND_APOSTROPHES).fill_null(value=False)
    return is_formula(text.str.strip_chars_start(APOSTROPHE)) if begins.any() else begins


def _above_zero(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}
