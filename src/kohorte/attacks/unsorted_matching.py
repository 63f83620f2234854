"""Unsorted matching attack: two releases keep the order of the rows, so they can be joined row by row."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.two_releases import PeopleOfBoth, TwoReleases, refuse_other_rows, two_releases
from kohorte.groups import different_people
from kohorte.in_words import PEOPLE, ROWS
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.compatible import overlaps


def unsorted_matching_attack(frame: object, plan: Plan, other_release: object, *, original: object = None) -> Attack:
    """Count the people who are in a class of fewer than k people when two releases are joined row by row.

    The same order is assumed only if no row contradicts it: in every row the cells of both overlap, and the linking
    columns are equal. k is the k of the plan, or the size of the smallest class if that is smaller. If it is not known
    whom the rows are about (by both releases or by the `original` table), rows are counted.

    Source
        Sweeney, k-Anonymity: A Model for Protecting Privacy, International Journal of Uncertainty, Fuzziness and
        Knowledge-Based Systems 10(5), 2002.
    """
    return attack_by_unsorted_matching(AttackedTable.of(frame, plan, original=original), other_release)


def attack_by_unsorted_matching(attacked: AttackedTable, other_release: object) -> Attack:
    """The attack on a table and another release of its rows."""
    both = two_releases(attacked, other_release)
    in_both, fits = _fits(both, attacked.plan)
    kept = bool(fits[in_both].all()) and bool(in_both.any())
    hurt, smallest = 0, None
    if kept:
        hurt, smallest = _small(*_joined(both, in_both), both.k)
    people = both.people
    return Attack(
        name="unsorted matching",
        hurt=hurt,
        rows_tried=int(in_both.sum()),
        how=_how(kept=kept, rows=int(in_both.sum())),
        prevented_by="shuffled rows, which is the default of a plan (output: {order: shuffled})",
        facts={
            "same_order": kept,
            "rows_that_contradict": int((~fits[in_both]).sum()),
            "k": both.k,
            "smallest_joined_class": smallest,
        },
        unit=(ROWS if people is None else PEOPLE).many,
        people_tried=None if people is None else len(np.unique(people.person_left[_in_both(both, people)])),
    )


def _how(*, kept: bool, rows: int) -> str:
    if kept:
        return "both releases have the rows in the same order: row by row, each reveals what the other hides"
    if not rows:
        return "every row is suppressed in one of the releases, so there is nothing to join"
    return "the rows of the two releases are in different orders, so they cannot be joined row by row"


def _fits(both: TwoReleases, plan: Plan) -> tuple[Bools, Bools]:
    """Which rows neither release suppresses, and which rows of both can belong to the same person."""
    rows = both.left.rows
    in_both = np.zeros(rows, dtype=bool)
    in_both[np.intersect1d(both.left.kept, both.right.kept)] = True
    fits = both.link_left == both.link_right
    left, right = both.left.class_of_all_rows, both.right.class_of_all_rows
    columns = overlaps(both.left, both.right, plan)
    for column, own, other in zip(columns, both.left.cells.T, both.right.cells.T, strict=True):
        here = np.flatnonzero(in_both)
        fits[here] &= column.contains(own[left[here]], other[right[here]])
    if both.people is not None and not both.people.aligned:  # both releases say whom a row is about
        fits &= both.people.person_left == both.people.person_right
    return in_both, np.asarray(fits, dtype=bool)


def _joined(both: TwoReleases, in_both: Bools) -> tuple[Counts, Codes]:
    """The pair of classes of every row that neither release suppresses, and the person, or the row itself."""
    rows = _pairs(both, both.left.class_of_all_rows, both.right.class_of_all_rows)
    people = both.people
    if people is None:
        return rows[in_both], np.arange(int(in_both.sum()), dtype=np.uint32)
    pairs = _pairs(both, people.left, people.right)
    if people.aligned:
        refuse_other_rows([rows, both.link_left], [pairs, people.link_left])
    chosen = _in_both(both, people)
    return pairs[chosen], people.person_left[chosen]


def _pairs(both: TwoReleases, left: Counts, right: Counts) -> Counts:
    return left * (both.right.classes + 1) + right


def _in_both(both: TwoReleases, people: PeopleOfBoth) -> Bools:
    return np.asarray((people.left < both.left.classes) & (people.right < both.right.classes), dtype=bool)


def _small(pairs: Counts, whom: Codes, k: int) -> tuple[int, int]:
    """The different members of pairs with fewer than k members, and the fewest members of a pair."""
    _, joined = np.unique(pairs, return_inverse=True)
    sizes = different_people(joined, whom, int(joined.max()) + 1)
    return len(np.unique(whom[sizes[joined] < k])), int(sizes.min())
