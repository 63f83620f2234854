"""Numbers of people that each clinic gives on its own, seen by what people keep for life."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import as_text, spelling_keys
from kohorte.identifiers.names import words_of
from kohorte.in_words import count

_PLACE = re.compile(
    r"\b(?:clinics?|klinik(?:en|um)?|hospitals?|krankenhaus|haus|house|sites?|cent(?:er|re)s?|zentrum|practices?|praxis"
    r"|standort|facility|institutions?|institut|einrichtung|organi[sz]ation|mandant|tenant)\b"
)
"""Names of columns that say who gave a number."""
_LIFELONG = re.compile(
    r"\b(?:birth\w*|dob|geburt\w*|geb|sex|gender|geschlecht|blood ?(?:group|type)|blutgruppe"
    r"|(?:sur|last|family|first)? ?name|nachname|vorname)\b"
)
"""Names of columns whose value a person keeps for life, but for errors."""

FEWEST_NUMBERS = 5
OFTEN, RARELY = 0.2, 0.02
"""A number belongs to several people if what a person keeps for life differs in a fifth of the numbers that occur in
several places, and in at most one of fifty within a place: our own choice. Errors are rarer than the first."""

SUPPRESSED = "*"

NUMBER, PLACE, VALUE, ROWS = "\0number", "\0place", "\0value", "\0rows"


@dataclass(frozen=True)
class GivingNumbers:
    """Of `several` numbers in a column that occur in several places, `differing` have different values of a column
    whose value people keep."""

    number: str
    place: str
    kept: str
    differing: int
    several: int

    @property
    def facts(self) -> str:
        """The evidence, in words."""
        return (
            f"of {count(self.several, 'value')} of {self.number!r} that several values of {self.place!r} have, "
            f"{count(self.differing)} have different values of {self.kept!r}: each {self.place!r} seems to give its "
            "own numbers"
        )


def places_of(columns: Sequence[str]) -> list[str]:
    """The columns that say where a number was given, by their names."""
    return [name for name in columns if _PLACE.search(words_of(name))]


def lifelong(columns: Sequence[str]) -> list[str]:
    """The columns whose value a person keeps for life, names as well, by their names."""
    return [name for name in columns if _LIFELONG.search(words_of(name))]


def giving_numbers(frame: pl.DataFrame, rows: pl.Series, column: str, places: Sequence[str]) -> Iterator[GivingNumbers]:
    """Find places of which each gives its own numbers: what people keep for life differs between them, not within.

    Each row of the frame stands for as many rows of a table as `rows` says.
    """
    number, rows = spelling_keys(as_text(frame[column])).alias(NUMBER), rows.alias(ROWS)
    kept = [name for name in lifelong(frame.columns) if name not in (column, *places)]
    for place in places:
        where = spelling_keys(as_text(frame[place])).alias(PLACE)
        for name in kept:
            value = spelling_keys(as_text(frame[name])).alias(VALUE)
            cells = pl.DataFrame([number, where, value, rows]).drop_nulls().filter(pl.col(VALUE) != SUPPRESSED)
            of_number = cells.group_by(NUMBER).agg(pl.col(PLACE, VALUE).n_unique()).filter(pl.col(PLACE) > 1)
            of_both = cells.group_by(NUMBER, PLACE).agg(pl.col(ROWS).sum(), pl.col(VALUE).n_unique())
            of_both = of_both.filter(pl.col(ROWS) > 1)
            differing = int((of_number[VALUE] > 1).sum())
            often = differing >= max(FEWEST_NUMBERS, OFTEN * of_number.height)
            if often and (of_both[VALUE] > 1).sum() <= RARELY * of_both.height:
                yield GivingNumbers(column, place, name, differing, of_number.height)
