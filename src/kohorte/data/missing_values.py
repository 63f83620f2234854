"""Texts that stand for a missing value, such as NA or k.A.; a plan lists them, and usual words are noticed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kohorte.data.person_keys import spelling_keys
from kohorte.data.text import as_text
from kohorte.errors import InputError

SUPPRESSED = "*"
MARKS = (
    *("na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "k.a.", "k. a.", "keine angabe", "unbekannt"),
    *("unknown", "missing", "not available", "fehlt", "fehlend", "-", "--", "---", ".", "..", "?", "??"),
    *("leer", "empty", "blank", "ohne angabe", "o.a.", "nicht bekannt", "nicht angegeben", "not known"),
    *("not specified", "not stated"),
)
"""Texts that usually stand for a missing value, in lower case."""
VALUES_IN_TEXT = ("none", "nil")
"""Words that are values in a column of texts: no allergy."""
SAID_BY_OTHERS = {"-": ("+", "++"), "--": ("+", "++"), "na": ("k", "cl", "ca", "mg")}
"""Words that are values in a column that has one of some others: a negative result, and sodium."""


def as_missing_values(given: object, *, code: str) -> tuple[str, ...]:
    """Return the texts of the option `missing_values`; whole numbers such as -999 are texts, too."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError("missing_values is a list of texts, as in [NA, k.A., unbekannt]", code=code)
    for text in given:
        if isinstance(text, bool) or not isinstance(text, str | int) or text == "":
            raise InputError(
                "missing_values: each entry is a text that is not empty; write words such as null, and decimals, in "
                "quotes",
                code=code,
            )
        if text == SUPPRESSED:
            raise InputError("missing_values: * marks suppressed cells and cannot mean missing, too", code=code)
    return tuple(dict.fromkeys(str(text) for text in given))


def without_marks(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """Return the frame with null in each cell whose text is one of the marks."""
    if not marks:
        return frame
    changed = [_without(column, marks) for column in frame.iter_columns()]
    return frame.with_columns([column for column in changed if column is not None])


def written_in_several_ways(text: pl.Series, marks: Sequence[str]) -> int:
    """The number of cells that lack a value if the column writes that in more than one way; otherwise 0."""
    lacking = text.filter(text.is_null() | text.is_in(list(marks)))
    return len(lacking) if lacking.n_unique() > 1 else 0


def _without(column: pl.Series, marks: Sequence[str]) -> pl.Series | None:
    """The column without the marks; None if it has none."""
    marked = as_text(column).is_in(list(marks)).fill_null(value=False)
    return (
        column.zip_with(~marked, pl.Series([None], dtype=column.dtype).new_from_index(0, len(column)))
        if (marked.any())
        else None
    )


def words_for_missing(texts: pl.Series) -> pl.Series:
    """Which of the different texts of a column of texts usually stand for a missing value; spellings do not matter."""
    keys = spelling_keys(texts)
    values = [*VALUES_IN_TEXT, *(word for word, others in SAID_BY_OTHERS.items() if keys.is_in(list(others)).any())]
    return texts.filter(keys.is_in([word for word in MARKS if word not in values]).fill_null(value=False))
