"""The people of a released table, counted with polars from text, not by the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import as_text, one_text, person_keys
from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Population
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import count
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.columns import check_columns
from kohorte.plans.people.project_pseudonyms import keyed_pseudonyms
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON, flagged_rows
from kohorte.release.shown_classes import CLASS, Classes, all_starred
from kohorte.sources import COUNT, SensitiveColumn, Tuples, encode_sensitive, numbered_keys

LINK = "\0link"
GROUP, VALUE, PEOPLE, TEXT, ROW = "\0group", "\0value", "\0people", "\0text", "\0row"


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
            return shown[name].cast(pl.String) if name in shown.columns else tuples.text(name)

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
    def of_table(cls, tuples: pl.DataFrame, plan: Plan) -> ShownPeople:
        """The people of counted tuples that themselves say whom they are about."""
        return cls._made(tuples, tuples.select(plan.quasi_identifiers), tuples[COUNT].cast(pl.Int64), plan)

    @classmethod
    def of_original(
        cls, original: pl.DataFrame, classes: Classes, plan: Plan, *, suppressing: bool = False
    ) -> ShownPeople | None:
        """The people of a release whose classes are known, from the table that it was made from.

        None if the release shows values that this table does not have at any level. Rows are suppressed whose class is
        not in the release. If people are judged by all their rows, only some rows of a class may be suppressed:
        `suppressing` finds them as the plan asks for it, by suppressing all who fail until nobody fails. If the plan
        counts rows, every row is another person.
        """
        check_columns(original.columns, plan)
        rows = keyed_pseudonyms(flagged_rows(original, plan), plan)
        try:
            shown, kept = classes.shown_rows(rows, plan, known_only=not suppressing)
        except InputError as error:
            if error.code != "verify-level-unclear":
                raise
            return None
        once = pl.Series(COUNT, np.ones(rows.height, dtype=np.int64))
        people = cls._made(rows, shown, once, plan).with_suppressed(~kept, plan)
        return people.without_failing(plan) if suppressing else people

    @classmethod
    def _made(cls, rows: pl.DataFrame, shown: pl.DataFrame, count: pl.Series, plan: Plan) -> ShownPeople:
        """The people of rows whose quasi-identifiers are released as `shown`."""
        unit = plan.unit
        others = [as_text(rows[name]) for name in dict.fromkeys((*plan.histograms, *unit.links))]
        person = _known(person_keys([as_text(rows[name]) for name in unit.columns])) if unit.columns else None
        whom = pl.Series(PERSON, np.arange(rows.height)) if person is None else person.alias(PERSON)
        frame = shown.with_columns(*others, whom, count)
        if unit.links:
            frame = frame.with_columns(one_text([frame[name] for name in unit.links]).alias(LINK))
        return cls(frame, plan.quasi_identifiers, unit.judges_sets)

    def with_suppressed(self, gone: pl.Series, plan: Plan) -> ShownPeople:
        """The same people after some tuples are suppressed: nothing is shown of their class and of their ties."""
        star = pl.when(gone).then(pl.lit(SUPPRESSED))
        cells = [star.otherwise(pl.col(name)).alias(name) for name in (*self.names, *plan.unit.links)]
        ties = [pl.when(~gone).then(pl.col(LINK)).alias(LINK)] if LINK in self.tuples.columns else []
        return replace(self, tuples=self.tuples.with_columns(*cells, *ties))

    @property
    def starred(self) -> pl.Expr:
        """Whether a row is suppressed: it shows `*` in all quasi-identifiers, and no tie to other rows."""
        shown = all_starred(self.names)
        return shown & pl.col(LINK).is_null() if LINK in self.tuples.columns else shown

    def fit(self, counted: pl.DataFrame, renamed: Collection[str] = ()) -> bool:
        """Tell whether a counted table has exactly the rows whose people are known.

        Columns in `renamed` have other values there, such as pseudonyms: they must tie the same rows together.
        """
        names = [name for name in counted.columns if name != COUNT]
        own, theirs = (_described(table.group_by(names).agg(_total()), renamed) for table in (self.tuples, counted))
        both = theirs.join(own, on=names, how="full", nulls_equal=True, suffix=TEXT)
        return bool(both.select(pl.col(COUNT).eq_missing(pl.col(COUNT + TEXT)).all()).item())

    @property
    def people(self) -> int:
        """The number of people in the table."""
        return self.tuples[PERSON].n_unique()

    def in_classes(self, classes: Classes) -> Counts:
        """The number of people in each class, in the order of `classes`."""
        numbered = classes.numbered
        rows = self.tuples.join(numbered, on=list(self.names), how="inner", nulls_equal=True)
        people = rows.group_by(CLASS).agg(pl.col(PERSON).n_unique().alias(GROUP))
        found = numbered.join(people, on=CLASS, how="left", maintain_order="left")[GROUP]
        return found.fill_null(0).to_numpy().astype(np.int64)

    def losing(self, suppressed: int) -> tuple[int, int]:
        """How many people lose rows by suppression, and how many of them lose all rows.

        If no row is `suppressed`, rows that show only `*` are a class, and nobody loses a row.
        """
        return self._losing if suppressed else (0, 0)

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
        kept, numbers = self._kept(plan, suppressed=suppressed)
        numbered = classes.numbered.rename({CLASS: GROUP})
        kept = kept.join(numbered, on=list(self.names), how="left", nulls_equal=True, maintain_order="left")
        by_class = _groups(kept, numbers, populations)
        if not self.by_sets:
            return (by_class,), by_class
        return (_groups(self._in_sets(kept), numbers, {}), by_class), by_class

    def suppressed_group(self, plan: Plan) -> Groups:
        """The people with suppressed rows as one group, as if these rows were a class."""
        rows, numbers = self._kept(plan, suppressed=False)
        return _groups(rows.filter(self.starred).with_columns(pl.lit(0).alias(GROUP)), numbers, {})

    def without_failing(self, plan: Plan) -> ShownPeople:
        """The same people after all rows are suppressed whose class, or whose set of classes, does not satisfy a model.

        What is suppressed changes what is left of others, so the models are asked again until nothing changes.
        """
        people = self
        while (failing := people._failing(plan)).any():
            people = people.with_suppressed(failing, plan)
        return people

    def _failing(self, plan: Plan) -> pl.Series:
        """Tell for each tuple whether its class, or its person's set of classes, does not satisfy a model."""
        kept, numbers = self._kept(plan, suppressed=True)
        classes = kept.select(*self.names).unique(maintain_order=True).with_row_index(GROUP)
        kept = kept.join(classes, on=list(self.names), how="left", nulls_equal=True, maintain_order="left")
        failing = np.zeros(self.tuples.height, dtype=bool)
        for part in (kept, self._in_sets(kept)):
            groups = _groups(part, numbers, {})
            satisfied = np.logical_and.reduce([model.satisfied(groups) for model in plan.judging_models])
            failing[part[ROW].to_numpy()] |= ~satisfied[part[GROUP].to_numpy()]
        return pl.Series(failing)

    def _kept(self, plan: Plan, *, suppressed: bool) -> tuple[pl.DataFrame, dict[str, SensitiveColumn]]:
        """The tuples with their number and the codes of their sensitive values, without those that are `suppressed`."""
        starred = self.tuples.select(self.starred).to_series()
        numbers = {name: self._numbered(name, plan) for name in plan.histograms}
        codes = [pl.Series(VALUE + name, column.codes) for name, column in numbers.items()]
        with_codes = self.tuples.with_columns(codes).with_row_index(ROW)
        return with_codes.filter(~starred) if suppressed else with_codes, numbers

    def _in_sets(self, kept: pl.DataFrame) -> pl.DataFrame:
        """The same tuples, grouped by the set of classes of their person."""
        return kept.drop(GROUP).join(self.sets(kept), on=PERSON, how="left", nulls_equal=True, maintain_order="left")

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


