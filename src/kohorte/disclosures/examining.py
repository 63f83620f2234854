"""Examine a candidate: which groups below k, or with one value in common, could be told apart with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

import numpy as np

from kohorte.disclosures.atoms import Split
from kohorte.disclosures.findings import Finding, FindingKind, Findings
from kohorte.disclosures.history import History
from kohorte.disclosures.view import View
from kohorte.kernels.arrays import Bools, Integers

EXPLAINED = 20
"""For so many groups of people the earlier releases are looked up; further ones add to the number of people."""


def examine(view: View, histories: Sequence[History]) -> Findings:
    """Return what stands out for each group of recipients; `histories` belong to the groups of the view."""
    people: dict[tuple[FindingKind, tuple[int, ...]], int] = defaultdict(int)
    if view.withdrawn_shown:
        people[FindingKind.WITHDRAWN, ()] += view.withdrawn_shown
    for split, history in zip(view.splits, histories, strict=False):
        small, alike = view.small(split), view.homogeneous(split)
        for kind, releases, number in _explained(view, split, history, small | alike, small):
            people[kind, releases] += number
    if view.alike.any():
        people[FindingKind.LOOK_ALIKE, ()] += int(np.count_nonzero(view.alike))
    found = (Finding(kind, releases, -(-number // view.k) * view.k) for (kind, releases), number in people.items())
    order = list(FindingKind)
    return Findings(tuple(sorted(found, key=lambda one: (order.index(one.kind), one.releases))))


def _explained(
    view: View, split: Split, history: History, bad: Bools, small: Bools
) -> list[tuple[FindingKind, tuple[int, ...], int]]:
    """Kind, earlier releases and number of people of each bad part."""
    found = []
    numbers = np.flatnonzero(bad)
    for part in numbers[:EXPLAINED]:
        members = split.members[split.part_of == part]
        outside = bool(split.outside[part])
        releases = history.separating(int(members[0]), _compared(view, int(split.signature[part])), len(members) + 1)
        if outside and not releases:  # an earlier release tells that they were there
            releases = tuple(islice(history.releases_of(int(members[0])), 1))
        kind = _kind(view, history, members, releases, outside=outside)
        found.append((kind if small[part] else FindingKind.SAME_VALUE, releases, int(split.size[part])))
    if len(numbers) > EXPLAINED:
        last = found[-1]
        found.append((last[0], last[1], int(split.size[numbers[EXPLAINED:]].sum())))
    return found


def _compared(view: View, signature: int) -> Integers:
    """The people among whom a part is found: those with its signature, or those who are not shown."""
    return np.flatnonzero(view.shown == signature)


def _kind(view: View, history: History, members: Integers, releases: tuple[int, ...], *, outside: bool) -> FindingKind:
    if outside:
        return FindingKind.ALL_BUT_FEW
    if not releases:
        return FindingKind.SMALL_CLASS
    facts = [history.books.facts(number) for number in releases]
    if all(members.min() >= fact["known"] for fact in facts):
        return FindingKind.GROWING
    if any(fact["columns"] != dict(view.candidate.columns) for fact in facts):
        return FindingKind.COMPLEMENTARY
    return FindingKind.OVERLAPPING
