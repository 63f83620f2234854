"""The people of a released table, counted with polars from text, not by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Population
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON, flagged_rows, one_text
from kohorte.release.shown_classes import Classes
from kohorte.sources import COUNT, SensitiveColumn, Tuples, encode_sensitive

LINK = "\0link"
GROUP, VALUE, PEOPLE, TEXT = "\0group", "\0value", "\0people", "\0text"


@dataclass(frozen=True, eq=False)
class ShownPeople:
    """Whom the rows of a release are about, which the release itself does not say; never written to a file.

    `tuples` has the quasi-identifiers as released, the sensitive attributes that models look at, the person (`PERSON`),
    the value that ties rows together (`LINK`, if there is one), and the number of rows (`COUNT`).
    """

    tuples: pl.DataFrame = field(repr=False)
    names: tuple[str, ...]
    by_sets: bool

    @classmethod
    def of(cls, tuples: Tuples, shown: pl.DataFrame, plan: Plan) -> ShownPeople | None:
        """The people of tuples that are released as `shown`; None if the plan counts rows."""
        if not plan.unit.counts_people:
            return None
        cells = [shown[name] if name in shown.columns else tuples.text(name) for name in plan.quasi_identifiers]
        return cls._made(pl.DataFrame(cells), tuples.text, pl.Series(COUNT, tuples.counts), plan, tuples.numbers)

    @classmethod
    def of_original(cls, original: pl.DataFrame, classes: Classes, plan: Plan) -> ShownPeople | None:
        """The people of a release whose classes are known, from the table that it was made from.

        None if the release shows values that this table does not have at any level.
        """
        check_columns(original.columns, plan)
        rows = flagged_rows(original, plan)
        count = pl.Series(COUNT, np.ones(rows.height, dtype=np.int64))
        try:
            shown = classes.shown_rows(rows, plan)
        except InputError as error:
            if error.code != "verify-level-unclear":
                raise
            return None
        return cls._made(shown, lambda name: as_text(rows[name]), count, plan)

    @classmethod
    def _made(
        cls,
        shown: pl.DataFrame,
        text: Callable[[str], pl.Series],
        count: pl.Series,
        plan: Plan,
        number: Callable[[str], pl.Series] | None = None,
    ) -> ShownPeople:
        """Put the columns together; `number` numbers the values of a column, which are compared faster than texts."""
        unit = plan.unit

        def whom(columns: tuple[str, ...]) -> pl.Series:
            if number is not None and len(columns) == 1:
                return number(columns[0])
            return one_text([text(name) for name in columns])

        frame = shown.with_columns(
            *(text(name) for name in plan.histograms),
            whom(unit.columns).alias(PERSON),
            *([whom(unit.links).alias(LINK)] if unit.links else []),
            count,
        )
        return cls(frame, plan.quasi_identifiers, unit.judges_sets)

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
        starred = pl.all_horizontal(pl.col(self.names).eq_missing(pl.lit(SUPPRESSED)))
        lost = self.tuples.group_by(PERSON).agg(starred.any().alias(VALUE), starred.all().alias(GROUP))
        return int(lost[VALUE].sum()), int(lost[GROUP].sum())

    def judged(
        self, plan: Plan, suppressed: bool, populations: Mapping[str, Population]
    ) -> tuple[tuple[Groups, ...], Groups]:
        """What the models judge, counted in people: groups with the same set of classes, if so planned, and classes.

        Return them, and the classes once more. `suppressed` tells whether rows that show only `*` are exempt.
        """
        starred = self.tuples.select(pl.all_horizontal(pl.col(self.names).eq_missing(pl.lit(SUPPRESSED)))).to_series()
        numbers = {name: self._numbered(name, plan) for name in plan.histograms}
        with_codes = self.tuples.with_columns(pl.Series(VALUE + name, column.codes) for name, column in numbers.items())
        kept = with_codes.filter(~starred) if suppressed else with_codes
        classes = kept.select(*self.names).unique(maintain_order=True).with_row_index(GROUP)
        kept = kept.join(classes, on=list(self.names), how="left", nulls_equal=True, maintain_order="left")
        by_class = _groups(kept, classes.height, numbers, populations)
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
