"""Detect columns that look like one of the 18 classes of identifiers, by their names and their contents.

The explanation for a column never contains one of its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import polars as pl

from kohorte.data.text import as_text
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE, Cells, CellTable
from kohorte.identifiers.classes import CLASSES, Form
from kohorte.identifiers.contents import HAS_MONTH_NAME, KINDS, OLDEST_AGES, YEARS_ONLY, content_rows
from kohorte.identifiers.names import told_by_name

__all__ = ["CLASSES", "EMBEDDED", "MOSTLY", "Cells", "Form", "Suspicion", "form_by_name", "suspects", "suspects_in"]

MOSTLY = 0.95
EMBEDDED = 0.01
UNIQUE = 0.9
FEW_ROWS = 20
FREE_TEXT = 0.2
FEW_TEXTS = 5
CODE_LENGTH = 4
LONG_TEXT = r"\S\s+\S+\s+\S+\s+\S+\s+\S+\s+\S"
"""At least six words."""
MEASUREMENT = (
    r"^[-+]?(?:[0-9]+(?:[.,][0-9]+)?|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[0-9]{1,3}(?:[,'’][0-9]{3})+\.[0-9]+"
    r"|[0-9]{1,3}(?:[ \x{A0}\x{2009}\x{202F}][0-9]{3})+[.,][0-9]+)$"
)
"""A number, with a decimal point or comma; thousands are separated only where decimals follow, unlike in a code."""
OLDEST = 89


@dataclass(frozen=True)
class Suspicion:
    """A class that a column seems to belong to; `why` gives the reason in words and counts."""

    number: int
    why: str
    form: Form

    @property
    def name(self) -> str:
        """The name of the class."""
        return CLASSES[self.number]


def suspects(
    column: pl.Series,
    rows: int,
    *,
    least: float = EMBEDDED,
    mostly: float = MOSTLY,
    sample: int | None = None,
) -> list[Suspicion]:
    """Return the classes that a column seems to belong to; none if all its cells are missing or suppressed.

    An unmistakable pattern, such as an e-mail address, counts if at least the share `least` of the rows contain it
    (0: any row), also in the middle of a text. A vague pattern must occur in the share `mostly` of the rows. With
    `sample`, only the first `sample` rows are searched. `rows` is the number of rows of the whole table.
    """
    text = as_text(column)
    looked_at = text if sample is None else text.head(sample)
    cells = CellTable.of([looked_at])
    whole = cells if len(looked_at) == len(text) else CellTable.of_distinct(_if_many(text.unique(), rows))
    return suspects_in(cells, rows, least=least, mostly=mostly, whole=whole)[0]


def suspects_in(
    cells: CellTable,
    rows: int,
    *,
    least: float = EMBEDDED,
    mostly: float = MOSTLY,
    whole: CellTable | None = None,
) -> list[list[Suspicion]]:
    """Return what `suspects` returns, for each of several columns; `whole` are all their cells if these are some."""
    shares = (least, mostly)
    contents = _by_contents(cells, shares, partly=whole is not None and whole is not cells)
    found: list[list[Suspicion]] = []
    for column, name in enumerate(cells.names):
        named = _by_name(name, cells, column) if cells.distinct[column] else []
        found.append([*named, *contents.get(column, ())])
    for column, suspicion in _by_distinct_values(cells if whole is None else whole, rows):
        if cells.distinct[column] and Form.DIRECT not in {one.form for one in found[column]}:
            found[column].append(suspicion)
    return [list({(one.number, one.form): one for one in reversed(own)}.values())[::-1] for own in found]


def _if_many(distinct: pl.Series, rows: int) -> pl.Series:
    """The distinct texts of a column; none if they are too few for a suspicion."""
    return distinct if len(distinct) >= min(FREE_TEXT, UNIQUE) * rows else distinct.clear()


def form_by_name(name: str) -> Form | None:
    """The form that the name of a column suggests; direct identifiers take precedence."""
    forms = [form for _, form in told_by_name(name)]
    return Form.DIRECT if Form.DIRECT in forms else next(iter(forms), None)


def _by_name(name: str, table: CellTable, column: int) -> list[Suspicion]:
    found = []
    for number, form in told_by_name(name):
        if form in (Form.DIRECT, Form.PLACE):
            found.append(Suspicion(number, "by its name", form))
            continue
        cells = table[column]
        if hits := cells.with_hit(_unsafe(form, cells.values)):
            found.append(Suspicion(number, f"by its name, and {_SHOWS[form]} in {_rows(hits)}", form))
    return found


_SHOWS = {
    Form.ZIP: "it shows codes",
    Form.DATE: "it shows more than the year",
    Form.BIRTH: "it shows more than the year, or a year that reveals an age over 89,",
    Form.AGE: "it shows ages over 89",
}


def _unsafe(form: Form, values: pl.Series) -> pl.Series:
    """Return which cells of a column with such a name must not be released."""
    digits = values.str.contains("[0-9]")
    if form is Form.ZIP:
        return digits & (values != "000")
    if form is Form.AGE:
        first = values.str.extract("([0-9]+)").cast(pl.Float64)
        return (first > OLDEST).fill_null(value=False) & ~values.str.contains(rf"^ *<|{OLDEST_AGES}")
    unsafe = (digits & ~values.str.contains(YEARS_ONLY)) | values.str.contains(HAS_MONTH_NAME)
    if form is Form.BIRTH:
        last = values.str.extract(r"([0-9]{4})[^0-9]*$").cast(pl.Int64)
        unsafe |= (last <= datetime.now(UTC).year - OLDEST - 1).fill_null(value=False)
    return unsafe


def _by_contents(cells: CellTable, shares: tuple[float, float], *, partly: bool) -> dict[int, list[Suspicion]]:
    """The suspicions by the contents of each column; most columns contain nothing that any pattern matches."""
    hits = content_rows(cells)
    found: dict[int, list[Suspicion]] = {}
    for column, *rows in hits.iter_rows():
        known: set[str] = set()
        present = int(cells.rows[column])
        for (content, vague), own in zip(KINDS, rows, strict=True):
            if content.what not in known and own and own >= shares[vague] * present:
                known.add(content.what)
                where = "" if own >= MOSTLY * present else f" in {'at least ' if partly else ''}{_rows(own)}"
                suspicion = Suspicion(content.number, f"contains {content.what}{where}", content.form)
                found.setdefault(column, []).append(suspicion)
    return found


def _by_distinct_values(cells: CellTable, rows: int) -> list[tuple[int, Suspicion]]:
    """Suspect columns in which nearly every row has its own value or a long text.

    Shares refer to all rows of the table, so that suppressing some rows never makes a column suspect.
    """
    long = cells.table.filter(pl.col(VALUE).str.contains(LONG_TEXT)).group_by(COLUMN).len(name=COUNT)
    texts = set(long.filter(pl.col(COUNT) >= max(FREE_TEXT * rows, FEW_TEXTS))[COLUMN])
    why = "contains free text, which may reveal anything"
    found = [(column, Suspicion(18, why, Form.FREE_TEXT)) for column in sorted(texts)]
    if rows < FEW_ROWS:
        return found
    many = [column for column in np.flatnonzero(cells.distinct >= UNIQUE * rows).tolist() if column not in texts]
    measured = _measurements(cells.table.filter(pl.col(COLUMN).is_in(many)), rows)
    unique = Suspicion(18, "nearly every row has its own value", Form.UNIQUE)
    return found + [(column, unique) for column in many if column not in measured]


def _measurements(table: pl.DataFrame, rows: int) -> set[int]:
    """The columns of numbers that are neither codes of one length nor numbers in a row."""
    whole = pl.col(VALUE).str.contains(r"^[0-9]{1,18}$")
    number = pl.when(whole).then(pl.col(VALUE)).cast(pl.Int64)
    lengths = pl.col(VALUE).str.len_chars()
    facts = table.group_by(COLUMN).agg(
        numeric=pl.col(VALUE).str.contains(MEASUREMENT).all(),
        coded=whole.all() & (lengths.n_unique() == 1) & (lengths.first() >= CODE_LENGTH),
        neighbours=(number.drop_nulls().unique().sort().diff() == 1).sum(),
    )
    few = pl.col("neighbours") < (UNIQUE - 0.1) * rows
    return set(facts.filter(pl.col("numeric") & ~pl.col("coded") & few)[COLUMN])


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
