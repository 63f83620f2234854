"""Detect columns that look like one of the 18 classes of identifiers, by their names and their contents.

The explanation for a column never contains one of its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from kohorte.data.text import as_text
from kohorte.identifiers.classes import CLASSES, Form
from kohorte.identifiers.contents import CONTENTS, HAS_MONTH_NAME, OLDEST_AGES, YEARS_ONLY, Content
from kohorte.identifiers.names import told_by_name

__all__ = ["CLASSES", "EMBEDDED", "MOSTLY", "Cells", "Form", "Suspicion", "form_by_name", "suspects"]

STAR = "*"
MOSTLY = 0.95
EMBEDDED = 0.01
UNIQUE = 0.9
FEW_ROWS = 20
FREE_TEXT = 0.2
FEW_TEXTS = 5
LONG_TEXT = r"\S\s+\S+\s+\S+\s+\S+\s+\S+\s+\S"
"""At least six words."""
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


@dataclass(frozen=True)
class Cells:
    """The distinct texts of a column, without missing and suppressed cells, and how many rows have each."""

    values: pl.Series
    counts: pl.Series

    @classmethod
    def of(cls, text: pl.Series) -> Cells:
        """Count the texts of a column."""
        shown = text.alias("values").drop_nulls()
        table = shown.filter(shown != STAR).value_counts(name="counts")
        return cls(table["values"], table["counts"])

    @property
    def rows(self) -> int:
        """The number of rows that are neither missing nor suppressed."""
        return int(self.counts.sum())

    def with_hit(self, hits: pl.Series) -> int:
        """The number of rows that have one of the matching values."""
        return int(self.counts.filter(hits).sum())


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
    cells = Cells.of(looked_at)
    if not cells.rows:
        return []
    partly = len(looked_at) < len(text)
    found = [*_by_name(column.name, cells), *_by_contents(cells, least=least, mostly=mostly, partly=partly)]
    if Form.DIRECT not in {suspicion.form for suspicion in found}:
        found += _by_distinct_values(cells if not partly else Cells.of(text), rows)
    return list({(suspicion.number, suspicion.form): suspicion for suspicion in reversed(found)}.values())[::-1]


def form_by_name(name: str) -> Form | None:
    """The form that the name of a column suggests; direct identifiers take precedence."""
    forms = [form for _, form in told_by_name(name)]
    return Form.DIRECT if Form.DIRECT in forms else next(iter(forms), None)


def _by_name(name: str, cells: Cells) -> list[Suspicion]:
    found = []
    for number, form in told_by_name(name):
        if form in (Form.DIRECT, Form.PLACE):
            found.append(Suspicion(number, "by its name", form))
        elif hits := cells.with_hit(_unsafe(form, cells.values)):
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


def _by_contents(cells: Cells, *, least: float, mostly: float, partly: bool) -> list[Suspicion]:
    hits: dict[Content, pl.Series] = {content: content.hits(cells.values) for content in CONTENTS}
    found = []
    for what in dict.fromkeys(content.what for content in CONTENTS):
        same = [content for content in CONTENTS if content.what == what]
        for vague, share in ((False, least), (True, mostly)):
            members = [hits[content] for content in same if content.vague is vague]
            if not members:
                continue
            rows = cells.with_hit(pl.DataFrame([hit.alias(str(at)) for at, hit in enumerate(members)]).max_horizontal())
            if rows and rows >= share * cells.rows:
                most = rows >= MOSTLY * cells.rows
                where = "" if most else f" in {'at least ' if partly else ''}{_rows(rows)}"
                found.append(Suspicion(same[0].number, f"contains {what}{where}", same[0].form))
                break
    return found


def _by_distinct_values(cells: Cells, rows: int) -> list[Suspicion]:
    """Suspect a column in which nearly every row has its own value or a long text.

    Shares refer to all rows of the table, so that suppressing some rows never makes a column suspect.
    """
    values = cells.values
    long = int(values.str.contains(LONG_TEXT).sum())
    if long >= max(FREE_TEXT * rows, FEW_TEXTS):
        return [Suspicion(18, "contains free text, which may reveal anything", Form.FREE_TEXT)]
    if rows < FEW_ROWS or len(values) < UNIQUE * rows:
        return []
    whole = values.str.contains(r"^[0-9]{1,18}$")
    if values.str.contains(r"^[-+]?[0-9]+(?:\.[0-9]+)?$").all():
        lengths = values.str.len_chars()
        same_length = bool(whole.all()) and lengths.n_unique() == 1 and int(lengths[0]) >= 4
        numbers = values.filter(whole).cast(pl.Int64)
        neighbours = int((numbers + 1).is_in(numbers.implode()).sum())
        if not same_length and neighbours < (UNIQUE - 0.1) * rows:
            return []  # measurements
    return [Suspicion(18, "nearly every row has its own value", Form.UNIQUE)]


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
