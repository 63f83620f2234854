"""The classes of a table, raw or released: rows that show the same text in all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, to_polars, without_marks
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.kernels import Grouper, Rows
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.risks.shown.people_in_classes import PeopleInClasses

NOT_NEEDED = (Role.IDENTIFYING, Role.SENSITIVE, Role.INSENSITIVE)
"""Columns that a table may lack: a release has no identifying columns."""


def checked_table(frame: object, plan: Plan) -> pl.DataFrame:
    """Return the table (polars, pandas or arrow) as polars, if its columns fit the plan and it has rows."""
    table, _ = to_polars(frame)
    check_columns(table.columns, plan, may_lack=NOT_NEEDED)
    if table.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    return without_marks(table, plan.missing_values)


def numbered(text: pl.Series) -> tuple[Codes, tuple[str | None, ...]]:
    """Number the texts of a column; return the number of every row, and the text of every number.

    A missing value counts as a separate value.
    """
    distinct = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32)
    missing = (None,) if text.null_count() else ()
    return codes.fill_null(len(distinct)).to_numpy(), (*distinct.to_list(), *missing)


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The classes of a table by the text that it shows.

    Rows whose quasi-identifiers are all `*`, and what ties them to other rows, are suppressed: they are in no class,
    unless there are more of them than may be suppressed; then they are a class like any other, as for `verify`. `kept`
    contains the indices of the other rows, `class_of` the class of each of them, `sizes` the rows of every class,
    `cells` the numbers of its cells, and `texts` the text of each number. `people` says who is in the classes
    (whom.py); None if only rows are known.
    """

    names: tuple[str, ...]
    rows: int
    kept: Codes = field(repr=False)
    class_of: Codes = field(repr=False)
    sizes: Counts = field(repr=False)
    cells: Codes = field(repr=False)
    texts: tuple[tuple[str | None, ...], ...] = field(repr=False)
    _grouper: Grouper = field(repr=False)
    _classes: Rows = field(repr=False)
    people: PeopleInClasses | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        table: pl.DataFrame,
        names: Sequence[str],
        *,
        most_suppressed: int | None = None,
        ties: Sequence[str] = (),
    ) -> ShownTable:
        """Count the classes of a table in these columns; without a limit any number of rows may be suppressed.

        `ties` are columns that tie rows of one person together: a suppressed row does not show them.
        """
        columns = [numbered(as_text(table[name])) for name in names]
        codes = np.stack([column for column, _ in columns], axis=1)
        starred = _suppressed(codes, [texts for _, texts in columns])
        for name in ties:
            if name in table.columns:
                starred &= (as_text(table[name]) == SUPPRESSED).fill_null(value=False).to_numpy()
        if most_suppressed is not None and starred.sum() > most_suppressed:
            starred[:] = False
        kept = np.flatnonzero(~starred).astype(np.uint32)
        grouper = Grouper([_shown_or_not(len(texts)) for _, texts in columns])
        codes = np.ascontiguousarray(codes[kept])
        every = np.zeros(len(names), dtype=np.uint32)
        class_of, first, sizes = grouper.group(grouper.pack(codes), np.ones(len(kept), dtype=np.int64), every, True)
        cells = np.ascontiguousarray(codes[first])
        texts = tuple(texts for _, texts in columns)
        return cls(tuple(names), table.height, kept, class_of, sizes, cells, texts, grouper, grouper.pack(cells))

    def with_people(self, people: PeopleInClasses) -> ShownTable:
        """The same classes, and who is in them."""
        return replace(self, people=people)

    @property
    def unit(self) -> Unit:
        """What is counted: people, if it is known whom each row is about, otherwise rows."""
        return ROWS if self.people is None else PEOPLE

    @cached_property
    def counted(self) -> Counts:
        """The size of each class, in people if it is known who is in it, otherwise in rows."""
        if self.people is None:
            return self.sizes
        return self.people.different(np.arange(self.classes), self.classes)

    @property
    def kept_rows(self) -> int:
        """The rows that are not suppressed."""
        return len(self.kept)

    @property
    def suppressed(self) -> int:
        """The number of rows without any visible quasi-identifier."""
        return self.rows - self.kept_rows

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def class_of_all_rows(self) -> Counts:
        """The class of every row; the number of classes if the row is suppressed."""
        found = np.full(self.rows, self.classes, dtype=np.int64)
        found[self.kept] = self.class_of
        return found

    @property
    def row_numbers(self) -> Codes:
        """The numbers of the rows that are not suppressed; 1 is the first row below the header."""
        return self.kept + np.uint32(1)

    def by(self, chosen: Sequence[int]) -> tuple[Codes, Counts]:
        """Group by some of the columns; return one class of each group and the number of its rows."""
        _, first, sizes = self._grouper.group(self._classes, self.sizes, self._levels(chosen), False)
        return first, sizes

    def joined(self, chosen: Sequence[int]) -> tuple[Codes, Counts]:
        """Group by some of the columns; return the group of each class and the number of rows of each group."""
        group_of, _, sizes = self._grouper.group(self._classes, self.sizes, self._levels(chosen), True)
        return group_of, sizes

    def _levels(self, chosen: Sequence[int]) -> Codes:
        levels = np.ones(len(self.names), dtype=np.uint32)
        levels[list(chosen)] = 0
        return levels

    def shown(self) -> pl.DataFrame:
        """The texts that each class shows, one row per class."""
        every = np.arange(self.classes)
        return pl.DataFrame([self.text_of(name, every) for name in self.names])

    def text_of(self, name: str, classes: Codes | Counts) -> pl.Series:
        """The texts that some classes show in a column."""
        column = self.names.index(name)
        return pl.Series(name, self.texts[column], dtype=pl.String).gather(self.cells[classes, column])


def _shown_or_not(values: int) -> list[Codes]:
    """Two levels for the grouper: the column is used, or ignored."""
    return [np.arange(max(values, 1), dtype=np.uint32), np.zeros(max(values, 1), dtype=np.uint32)]


def _suppressed(codes: Codes, texts: Sequence[tuple[str | None, ...]]) -> Bools:
    stars = [shown.index(SUPPRESSED) if SUPPRESSED in shown else -1 for shown in texts]
    if -1 in stars:
        return np.zeros(len(codes), dtype=bool)
    return np.asarray((codes == np.array(stars, dtype=np.uint32)).all(axis=1), dtype=bool)