def _known(person: pl.Series) -> pl.Series:
    """Refuse rows that do not say whom they are about: nobody knows how many people they are."""
    if lacking := person.null_count():
        raise InputError(
            f"people cannot be counted: whom it is about is missing in {count(lacking, 'row')}; fill in the values or "
            "remove these rows",
            code="person-missing",
        )
    return person


def _groups(
    kept: pl.DataFrame, numbers: Mapping[str, SensitiveColumn], populations: Mapping[str, Population]
) -> Groups:
    """The groups of a table with a column `GROUP`, which numbers them from 0 without a gap, counted in people."""
    people = kept.select(GROUP, PERSON).unique().group_by(GROUP).len().sort(GROUP)["len"].to_numpy().astype(np.int64)
    assert kept[GROUP].max() in (None, len(people) - 1), "every group has somebody"
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


def _described(counted: pl.DataFrame, renamed: Collection[str]) -> pl.DataFrame:
    """Counted tuples, in which the rows that a value of a renamed column ties together stand for the value."""
    ties = [name for name in renamed if name in counted.columns]
    names = [name for name in counted.columns if name != COUNT]
    cells = [counted[name].fill_null(TEXT) for name in names if name not in ties] if ties else []
    for name in ties:
        rows = counted.with_columns(one_text(cells).alias(TEXT)).group_by(name, TEXT).agg(_total())
        item = pl.concat_str(pl.col(COUNT).cast(pl.String), pl.lit(":"), pl.col(TEXT))
        values = rows.group_by(name).agg(item.sort().str.join("\0").alias(TEXT))
        shown = pl.col(name).is_not_null() & pl.col(name).ne_missing(pl.lit(SUPPRESSED))
        known = counted.select(name).join(values, on=name, how="left", nulls_equal=True, maintain_order="left")
        counted = counted.with_columns(known.select(pl.when(shown).then(TEXT).otherwise(name).alias(name)).to_series())
    return counted.group_by(names).agg(_total()) if ties else counted


def _total() -> pl.Expr:
    return pl.col(COUNT).sum().cast(pl.Int64)


def _no_codes(which: Bools) -> Codes:
    raise AssertionError(f"a verification asks for no codes ({len(which)} groups)")
