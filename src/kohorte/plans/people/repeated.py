"""Columns that repeat and may say whom a row is about, counted, with the place that gives the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.data import person_keys
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.given_numbers import giving_numbers, lifelong, places_of
from kohorte.in_words import count, listed
from kohorte.plans.people.numbered_by_content import MOST_KEPT, MOST_ROWS_EACH
from kohorte.plans.person import Person
from kohorte.sources import COUNT, TableSource

PEOPLE = "\0people"


@dataclass(frozen=True)
class Repeated:
    """Columns that seem to say whom a row is about, with fewer different values than there are rows with a value."""

    columns: tuple[str, ...]
    values: int
    rows: int
    rank: int
    agreeing: tuple[str, ...] = ()
    """The columns in which rows with the same value agree, if the content says so and not the name."""
    is_question: bool = False
    """Whether they may just as well say something else, so that only a person can tell."""
    because: str = ""
    """Why a place belongs to the columns, or why it does not although it gives its own numbers."""

    @property
    def line(self) -> str:
        """The line to add to a plan."""
        return Person(self.columns).line

    @property
    def column(self) -> str:
        """The number, without the place that gives it."""
        return self.columns[-1]

    @property
    def repeats(self) -> bool:
        """Whether there are fewer values than rows."""
        return self.values < self.rows

    @property
    def in_every_row(self) -> str:
        """That every row has another value, in words."""
        return f"every row has its own value of {listed(list(map(repr, self.columns)))}"

    @property
    def has_few_rows_each(self) -> bool:
        """Whether a value has as few rows on average as a person has."""
        return self.rows <= MOST_ROWS_EACH * self.values

    def completing(self, rows: int) -> str:
        """What to do before people can be counted in a table of so many rows: nothing if every row says whom it is
        about."""
        if self.rows >= rows:
            return ""
        fill = count(rows - self.rows, "missing value", "missing values")
        return f"fill in the {fill} of {listed(list(map(repr, self.columns)))} or remove these rows, then "

    @property
    def reason(self) -> str:
        """Why a plan should name these columns as the person, or what its author has to answer."""
        if self.is_question:
            return (
                f"{self.asked}. If so, add the line '{self.line}'; 'person: none' if every row is another person. "
                "Until then rows are counted, not people"
            )
        return f"{self.facts}: people are counted, not rows; person: none if every row is another person"

    @property
    def asked(self) -> str:
        """The question whether these columns say whom a row is about."""
        say = "it says" if self._is_one else "they say"
        return f"{self.facts}, and the table does not tell whether {say} whom a row is about"

    @property
    def facts(self) -> str:
        """The columns with their counts, in words."""
        named, values = ", ".join(map(repr, self.columns)), count(self.values, "different value")
        rows = count(self.rows, "row")
        found = f"{named} has {values} in {rows}" if self._is_one else f"{named} together have {values} in {rows}"
        if self.because:
            found = f"{self.because}; {found}"
        if not self.agreeing:
            return found
        return f"{found}, and rows with the same value nearly always agree in {listed(list(map(repr, self.agreeing)))}"

    @property
    def _is_one(self) -> bool:
        return len(self.columns) == 1


def with_place(source: TableSource, columns: Sequence[str], one: Repeated) -> Repeated:
    """Add the place to a number that each place gives on its own: then only both together say whom a row is about.

    If the place is missing in some rows, people with the same number count as one, which is the safer error. `columns`
    are those of the table.
    """
    places = [name for name in places_of(columns) if name not in one.columns]
    if not places or not one.repeats:
        return one
    kept = [name for name in lifelong(columns) if name not in (one.column, *places)][:MOST_KEPT]
    shown = source.count_shown([one.column, *places, *kept])
    giving = next(giving_numbers(shown.drop(COUNT), shown[COUNT], one.column, places), None)
    if giving is None:
        return one
    together = (giving.place, one.column)
    values, rows = counted_people(source, together)
    if rows < one.rows:
        return replace(
            one,
            because=f"{giving.facts}, but {giving.place!r} is missing in some rows, so that people with the same "
            "number count as one, which is the safer error",
        )
    return replace(one, columns=together, values=values, rows=rows, agreeing=(), because=giving.facts)


def counted_people(source: TableSource, names: Sequence[str]) -> tuple[int, int]:
    """The number of people whom columns tell apart, and of the rows in which no value is missing or suppressed."""
    shown = with_people(present(source, names), names)
    return shown[PEOPLE].n_unique(), int(shown[COUNT].sum())


def present(source: TableSource, names: Sequence[str]) -> pl.DataFrame:
    """The combinations of values of some columns, without those in which one is missing or suppressed."""
    return source.count_shown(names).filter(~pl.any_horizontal(absent(name) for name in names))


def with_people(shown: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Add the key of the person to counted tuples; without tuples that have none."""
    return shown.with_columns(person_keys([shown[name] for name in names]).alias(PEOPLE)).drop_nulls(PEOPLE)


def absent(name: str) -> pl.Expr:
    """Whether a cell is missing or suppressed."""
    return pl.col(name).is_null() | (pl.col(name) == SUPPRESSED)
