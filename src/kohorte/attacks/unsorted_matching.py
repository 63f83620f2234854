"""Unsorted matching attack: two releases keep the order of the rows, so they can be joined row by row."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.two_releases import TwoReleases, two_releases
from kohorte.kernels.arrays import Bools, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.compatible import overlaps


def unsorted_matching_attack(frame: object, plan: Plan, other_release: object) -> Attack:
    """Count the rows that are in a class of fewer than k rows when two releases are joined row by row.

    The same order is assumed only if no row contradicts it: in every row the cells of both overlap, and the linking
    columns are equal. k is the k of the plan, or the size of the smallest class if that is smaller.

    Source
        Sweeney, k-Anonymity: A Model for Protecting Privacy, International Journal of Uncertainty, Fuzziness and
        Knowledge-Based Systems 10(5), 2002.
    """
    both = two_releases(frame, other_release, plan)
    in_both, fits = _fits(both, plan)
    kept = bool(fits[in_both].all()) and bool(in_both.any())
    hurt, smallest = 0, None
    if kept:
        _, joined, sizes = np.unique(_pairs(both, in_both), return_inverse=True, return_counts=True)
        hurt, smallest = int((sizes[joined] < both.k).sum()), int(sizes.min())
    return Attack(
        name="unsorted matching",
        people_hurt=hurt,
        rows_tried=int(in_both.sum()),
        how=_how(kept=kept, rows=int(in_both.sum())),
        prevented_by="shuffled rows, which is the default of a plan (output: {order: shuffled})",
        facts={
            "same_order": kept,
            "rows_that_contradict": int((~fits[in_both]).sum()),
            "k": both.k,
            "smallest_joined_class": smallest,
        },
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
    return in_both, np.asarray(fits, dtype=bool)


def _pairs(both: TwoReleases, in_both: Bools) -> Counts:
    """The pair of classes of every row that neither release suppresses."""
    left, right = both.left.class_of_all_rows, both.right.class_of_all_rows
    return (left * max(1, both.right.classes) + right)[in_both]
