"""The types of columns by their cells, and a hierarchy that covers every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.data.missing_values import MARKS, words_for_missing
from kohorte.hierarchies import Builder, Redaction
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE, CellTable
from kohorte.identifiers.detection import CODE_LENGTH, MOSTLY
from kohorte.plans.dates_in_text import WrittenDates, dates_of
from kohorte.plans.numbers_in_text import Numbers, numbers_of

LONGEST_CODE = 100
"""The most levels of a redaction."""


@dataclass(frozen=True)
class ColumnType:
    """What the cells of a column are.

    `rows` have a value; `marks` are texts that seem to stand for a missing value. `hierarchy` covers all other cells;
    `why` says why it is proposed, or why none is. `is_date`: nearly all cells are dates.
    """

    kind: str
    rows: int
    distinct: int
    marks: tuple[str, ...] = ()
    hierarchy: Builder | None = None
    why: str = "its values have no order and no form that tells how to group them"
    is_date: bool = False


def types_of(cells: CellTable, *, typed: Sequence[int] = ()) -> list[ColumnType]:
    """The type of each column; `typed` are columns whose cells are numbers in the file, not text."""
    marked = pl.col(VALUE).str.strip_chars().str.to_lowercase().is_in(MARKS)
    plain = cells.table.filter(~marked)
    marks = dict(cells.table.filter(marked).group_by(COLUMN).agg(pl.col(VALUE)).rows())
    shapes = {
        column: (rows, distinct, length if coded else 0)
        for column, rows, distinct, coded, length in _code_lengths(plain).iter_rows()
    }
    numbers, dates = numbers_of(plain, typed), dates_of(plain)
    found = []
    for column in range(len(cells)):
        rows, distinct, length = shapes.get(column, (0, 0, 0))
        typed_as = _typed(rows, distinct, length, numbers.get(column), dates.get(column))
        found.append(_with_marks(typed_as, cells, column, marks.get(column, [])))
    return found


def _code_lengths(plain: pl.DataFrame) -> pl.DataFrame:
    """Rows and distinct values of each column, and whether all are digits of one length."""
    length = pl.col(VALUE).str.len_chars()
    return plain.group_by(COLUMN).agg(
        pl.col(COUNT).sum().alias("rows"),
        pl.len().alias("distinct"),
        (pl.col(VALUE).str.contains(r"^[0-9]+$").all() & (length.n_unique() == 1)).alias("coded"),
        length.first().alias("length"),
    )


def _typed(rows: int, distinct: int, length: int, numbers: Numbers | None, dates: WrittenDates | None) -> ColumnType:
    """The type of a column by what fits nearly all its rows; dates come before numbers."""
    if not rows:
        return ColumnType("empty", 0, 0, why="it has no values")
    hierarchy: Builder | None
    if dates is not None and dates.rows >= MOSTLY * rows:
        kind, misfits, hierarchy, why = dates.kind, rows - dates.rows, dates.builder(), dates.in_words()
    elif length >= CODE_LENGTH:
        longest = min(length, LONGEST_CODE)
        kind, misfits, why = "code", 0, f"all cells are codes of {length} digits: one digit less at each level"
        hierarchy = Redaction(length=longest) if length <= LONGEST_CODE else None
    elif numbers is not None and numbers.rows >= MOSTLY * rows:
        kind, misfits = "integer" if numbers.integer else "number", rows - numbers.rows
        hierarchy, why = numbers.intervals(), numbers.in_words()
    else:
        return ColumnType("text", rows, distinct)
    if misfits:
        cells = "1 cell" if misfits == 1 else f"{misfits:,} cells"
        kind, hierarchy = f"{kind} except for {cells}", None
        why = f"no hierarchy fits all cells: correct the {cells}, or list them under missing_values; then: {why}"
    return ColumnType(kind, rows, distinct, (), hierarchy, why, is_date=kind.startswith("date"))


def _with_marks(typed: ColumnType, cells: CellTable, column: int, marks: Sequence[str]) -> ColumnType:
    """Texts such as NA are missing values; in a column of texts some of them may be values, and never all."""
    if not marks:
        return typed
    if typed.kind not in ("text", "empty"):
        return replace(typed, marks=tuple(sorted(marks)))
    own, distinct = cells[column], int(cells.distinct[column])
    words = words_for_missing(own.values)
    if len(words) == distinct:
        return ColumnType("text", int(cells.rows[column]), distinct)
    rows = int(cells.rows[column]) - own.with_hit(own.values.is_in(words.to_list()))
    return ColumnType("text", rows, distinct - len(words), tuple(words.sort()))
