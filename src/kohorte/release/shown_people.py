"""The people of a released table, counted with polars from text, not by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import as_text, one_text, person_keys
from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Population
from kohorte.kernels.arrays import Bools, Codes
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON, flagged_rows
from kohorte.release.shown_classes import CLASS, Classes, all_starred
from kohorte.sources import COUNT, SensitiveColumn, Tuples, encode_sensitive, numbered_keys

LINK = "\0link"
GROUP, VALUE, PEOPLE, TEXT = "\0group", "\0value", "\0people", "\0text"


@dataclass(frozen=True, eq=False)
class ShownPeople:
    """Whom the rows of a release are about, which the release itself does not say; never written to a file.

    `tuples` has the quasi-identifiers as released, the sensitive attributes that models look at, the columns that tie
    rows together as released, the person (`PERSON`), the tie (`LINK`, if there is one; missing in suppressed rows), and
    the number of rows (`COUNT`).
    """

    tuples: pl.DataFrame = field(repr=False)
    names: tuple[str, ...]
    by_sets: bool

    @classmethod
    def of(cls, tuples: Tuples, shown: pl.DataFrame, plan: Plan) -> ShownPeople | None:
        """The people of tuples that are released as `shown`; None if the plan counts rows."""
        unit = plan.unit
        if not unit.counts_people:
            return None

        def cells(name: str) -> pl.Series:
            return shown[name] if name in shown.columns else tuples.text(name)

        names = dict.fromkeys((*plan.quasi_identifiers, *plan.histograms, *unit.links))
        if len(unit.columns) == 1:  # numbers are compared faster than texts
            person = pl.Series(PERSON, numbered_keys(tuples, unit.columns[0])[0])
        else:
            person = person_keys([tuples.text(name) for name in unit.columns]).alias(PERSON)
        frame = pl.DataFrame([*map(cells, names), person, pl.Series(COUNT, tuples.counts)])
        if unit.links:
            tie = pl.lit(one_text([frame[name] for name in unit.links]))
            frame = frame.with_columns(pl.when(~all_starred(unit.links)).then(tie).alias(LINK))
        return cls(frame, plan.quasi_identifiers, unit.judges_sets)

    @classmethod
    def of_original(cls, original: pl.DataFrame, classes: Classes, plan: Plan) -> ShownPeople | None:
        """The people of a release whose classes are known, from the table that it was made from.

        None if the release shows values that this table does not have at any level. Refused if the release ties rows
        together or people are judged by all their rows: then it is unknown whose rows are suppressed.
        """
        assert not plan.unit.judges_sets, "whose rows are suppressed is not known"
        check_columns(original.columns, plan)
        rows = flagged_rows(original, plan)
        try:
            shown = classes.shown_rows(rows, plan)
        except InputError as error:
            if error.code != "verify-level-unclear":
                raise
            return None
        frame = shown.with_columns(
            *(as_text(rows[name]) for name in plan.histograms),
            person_keys([as_text(rows[name]) for name in plan.unit.columns]).alias(PERSON),
            pl.lit(1, pl.Int64).alias(COUNT),
        )
        return cls(frame, plan.quasi_identifiers, plan.unit.judges_sets)

    @property
    def starred(self) -> pl.Expr:
        """Whether a row is suppressed: it shows `*` in all quasi-identifiers, and no tie to other rows."""
        shown = all_starred(self.names)
        return shown & pl.col(LINK).is_null() if LINK in self.tuples.columns else shown

    def fit(self, counted: pl.DataFrame) -> bool:
        """Tell whether a counted table has exactly the rows whose people are known."""
        names = [name for name in counted.columns if name != COUNT]
        own = self.tuples.group_by(names).agg(_total())
        both = counted.group_by(names).agg(_total()).join(own, on=names, how="full", nulls_equal=True, suffix=TEXT)
        return bool(both.select(pl.col(COUNT).eq_missing(pl.col(COUNT + TEXT)).all()).item())

    @property
    def people(self) -> int:
        """The number of people in the table."""
        return self.tuples[PERSON].n_unique()

    def losing(self) -> tuple[int, int]:
        """How many people lose rows by suppression, and how many of them lose all rows."""
        return self._losing

    @cached_property
    def _losing(self) -> tuple[int, int]:
        lost = self.tuples.group_by(PERSON).agg(self.starred.any().alias(VALUE), self.starred.all().alias(GROUP))
        return int(lost[VALUE].sum()), int(lost[GROUP].sum())

    def judged(
        self, plan: Plan, classes: Classes, suppressed: bool, populations: Mapping[str, Population]
    ) -> tuple[tuple[Groups, ...], Groups]:
        """What the models judge, counted in people: groups with the same set of classes, if so planned, and classes.

        Return them, and the classes once more, in the order of `classes`, which is that of `populations`. `suppressed`
        tells whether rows that show only `*` are exempt.
        """
        starred = self.tuples.select(self.starred).to_series()
        numbers = {name: self._numbered(name, plan) for name in plan.histograms}
        with_codes = self.tuples.with_columns(pl.Series(VALUE + name, column.codes) for name, column in numbers.items())
        kept = with_codes.filter(~starred) if suppressed else with_codes
        numbered = classes.numbered.rename({CLASS: GROUP})
        kept = kept.join(numbered, on=list(self.names), how="left", nulls_equal=True, maintain_order="left")
        by_class = _groups(kept, numbered.height, numbers, populations)
        if not self.by_sets:
            return (by_class,), by_class
        sets = self.sets(kept)
        of_set = kept.drop(GROUP).join(sets, on=PERSON, how="left", maintain_order="left")
        return (_groups(of_set, sets[GROUP].n_unique(), numbers, {}), by_class), by_class

    def _numbered(self, name: str, plan: Plan) -> SensitiveColumn:
        """The codes of a sensitive attribute, and its domain in people."""
        weights = self.tuples[COUNT].to_numpy().astype(np.int64)
        column = encode_sensitive(self.tuples[name], plan.attributes[name].hierarchy, weights)
        counted = self.tuples.select(PERSON, pl.Series(VALUE, column.codes)).unique().group_by(VALUE).len()
        overall = np.zeros(len(column.domain.overall), dtype=np.int64)
        overall[counted[VALUE].to_numpy()] = counted["len"].to_numpy()
        return replace(column, domain=replace(column.domain, overall=overall, people=self.people))

    def sets(self, kept: pl.DataFrame) -> pl.DataFrame:
        """The person, and the number of the person's set of classes, written as text to be compared."""
        number = pl.col(GROUP).cast(pl.String)
        if LINK not in kept.columns:
            texts = kept.group_by(PERSON).agg(number.unique().sort().str.join(",").alias(TEXT))
        else:
            rows = kept.group_by(PERSON, LINK, GROUP).agg(_total())
            item = pl.concat_str(number, pl.lit("x"), pl.col(COUNT).cast(pl.String)).sort().str.join(",")
            of_link = rows.group_by(PERSON, LINK).agg(item.alias(TEXT))
            texts = of_link.group_by(PERSON).agg(pl.col(TEXT).sort().str.join(";"))
        return texts.select(PERSON, (pl.col(TEXT).rank("dense") - 1).alias(GROUP))


