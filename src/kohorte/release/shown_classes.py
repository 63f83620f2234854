"""The classes of a table as it stands: counted with polars from what is shown, not by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.engines import EncodedColumn, SensitiveColumn, encode
from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Population
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes
from kohorte.release.hierarchies import hierarchies
from kohorte.release.plan import Plan
from kohorte.release.population import FLAGGED

SIZE, CLASS, VALUE, COUNT, MOST = "\0size", "\0class", "\0value", "\0count", "\0most"


class Classes:
    """Numbers the classes of the rows that are to be counted."""

    def __init__(self, shown: pl.DataFrame, *, counted: pl.Series | None) -> None:
        self._shown = shown
        self._counted = counted
        rows = shown if counted is None else shown.filter(counted)
        self._classes = rows.group_by(pl.all(), maintain_order=True).len(name=SIZE)

    def groups(self, sensitive: Mapping[str, SensitiveColumn], populations: Mapping[str, Population]) -> Groups:
        """Return the classes with all that the models ask for."""

        def no_codes(which: Bools) -> Codes:
            raise AssertionError(f"a verification asks for no codes ({len(which)} classes)")

        return Groups(
            node=(),
            sizes=self._classes[SIZE].to_numpy().astype(np.int64),
            codes=no_codes,
            histograms={name: self._histogram(column) for name, column in sensitive.items()},
            populations=populations,
            joined=self._joined,
            attributes=self._shown.width,
        )

    @cached_property
    def _numbered(self) -> pl.DataFrame:
        return self._classes.drop(SIZE).with_row_index(CLASS)

    def _histogram(self, column: SensitiveColumn) -> Histogram:
        rows = self._shown.with_columns(pl.Series(VALUE, column.codes))
        if self._counted is not None:
            rows = rows.filter(self._counted)
        cells = (
            rows.group_by(pl.all())
            .len(name=COUNT)
            .join(self._numbered, on=self._shown.columns, nulls_equal=True)
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
        """Number the classes that agree in all columns but one."""
        others = self._classes.drop(SIZE, self._shown.columns[attribute])
        if not others.width:
            return np.zeros(others.height if others.height else self._classes.height, dtype=np.uint32)
        keys = others.select(pl.struct(pl.all()).rank("dense") - 1).to_series()
        return keys.cast(pl.UInt32).to_numpy()

    # Populations

    def population(self, people: pl.DataFrame, plan: Plan, levels: Mapping[str, int] | None) -> tuple[Population, int]:
        """Count the people who look like each class, generalized as the table is; and the rows that nobody is like.

        Of a subset it is known who is released. Of a population file it is not: people like whom no row is shown may
        be among the suppressed rows, as many classes as there are such rows.
        """
        released = people[FLAGGED] if FLAGGED in people.columns else None
        shown = self.as_shown(people.drop(FLAGGED, strict=False), plan, levels)
        of_table = pl.lit(value=True) if released is None else pl.Series(released)
        kinds = (
            shown.with_columns(of_table.alias(FLAGGED))
            .group_by(shown.columns)
            .agg(pl.len().alias(COUNT), pl.col(FLAGGED).sum().alias(MOST))
        )
        names = self._shown.columns
        found = self._classes.join(kinds, on=names, how="left", nulls_equal=True, maintain_order="left")
        starred = found.select(pl.all_horizontal(pl.col(names).eq_missing(pl.lit(SUPPRESSED)))).to_series()
        unmatched = (
            (found[SIZE].cast(pl.Int64) - found[MOST].fill_null(0).cast(pl.Int64)).clip(0).filter(~starred).sum()
        )
        if released is None:
            suppressed = 0 if self._counted is None else int((~self._counted).sum())
            alone = kinds.join(self._classes, on=names, how="anti", nulls_equal=True).height - suppressed
        else:
            alone = kinds.filter(pl.col(MOST) == 0).height
        return Population(found[COUNT].fill_null(0).to_numpy().astype(np.int64), max(0, alone)), int(unmatched)

    def as_shown(self, people: pl.DataFrame, plan: Plan, levels: Mapping[str, int] | None = None) -> pl.DataFrame:
        """Generalize the quasi-identifiers of people as the table is: to the levels at which its columns stand."""
        encoded = encode(people, hierarchies(plan), missing=plan.missing)
        return pl.DataFrame(
            [
                column.generalized(self._level(column) if levels is None else levels[column.name])
                for column in encoded.columns
            ]
        )

    def _level(self, column: EncodedColumn) -> int:
        """The level of the hierarchy at which a column stands: that whose labels it shows, stars aside."""
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


def _meaning(column: EncodedColumn, level: int, shown: set[str | None]) -> tuple[tuple[int, str | None], ...]:
    """The values that each label which is shown stands for at a level."""
    labels = column.labels[level]
    return tuple(
        (value, labels[group]) for value, group in enumerate(column.maps[level].tolist()) if labels[group] in shown
    )
