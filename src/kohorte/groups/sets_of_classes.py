"""Number people by the set of classes into which all their rows fall."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kohorte.kernels.arrays import Codes, Counts
from kohorte.kernels.distinct import distinct_numbers

MASK = (1 << 32) - 1


def person_sets(
    class_of: Codes | Counts, persons: Codes, *, people: int, weights: Counts, links: Codes | None = None
) -> tuple[Codes, Counts]:
    """Number the sets of classes of all people; return the set of each person, and the people of each set.

    There is one entry per tuple: its class, its person (a number below `people`), its rows (`weights`) and, if rows are
    tied together, its tie. Then the numbers of rows must agree, too, tie by tie. A person without a tuple has no set:
    their number is that of the sets.
    """
    owners, items = persons.astype(np.int64), class_of.astype(np.int64)
    if links is None:
        pairs = distinct_numbers(owners << 32 | items)
        owners, items = pairs >> 32, pairs & MASK
    else:
        ties = links.astype(np.int64)
        pairs, of = np.unique(ties << 32 | items, return_inverse=True)
        counts = np.bincount(of, weights=weights).astype(np.int64)
        _, rows = np.unique((pairs & MASK) << 32 | counts, return_inverse=True)
        of_tie = _signatures(pairs >> 32, rows, int(ties.max(initial=0)) + 1)
        tied = distinct_numbers(ties << 32 | owners)
        owners, items = tied & MASK, of_tie[tied >> 32]
    found = _signatures(owners, items, people)
    present = found >= 0
    _, numbers = np.unique(found[present], return_inverse=True)
    count = int(numbers.max(initial=-1)) + 1
    set_of = np.full(people, count, dtype=np.uint32)
    set_of[present] = numbers
    return set_of, np.bincount(numbers, minlength=count)


def _signatures(owners: Counts, items: Counts, count: int) -> Counts:
    """Number the sorted lists of items of all owners: equal numbers for equal lists, -1 for owners without items.

    The lists are read item by item, all owners together; a number stands for the list so far, as in a prefix tree.
    """
    order = np.lexsort((items, owners))
    owners, items = owners[order], items[order]
    ranks = np.arange(len(owners)) - np.searchsorted(owners, owners)
    found = np.full(count, -1, dtype=np.int64)
    by_rank = np.argsort(ranks, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(ranks))) if len(ranks) else np.zeros(1, dtype=np.int64)
    used = 0
    for begin, end in pairwise(bounds):
        step = by_rank[begin:end]
        pairs, numbers = np.unique((found[owners[step]] + 1) << 32 | items[step], return_inverse=True)
        found[owners[step]] = used + numbers
        used += len(pairs)
    return found
