"""Words that usually stand for a missing value, in English and German."""

from __future__ import annotations

import polars as pl

from kohorte.data import spelling_keys

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


def words_for_missing(texts: pl.Series) -> pl.Series:
    """Which of the different texts of a column of texts usually stand for a missing value; spellings do not matter."""
    keys = spelling_keys(texts)
    values = [*VALUES_IN_TEXT, *(word for word, others in SAID_BY_OTHERS.items() if keys.is_in(list(others)).any())]
    return texts.filter(keys.is_in([word for word in MARKS if word not in values]).fill_null(value=False))
