"""Columns that stay in a release and tie rows of one person together, although the plan does not say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import spelling_keys
from kohorte.plans.people.repeated import PEOPLE, absent, with_people
from kohorte.sources import COUNT, TableSource

VALUE, ROWS, MOSTLY, TIED = "\0value", "\0rows", "\0mostly", "\0tied"
FEW_TIES = 5
MOSTLY_OWN = 0.9
"""A column ties rows if nine tenths of its repeated values belong to one person each, and these are at least five, or
as many as there are people with several rows: our own choice. Values of sex, ward or diagnosis are shared by people."""


@dataclass(frozen=True)
class Tying:
    """A column that stays in a release and ties rows of one person together.

    Of its `repeated` values, which occur in several rows, `own` belong to one person each.
    """

    column: str
    own: int
    repeated: int

    @property
    def is_shared(self) -> bool:
        """Whether some values belong to several people."""
        return self.own < self.repeated

    @property
    def facts(self) -> str:
        """How it ties rows, without a number of people that the release does not tell."""
        if self.own >= MOSTLY_OWN * self.repeated:
            return f"of its {self.repeated:,} values that occur in several rows, {self.own:,} belong to one person each"
        return (
            "some of its values are shared by several people, but most people with several rows have most of them "
            "under values that are mostly theirs"
        )


def tying_columns(
    source: TableSource, persons: Sequence[str], columns: Sequence[str], *, several: int
) -> Iterator[Tying]:
    """Find the columns that tie rows together, where so many people have several rows.

    Either nearly all repeated values belong to one person each; or most people with several rows have more than half of
    them under values that they have in several rows, and of whose rows more than half are theirs: then somebody who
    takes rows with the same value for rows of one person is right more often than not. Somebody with a large share of
    all rows has as much of every value by chance: the share must be more than halfway from there to all of them.
    """
    least = max(1, min(FEW_TIES, several))
    for name in columns if several else ():
        counted = _counted(source, persons, name)
        own, repeated = _owned(counted)
        tied = _tied(counted)
        if (own >= least and own >= MOSTLY_OWN * repeated) or (tied >= least and 2 * tied > several):
            yield Tying(name, own, repeated)


def _counted(source: TableSource, persons: Sequence[str], name: str) -> pl.DataFrame:
    """The rows of each person with each value, whatever its spelling; without missing and suppressed values."""
    shown = source.count_shown(list(dict.fromkeys((*persons, name)))).filter(~absent(name))
    keys = with_people(shown.with_columns(spelling_keys(shown[name]).alias(VALUE)).drop_nulls(VALUE), persons)
    counted = keys.group_by(PEOPLE, VALUE).agg(pl.col(COUNT).sum())
    return counted.with_columns(pl.col(COUNT).sum().over(VALUE).alias(ROWS))


def _owned(counted: pl.DataFrame) -> tuple[int, int]:
    """How many values of a column occur in several rows of one person only, and how many in several rows at all."""
    repeated = counted.filter(pl.col(ROWS) > 1)
    return int((repeated[COUNT] == repeated[ROWS]).sum()), repeated[VALUE].n_unique()


def _tied(counted: pl.DataFrame) -> int:
    """How many people with several rows have most of them tied together by values that are mostly theirs."""
    chance = pl.col(COUNT).sum().over(PEOPLE) / pl.col(COUNT).sum()
    counted = counted.with_columns((2 * pl.col(COUNT) > pl.col(ROWS) * (1 + chance)).alias(MOSTLY))
    theirs = pl.col(COUNT).filter((pl.col(COUNT) > 1) & pl.col(MOSTLY)).sum()
    people = counted.group_by(PEOPLE).agg(pl.col(COUNT).sum(), theirs.alias(TIED)).filter(pl.col(COUNT) > 1)
    return int((2 * people[TIED] > people[COUNT]).sum())
