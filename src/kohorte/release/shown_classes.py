"""The classes of a released table, counted with polars from its text, not by the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Population
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.hierarchies import hierarchies
from kohorte.plans.plan import Plan
from kohorte.plans.population import FLAGGED, PERSON, CountedPopulation
from kohorte.sources import COUNT, EncodedColumn, Missing, SensitiveColumn, encode_rows

SIZE, CLASS, VALUE, MOST = "\0size", "\0class", "\0value", "\0most"


class Classes:
    """The classes of a table; suppressed tuples are in no class.

    `tuples` has the quasi-identifiers as released and the column `COUNT`.
    """

    def __init__(self, tuples: pl.DataFrame, names: Sequence[str], *, suppressed: pl.Series | None) -> None:
        self._tuples = tuples.select(*names, COUNT)
        self._names = list(names)
        self._suppressed = suppressed
        self._classes = self._kept(self._tuples).group_by(names, maintain_order=True).agg(_total().alias(SIZE))

    @property
    def suppressed(self) -> bool:
        """Whether rows are suppressed and exempt from the models."""
        return self._suppressed is not None

    def _kept(self, tuples: pl.DataFrame) -> pl.DataFrame:
        return tuples if self._suppressed is None else tuples.filter(~self._suppressed)

    def groups(self, sensitive: Mapping[str, SensitiveColumn], populations: Mapping[str, Population]) -> Groups:
        """Return the classes with the histograms and populations that the models need."""

        def no_codes(which: Bools) -> Codes:
            raise AssertionError(f"a verification asks for no codes ({len(which)} classes)")

        return Groups(
            node=(),
            sizes=self._classes[SIZE].to_numpy().astype(np.int64),
            codes=no_codes,
            histograms={name: self._histogram(column) for name, column in sensitive.items()},
            populations=populations,
            joined=self._joined,
            attributes=len(self._names),
        )

    @cached_property
    def numbered(self) -> pl.DataFrame:
        """What each class shows, and its number (`CLASS`): groups and populations are in this order."""
        return self._classes.drop(SIZE).with_row_index(CLASS)

    def _histogram(self, column: SensitiveColumn) -> Histogram:
        cells = (
            self._kept(self._tuples.with_columns(pl.Series(VALUE, column.codes)))
            .group_by(*self._names, VALUE)
            .agg(_total())
            .join(self.numbered, on=self._names, nulls_equal=True)
            .sort(CLASS, VALUE)
        )
        per_class = np.bincount(cells[CLASS].to_numpy(), minlength=self._classes.height)
        return Histogram(
            starts=np.append(0, np.cumsum(per_class)),
            values=cells[VALUE].to_numpy(),
            counts=cells[COUNT].to_numpy().astype(np.int64),
            domain=column.domain,
        )

    def _joined(self, attribute: int) -> Codes:
        """Number the classes that remain if one column is ignored."""
        others = self._classes.drop(SIZE, self._names[attribute])
        if not others.width:
            return np.zeros(others.height if others.height else self._classes.height, dtype=np.uint32)
        keys = others.select(pl.struct(pl.all()).rank("dense") - 1).to_series()
        return keys.cast(pl.UInt32).to_numpy()

    # Populations

    def population(
        self,
        people: pl.DataFrame | CountedPopulation,
        plan: Plan,
        levels: Mapping[str, int] | None,
        *,
        members: Counts | None = None,
    ) -> tuple[Population, int]:
        """Count the people of a population in each class, and the rows without a matching person.

        The people are generalized like the table. For a subset it is known who is released. For a population file it
        is not: each suppressed row may account for one class of people without a row in the table. `members` are the
        people of each class who must be in a population file; by default each row is another person.
        """
        if isinstance(people, CountedPopulation):
            return self._counted(people)
        released = people[FLAGGED] if FLAGGED in people.columns else None
        shown = self.as_shown(people, plan, levels)
        of_table = pl.lit(value=True) if released is None else pl.Series(released)
        persons = [people[PERSON]] if PERSON in people.columns else []
        kinds = (
            shown.with_columns(of_table.alias(FLAGGED), *persons)
            .group_by(shown.columns)
            .agg((pl.col(PERSON).n_unique() if persons else pl.len()).alias(COUNT), pl.col(FLAGGED).sum().alias(MOST))
        )
        names = self._names
        found = self._classes.join(kinds, on=names, how="left", nulls_equal=True, maintain_order="left")
        starred = found.select(all_starred(names)).to_series()
        by_rows = members is None or released is not None
        inside = found[SIZE].cast(pl.Int64) if by_rows else pl.Series(members)
        unmatched = (
            (inside - found[MOST if by_rows else COUNT].fill_null(0).cast(pl.Int64)).clip(0).filter(~starred).sum()
        )
        if released is None:
            starred_rows = 0 if self._suppressed is None else self._tuples[COUNT].filter(self._suppressed).sum()
            alone = kinds.join(self._classes, on=names, how="anti", nulls_equal=True).height - int(starred_rows)
        else:
            alone = kinds.filter(pl.col(MOST) == 0).height
        return Population(found[COUNT].fill_null(0).to_numpy().astype(np.int64), max(0, alone)), int(unmatched)

    def _counted(self, people: CountedPopulation) -> tuple[Population, int]:
        """The same for a population that others have counted."""
        found = self._classes.join(
            people.classes, on=self._names, how="left", nulls_equal=True, maintain_order="left"
        ).with_columns(pl.col(COUNT).fill_null(0).cast(pl.Int64), pl.col(SIZE).cast(pl.Int64))
        starred = pl.all_horizontal(pl.col(self._names).eq_missing(pl.lit(SUPPRESSED)))
        unmatched = found.filter(~starred).select((pl.col(SIZE) - pl.col(COUNT)).clip(0).sum()).item()
        return Population(found[COUNT].to_numpy(), people.empty_classes), int(unmatched)

    def as_shown(self, people: pl.DataFrame, plan: Plan, levels: Mapping[str, int] | None = None) -> pl.DataFrame:
        """Generalize the quasi-identifiers of people to the levels of the table's columns."""
        encoded = encode_rows(people, hierarchies(plan), missing=plan.missing)
        return pl.DataFrame(
            [
                column.generalized(self._level(column) if levels is None else levels[column.name])
                for column in encoded.columns
            ]
        )

    def shown_rows(
        self, original: pl.DataFrame, plan: Plan, *, known_only: bool = True
    ) -> tuple[pl.DataFrame, pl.Series]:
        """The quasi-identifiers of the original rows as the table shows them, and which of these rows are kept.

        Other rows show `*`: those in which a value is missing and must not be and, if `known_only`, those whose class
        is not in the table.
        """
        shown = self.as_shown(original, plan)
        known = pl.Series([True]).new_from_index(0, shown.height)
        if known_only:
            found = shown.join(self.numbered, on=self._names, how="left", nulls_equal=True, maintain_order="left")
            known = found[CLASS].is_not_null()
        if plan.missing is Missing.SUPPRESS:
            names = list(plan.quasi_identifiers)
            known &= (
                ~pl.DataFrame([as_text(original[name]) for name in names])
                .select(pl.any_horizontal(pl.all().is_null()))
                .to_series()
            )
        stars = pl.Series([SUPPRESSED]).new_from_index(0, shown.height)
        return pl.DataFrame([column.zip_with(known, stars) for column in shown.get_columns()]), known

    def _level(self, column: EncodedColumn) -> int:
        """The hierarchy level of a column: the level that has all its labels except `*`."""
        shown = set(self._classes[column.name].unique())
        if shown <= {SUPPRESSED}:
            return column.hierarchy.top
        shown -= {SUPPRESSED}
        fitting = [level for level, labels in enumerate(column.labels) if shown <= set(labels)]
        if not fitting:
            raise InputError(
                f"column {column.name!r} stands at no level of its hierarchy, so that it cannot be compared with the "
                "population",
                code="verify-level-unclear",
            )
        meant = {_meaning(column, level, shown) for level in fitting}
        if len(meant) > 1:
            raise InputError(
                f"column {column.name!r} can stand at several levels of its hierarchy, which have labels in common",
                code="verify-level-unclear",
            )
        return fitting[0]


def all_starred(names: Sequence[str]) -> pl.Expr:
    """Whether a row shows `*` in all of these columns."""
    return pl.all_horizontal(pl.col(names).eq_missing(pl.lit(SUPPRESSED)))


def _total() -> pl.Expr:
    return pl.col(COUNT).sum().cast(pl.Int64)


def _meaning(column: EncodedColumn, level: int, shown: set[str | None]) -> tuple[tuple[int, str | None], ...]:
    """The values that each label of the table stands for at a level."""
    labels = column.labels[level]
    return tuple(
        (value, labels[group]) for value, group in enumerate(column.maps[level].tolist()) if labels[group] in shown
    )
