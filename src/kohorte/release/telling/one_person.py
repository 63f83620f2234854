"""What somebody learns who knows all rows of a person, and lays their classes over each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import one_spelling
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import PEOPLE, count
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON
from kohorte.release.shown_people import GROUP, LINK, VALUE, ShownPeople
from kohorte.release.telling.people import in_public
from kohorte.sources import COUNT

FEWEST = 2
SIZE, SEVERAL, TOLD, LEFT, ONE = "\0size", "\0several", "\0told", "\0left", "\0one"
BLOCK, BITS, SHARED = "\0block", "\0bits", "\0shared"


@dataclass(frozen=True)
class OverlaidValue:
    """A sensitive attribute whose value stays the same for some people.

    `constant` of the `people_with_several_rows` have the same known value in all their rows. For `single_value` people
    with one known value, it is the only value that occurs in all classes of their rows; for `by_one_class` of them, one
    class alone has no other value.
    """

    attribute: str
    people_with_several_rows: int
    constant: int
    single_value: int
    by_one_class: int

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class RowsOfOnePerson:
    """How many people an attacker hurts who knows all rows of a person.

    Of `people` with a row that is not suppressed, `fewer_than_k` share the set of classes of their rows with fewer than
    k people, themselves included; `alone` share it with nobody. `people_hurt` also counts those whose sensitive value
    is the only one left in `values`.
    """

    people: int
    k: int
    fewer_than_k: int
    alone: int
    values: tuple[OverlaidValue, ...]
    people_hurt: int

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {**vars(self), "values": [value.to_dict() for value in self.values]}

    def to_public_dict(self) -> dict[str, object]:
        """The figures for everybody: numbers of people in words, without a number of few."""
        found = {name: in_public(value) for name, value in vars(self).items() if name not in ("k", "values")}
        values = [
            {name: value if name == "attribute" else in_public(value) for name, value in vars(one).items()}
            for one in self.values
        ]
        return {**found, "k": self.k, "values": values}

    @property
    def in_words(self) -> str:
        """The outcome as one sentence, with all numbers."""
        return self._sentence(count, PEOPLE.count)

    @property
    def in_public_words(self) -> str:
        """The outcome as one sentence for everybody, without a number of few people, also not as a difference."""
        return self._sentence(in_public, lambda some: f"{in_public(some)} people")

    def _sentence(self, part: Callable[[int], str], people: Callable[[int], str]) -> str:
        found = (
            f"an attacker who knows all rows of a person hurts {part(self.people_hurt)} of {people(self.people)}: "
            f"{part(self.fewer_than_k)} share the classes of all their rows with fewer than {self.k} people, "
            f"{part(self.alone)} with nobody"
        )
        told = [
            f"{value.attribute!r} of {people(value.single_value)} is the only value that is left"
            for value in self.values
            if value.single_value
        ]
        return "; ".join((found, *told))


def rows_of_one_person(shown: ShownPeople, plan: Plan, attributes: tuple[str, ...]) -> RowsOfOnePerson:
    """Lay the classes of all rows of each person over each other, without suppressed rows.

    Counted
        Identity: people are alike if their rows fall into the same set of classes; if something in the release ties
        rows together, into the same multiset for each tie. k is that of the plan, at least 2.
        Value: an attacker who takes it that a value never changes knows that it occurs in each class of the person.
        Only people whose value is indeed known and the same in all rows are hurt.
    Complexity
        Sorting the rows, and for each attribute the different sets of classes of people whose value is the same in all
        rows, times their classes times the values of these.
    """
    kept = shown.tuples.filter(~shown.starred)
    classes = kept.select(*shown.names).unique(maintain_order=True).with_row_index(GROUP)
    kept = kept.join(classes, on=list(shown.names), how="left", nulls_equal=True, maintain_order="left")
    k = max(FEWEST, plan.smallest_class)
    tied = shown.sets(kept)
    alike = tied.with_columns(pl.len().over(GROUP).alias(SIZE))
    hurt = [alike.filter(pl.col(SIZE) < k)[PERSON]]
    sets = shown.sets(kept.drop(LINK)) if LINK in kept.columns else tied
    values = []
    for name in attributes:
        told = _told(shown.tuples.with_columns(one_spelling(shown.tuples[name])), name)
        same = sets.join(told.filter(TOLD), on=PERSON, how="semi")
        left = same.join(_left(kept.with_columns(one_spelling(kept[name])), same, name), on=GROUP)
        single = left.filter(pl.col(LEFT) == 1)
        hurt.append(single[PERSON])
        several = told.filter(pl.col(SEVERAL))
        values.append(
            OverlaidValue(name, several.height, int(several[TOLD].sum()), single.height, int(single[ONE].sum()))
        )
    return RowsOfOnePerson(
        people=alike.height,
        k=k,
        fewer_than_k=len(hurt[0]),
        alone=int((alike[SIZE] == 1).sum()),
        values=tuple(values),
        people_hurt=pl.concat(hurt).n_unique(),
    )


def _told(tuples: pl.DataFrame, name: str) -> pl.DataFrame:
    """The people, whether they have several rows, and whether all of them have one known value."""
    value = pl.col(name)
    known = (value.is_not_null() & value.ne_missing(pl.lit(SUPPRESSED))).all()
    return tuples.group_by(PERSON).agg(
        (pl.col(COUNT).sum() > 1).alias(SEVERAL), (known & (value.n_unique() == 1)).alias(TOLD)
    )


def _left(kept: pl.DataFrame, sets: pl.DataFrame, name: str) -> pl.DataFrame:
    """The sets of classes, the number of values that occur in each class of a set, and if one class has one value."""
    cells = kept.select(pl.col(GROUP).alias(VALUE), pl.col(name).rank("dense").fill_null(0).alias(LEFT)).unique()
    of_set = (
        kept.select(PERSON, pl.col(GROUP).alias(VALUE)).join(sets.unique(GROUP, keep="any"), on=PERSON).drop(PERSON)
    ).unique()
    sizes = of_set.group_by(GROUP).agg(pl.len().alias(SIZE))
    one = cells.group_by(VALUE).agg((pl.len() == 1).alias(ONE))
    alone = of_set.join(one, on=VALUE).group_by(GROUP).agg(pl.col(ONE).any())
    found = of_set.join(_packed(cells), on=VALUE).group_by(GROUP, BLOCK)
    common = found.agg(pl.len().alias(SHARED), pl.col(BITS).bitwise_and()).join(sizes, on=GROUP)
    counted = common.filter(pl.col(SHARED) == pl.col(SIZE)).group_by(GROUP)
    return counted.agg(pl.col(BITS).bitwise_count_ones().sum().alias(LEFT)).join(alone, on=GROUP)


def _packed(cells: pl.DataFrame) -> pl.DataFrame:
    """The values of each class, 64 of them as the bits of one number, so that they are compared at once."""
    numbers = cells[LEFT].to_numpy().astype(np.uint64)
    bits = pl.Series(BITS, np.uint64(1) << numbers % np.uint64(64))
    return (
        cells.select(VALUE, pl.Series(BLOCK, numbers // np.uint64(64)), bits).group_by(VALUE, BLOCK).agg(pl.sum(BITS))
    )