def _groups(
    kept: pl.DataFrame, count: int, numbers: Mapping[str, SensitiveColumn], populations: Mapping[str, Population]
) -> Groups:
    """The groups of a table with a column `GROUP`, counted in people."""
    people = kept.select(GROUP, PERSON).unique().group_by(GROUP).len().sort(GROUP)["len"].to_numpy().astype(np.int64)
    assert len(people) == count, "every group has somebody"
    histograms = {name: _histogram(kept, VALUE + name, people, column) for name, column in numbers.items()}
    return Groups((), people, _no_codes, histograms=histograms, populations=populations)


def _histogram(kept: pl.DataFrame, values: str, people: np.ndarray, column: SensitiveColumn) -> Histogram:
    cells = kept.select(GROUP, values, PERSON).unique().group_by(GROUP, values).len().sort(GROUP, values)
    per_group = np.bincount(cells[GROUP].to_numpy(), minlength=len(people))
    return Histogram(
        starts=np.append(0, np.cumsum(per_group)),
        values=cells[values].to_numpy(),
        counts=cells["len"].to_numpy().astype(np.int64),
        domain=column.domain,
        people=people,
    )


def _total() -> pl.Expr:
    return pl.col(COUNT).sum().cast(pl.Int64)


def _no_codes(which: Bools) -> Codes:
    raise AssertionError(f"a verification asks for no codes ({len(which)} groups)")
