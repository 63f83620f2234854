"""Complementary release attack: two releases of one table are joined by the sensitive attributes that both show."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.attacks.joined_people import Side, people_bounds, people_hurt
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.two_releases import PeopleOfBoth, TwoReleases, two_releases
from kohorte.errors import InputError
from kohorte.in_words import PEOPLE, ROWS
from kohorte.kernels.arrays import Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.compatible import compatible_classes, overlaps
from kohorte.risks.shown.table import ShownTable

ROUNDS = 20
MOST_CELLS = 50_000_000


def complementary_release_attack(
    frame: object, plan: Plan, other_release: object, *, original: object = None
) -> Attack:
    """Count the people who are certainly among fewer than k people after two releases are joined.

    An attacker who knows a person's quasi-identifiers knows the class in each release. The person is among those who
    are in both classes. Their number is bounded: for each value of the sensitive attributes, at most as many can be in
    both as each class has, and at least as many as the other classes leave. Only what the bounds prove is counted, and
    nobody twice (joined_people.py). k is the k of the plan, or the size of the smallest class if that is smaller. If it
    is not known whom the rows are about (by both releases or by the `original` table), every row is taken for a person.

    Source
        Sweeney, k-Anonymity: A Model for Protecting Privacy, International Journal of Uncertainty, Fuzziness and
        Knowledge-Based Systems 10(5), 2002.
    """
    return attack_by_complementary_release(AttackedTable.of(frame, plan, original=original), other_release)


def attack_by_complementary_release(attacked: AttackedTable, other_release: object) -> Attack:
    """The attack on a table and another release of its rows."""
    both = two_releases(attacked, other_release)
    _refuse_others(both)
    pairs = compatible_classes(both.left, both.right, overlaps(both.left, both.right, attacked.plan))
    cells = Cells.of(both, *pairs)
    _refuse_misfits(both, cells)
    cells.tighten()
    people = both.people
    least, most = cells.bounds() if people is None else _bounds_of_people(both, people, cells, pairs)
    small = np.asarray((most < both.k) & (least > 0), dtype=bool)
    return Attack(
        name="complementary release",
        hurt=int(least[small].sum()) if people is None else people_hurt(people, pairs, small, least),
        rows_tried=both.left.kept_rows,
        unit=(ROWS if people is None else PEOPLE).many,
        people_tried=None if people is None else len(np.unique(people.person_left[people.left < both.left.classes])),
        how="rows of both releases are joined by the sensitive values that both show; a person is among those who are "
        "in the right class of each release, and these are fewer than in either release",
        prevented_by="treating every attribute of an earlier release as quasi-identifying in the next one, or building "
        "on the classes of the earlier release",
        facts={
            "linking_columns": list(both.linking),
            "k": both.k,
            "joined_classes": int((least > 0).sum()),
            "smallest_joined_class": int(most[least > 0].min()) if (least > 0).any() else None,
        },
    )


def _bounds_of_people(
    both: TwoReleases, people: PeopleOfBoth, cells: Cells, pairs: tuple[Codes, Codes]
) -> tuple[Counts, Counts]:
    """The smallest and largest number of people in both classes of each pair."""
    left = pl.DataFrame({"class": people.left, "link": people.link_left, "person": people.person_left})
    right = pl.DataFrame({"class": people.right, "link": people.link_right, "person": people.person_right})
    asked = [pl.DataFrame({"class": own[cells.pair].astype(np.int64), "link": cells.link}) for own in pairs]
    return people_bounds(
        cells,
        Side.of(left, both.left.classes, asked[0], pairs[0]),
        Side.of(right, both.right.classes, asked[1], pairs[1]),
    )


def _refuse_others(both: TwoReleases) -> None:
    count = int(max(both.link_left.max(), both.link_right.max())) + 1
    left, right = (np.bincount(links, minlength=count) for links in (both.link_left, both.link_right))
    if (left != right).any():
        differing = int(np.abs(left - right).sum()) // 2
        raise InputError(
            "the tables are not two releases of the same rows: rows differ in columns that releases show unchanged "
            f"({differing:,} of them)",
            code="attack-rows-differ",
        )


def _refuse_misfits(both: TwoReleases, cells: Cells) -> None:
    """Refuse releases that contradict each other: more rows match no row of the other than it suppresses."""
    for table, other, line, people in (
        (both.left, both.right, cells.row, cells.rows),
        (both.right, both.left, cells.column, cells.columns),
    ):
        _, first = np.unique(line, return_index=True)
        misfits = table.kept_rows - int(people[first].sum())
        if misfits > other.suppressed:
            raise InputError(
                "the tables are not two releases of the same rows: rows of one match no row of the other "
                f"({misfits:,} of them)",
                code="attack-rows-differ",
            )


@dataclass(eq=False)
class Cells:
    """Bounds for the number of rows in a class of each release that have a combination of sensitive values.

    A cell is a pair of classes and a combination (`link`). `row` numbers its class on the left with the combination,
    `column` that on the right; `rows` and `columns` count their rows, `row_left_over` and `column_left_over` those that
    the other release suppresses.
    """

    pair: Codes = field(repr=False)
    link: Codes = field(repr=False)
    row: Codes = field(repr=False)
    column: Codes = field(repr=False)
    rows: Counts = field(repr=False)
    columns: Counts = field(repr=False)
    row_left_over: Counts = field(repr=False)
    column_left_over: Counts = field(repr=False)
    pairs: int
    least: Counts = field(init=False, repr=False)
    most: Counts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.least = np.zeros(len(self.pair), dtype=np.int64)
        self.most = np.minimum(self.rows, self.columns)

    @classmethod
    def of(cls, both: TwoReleases, left: Codes, right: Codes) -> Cells:
        """The cells of compatible classes."""
        ours = _counted(both.left, both.link_left, "left", "row")
        theirs = _counted(both.right, both.link_right, "right", "column")
        pairs = pl.DataFrame({"left": left, "right": right}).with_row_index("pair")
        cells = pairs.join(ours, on="left").join(theirs, on=["right", "link"])
        if cells.height > MOST_CELLS:
            raise InputError("too many pairs of classes of the two releases match", code="attack-too-large")
        links = cells["link"].to_numpy()
        return cls(
            pair=cells["pair"].to_numpy(),
            link=links,
            row=cells["row"].to_numpy(),
            column=cells["column"].to_numpy(),
            rows=cells["row_people"].to_numpy().astype(np.int64),
            columns=cells["column_people"].to_numpy().astype(np.int64),
            row_left_over=_suppressed(both.right, both.link_right)[links],
            column_left_over=_suppressed(both.left, both.link_left)[links],
            pairs=len(left),
        )

    def tighten(self) -> None:
        """Tighten the bounds by the sums of rows and columns until nothing changes."""
        for _ in range(ROUNDS):
            before = self.least.copy(), self.most.copy()
            others = self._sums(self.row, self.most) - self.most
            self.least = np.maximum(self.least, self.rows - self.row_left_over - others)
            others = self._sums(self.column, self.most) - self.most
            self.least = np.maximum(self.least, self.columns - self.column_left_over - others)
            others = self._sums(self.row, self.least) - self.least
            self.most = np.minimum(self.most, self.rows - others)
            others = self._sums(self.column, self.least) - self.least
            self.most = np.minimum(self.most, self.columns - others)
            if (before[0] == self.least).all() and (before[1] == self.most).all():
                return

    def bounds(self) -> tuple[Counts, Counts]:
        """The smallest and largest number of rows in both classes of each pair."""
        return self._totals(self.least), self._totals(self.most)

    def _sums(self, line: Codes, figures: Counts) -> Counts:
        return np.bincount(line, weights=figures).astype(np.int64)[line] if len(line) else figures

    def _totals(self, figures: Counts) -> Counts:
        return np.bincount(self.pair, weights=figures, minlength=self.pairs).astype(np.int64)


def _counted(table: ShownTable, links: Codes, side: str, number: str) -> pl.DataFrame:
    """The people of each class with each combination."""
    rows = pl.DataFrame({side: table.class_of, "link": links[table.kept]})
    return rows.group_by(side, "link", maintain_order=True).len(name=f"{number}_people").with_row_index(number)


def _suppressed(table: ShownTable, links: Codes) -> Counts:
    """How many rows with each combination are suppressed."""
    total = np.bincount(links)
    shown = np.bincount(links[table.kept], minlength=len(total))
    return np.asarray(total - shown, dtype=np.int64)
