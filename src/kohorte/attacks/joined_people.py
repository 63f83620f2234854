"""Bounds for the people who are in a class of each of two releases, where people can have several rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Protocol

import numpy as np
import polars as pl

from kohorte.attacks.tables.two_releases import PeopleOfBoth
from kohorte.kernels.arrays import Bools, Codes, Counts


class RowBounds(Protocol):
    """Bounds for the rows of cells: a class of each release and a combination of linking values."""

    pair: Codes
    row: Codes
    column: Codes
    least: Counts
    most: Counts
    pairs: int


@dataclass(frozen=True, eq=False)
class Side:
    """One of two releases, counted for the cells and the pairs of classes that are asked about.

    `link_people`, `link_rows` and `suppressed` belong to the cells that are asked about: the people of their class with
    their link, the most rows that one of them has there, and the people with suppressed rows of that link. `people` and
    `links` belong to the pairs: the people of their class, and the most links that one of them has in it.
    """

    link_people: Counts = field(repr=False)
    link_rows: Counts = field(repr=False)
    suppressed: Counts = field(repr=False)
    people: Counts = field(repr=False)
    links: Counts = field(repr=False)

    @classmethod
    def of(cls, entries: pl.DataFrame, classes: int, cells: pl.DataFrame, of_pair: Codes) -> Side:
        """Count a release for cells (columns `class` and `link`) and for the class of each pair."""
        shown = entries.filter(pl.col("class") < classes)
        own = shown.group_by("class", "link", "person").agg(pl.len().alias("rows"))
        of_cell = own.group_by("class", "link").agg(pl.len().alias("people"), pl.col("rows").max())
        gone = (
            entries.filter(pl.col("class") == classes).group_by("link").agg(pl.col("person").n_unique().alias("gone"))
        )
        asked = cells.join(of_cell, on=["class", "link"], how="left", maintain_order="left")
        asked = asked.join(gone, on="link", how="left", maintain_order="left").fill_null(0)
        of_class = own.group_by("class", "person").agg(pl.len().alias("links"))
        of_class = of_class.group_by("class").agg(pl.len().alias("people"), pl.col("links").max())
        pairs = pl.DataFrame({"class": of_pair.astype(np.int64)}).join(
            of_class, on="class", how="left", maintain_order="left"
        )
        return cls(
            link_people=_whole(asked["people"]),
            link_rows=_whole(asked["rows"]),
            suppressed=_whole(asked["gone"]),
            people=_whole(pairs["people"].fill_null(0)),
            links=_whole(pairs["links"].fill_null(1)),
        )


def people_bounds(rows: RowBounds, left: Side, right: Side) -> tuple[Counts, Counts]:
    """The smallest and largest number of people in both classes of each pair, given bounds for rows.

    Most: in a cell are at most as many people as rows, and as each class has with that link; in a pair at most the sum
    of its cells, and at most the people of each class. Least: if one person has at most r rows with that link in a
    class, n rows are at least n / r people. And every person of a class with a link has a row there, which is in some
    class of the other release or suppressed by it; so those who do not fit anywhere else are in the cell. A person with
    at most l links in a class is counted in at most l cells of a pair.
    """
    most = np.minimum(np.minimum(left.link_people, right.link_people), rows.most)
    least = -(-rows.least // np.maximum(1, np.minimum(left.link_rows, right.link_rows)))
    for side, other, line in ((left, right, rows.row), (right, left, rows.column)):
        others = np.bincount(line, weights=most).astype(np.int64)[line] - most if len(line) else most
        least = np.maximum(least, side.link_people - other.suppressed - others)
    most_of_pair = np.bincount(rows.pair, weights=most, minlength=rows.pairs).astype(np.int64)
    least_of_pair = np.bincount(rows.pair, weights=least, minlength=rows.pairs).astype(np.int64)
    largest = np.zeros(rows.pairs, dtype=np.int64)
    np.maximum.at(largest, rows.pair, least)
    shared = -(-least_of_pair // np.maximum(1, np.minimum(left.links, right.links)))
    return np.maximum(largest, shared), np.minimum(most_of_pair, np.minimum(left.people, right.people))


def people_hurt(people: PeopleOfBoth, pairs: tuple[Codes, Codes], small: Bools, least: Counts) -> int:
    """At least so many different people are in the small pairs, of which each has at least `least`.

    Somebody who can be in d of them is counted d times by their sum. A pair is divided by the largest d of the people
    who have rows in both of its classes: then nobody adds more than one.
    """
    chosen = pl.DataFrame({"left": pairs[0][small].astype(np.int64), "right": pairs[1][small].astype(np.int64)})
    sides = (("left", people.left, people.person_left), ("right", people.right, people.person_right))
    ours, theirs = (pl.DataFrame({name: of, "person": whom}).unique() for name, of, whom in sides)
    able = chosen.with_row_index("pair").join(ours, on="left").join(theirs, on=["right", "person"])
    often = able.with_columns(pl.len().over("person").alias("often")).group_by("pair").agg(pl.col("often").max())
    found = dict(zip(often["pair"].to_list(), often["often"].to_list(), strict=True))
    shares = [Fraction(own, found[pair]) for pair, own in enumerate(least[small].tolist())]
    return ceil(sum(shares, Fraction()))


def _whole(column: pl.Series) -> Counts:
    return column.cast(pl.Int64).to_numpy()
