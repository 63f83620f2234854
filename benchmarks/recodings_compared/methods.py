"""Published methods that group rows, each in a short implementation of our own: they return the group of each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.recodings_compared.space import Growing, Numbers, Rows, Space


def k_member(space: Space, k: int, seed: int = 0) -> Rows:
    """Greedy k-member clustering.

    A group begins with the row farthest from the one before, and takes the row that adds least loss until it has k.
    Rows that are left go where they add least.

    Source: Byun, Kamra, Bertino, Li, Efficient k-Anonymization Using Clustering Techniques, DASFAA 2007, figure 3.
    Their measure of loss is that of the metric here.
    """
    group_of = np.full(space.rows, -1, dtype=np.int64)
    row = int(np.random.default_rng(seed).integers(space.rows))
    groups: list[Growing] = []
    free = np.arange(space.rows)
    while len(free) >= k:
        row = int(free[space.apart(row, free).argmax()])
        group = Growing(space, row)
        free = free[free != row]
        while len(group.rows) < k:
            row = int(free[group.each_with(free).argmin()])
            group.add(row)
            free = free[free != row]
        group_of[group.rows] = len(groups)
        groups.append(group)
    for row in free.tolist():
        one = np.array([row])
        added = [
            (len(group.rows) + 1) * float(group.each_with(one)[0]) - len(group.rows) * group.each() for group in groups
        ]
        best = int(np.argmin(added))
        groups[best].add(row)
        group_of[row] = best
    return group_of


def mdav(space: Space, k: int) -> Rows:
    """Maximum distance to average vector, for groups of k to 2k - 1 rows.

    The row farthest from the average and its k - 1 nearest rows are a group, then the row farthest from that one and
    its k - 1 nearest; the average of categories is the most frequent one.

    Source: Domingo-Ferrer, Torra, Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation, Data
    Mining and Knowledge Discovery 11, 2005, section 3.2 (MDAV-generic).
    """
    group_of = np.full(space.rows, -1, dtype=np.int64)
    free, number = np.arange(space.rows), 0
    low, high = space.ends
    middle = (low + high) / 2

    def take(row: int) -> None:
        nonlocal free, number
        near = np.argsort(_squared(space, middle, middle[row], space.names[row], free), kind="stable")[:k]
        group_of[free[near]] = number
        free, number = np.delete(free, near), number + 1

    while len(free) >= 2 * k:
        values = np.array([np.bincount(column).argmax() for column in space.names[free].T], dtype=np.int64)
        row = int(free[_squared(space, middle, middle[free].mean(axis=0), values, free).argmax()])
        from_row = middle[row], space.names[row]
        take(row)
        if len(free) >= 2 * k:
            take(int(free[_squared(space, middle, *from_row, free).argmax()]))
    group_of[free] = number
    return group_of


def _squared(space: Space, middle: Numbers, at: Numbers, values: Rows, rows: Rows) -> Numbers:
    """The squared distances of rows from a point; each column counts alike, categories are the same or not."""
    ranges = np.ptp(middle, axis=0)
    apart = ((middle[rows] - at) / np.where(ranges > 0, ranges, 1)) ** 2
    total: Numbers = apart.sum(axis=1) + (space.names[rows] != values).sum(axis=1)
    return total


def hilbert(space: Space, k: int) -> Rows:
    """The rows in the order of a Hilbert curve through all columns, divided where it costs least.

    Dynamic programming finds the best division into runs of k to 2k - 1 rows.

    Source: Ghinita, Karras, Kalnis, Mamoulis, Fast Data Anonymization with Low Information Loss, VLDB 2007, sections 3
    and 4. The curve is that of Skilling, Programming the Hilbert Curve, AIP Conference Proceedings 707, 2004.
    """
    order = hilbert_order(space.places)
    group_of = np.empty(space.rows, dtype=np.int64)
    group_of[order] = divided(space, order, k)
    return group_of


def hilbert_order(places: Rows) -> Rows:
    """The order of rows along a Hilbert curve: each column is stretched over the same power of two."""
    lengths = places.max(axis=0) + 1
    bits = int(max(1, np.ceil(np.log2(lengths.max()))))
    x = (places * (2**bits - 1) // np.maximum(1, lengths - 1)).T.astype(np.int64)
    axes = len(x)
    for bit in range(bits - 1, 0, -1):
        high, below = 1 << bit, (1 << bit) - 1
        for axis in range(axes):
            turned = (x[axis] & high) != 0
            swapped = np.where(turned, 0, (x[0] ^ x[axis]) & below)
            x[0] ^= np.where(turned, below, swapped)
            x[axis] ^= swapped
    for axis in range(1, axes):
        x[axis] ^= x[axis - 1]
    flip = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flip ^= np.where((x[-1] & (1 << bit)) != 0, (1 << bit) - 1, 0)
    x ^= flip
    keys = [(x[axis] >> bit) & 1 for bit in range(bits) for axis in reversed(range(axes))]  # the last key leads
    return np.lexsort(keys)


def divided(space: Space, order: Rows, k: int) -> Rows:
    """Numbers for rows in an order: the division into runs of k to 2k - 1 rows that costs least."""
    rows = len(order)
    most = min(2 * k - 1, rows)
    costs = _runs(space, order, most)
    best = np.full(rows + 1, np.inf)
    best[0] = 0.0
    length_before = np.zeros(rows + 1, dtype=np.int64)
    for end in range(k, rows + 1):
        lengths = np.arange(k, min(most, end) + 1)
        totals = best[end - lengths] + costs[lengths - 1, end - lengths]
        least = int(totals.argmin())
        best[end], length_before[end] = totals[least], lengths[least]
    number_of, end, number = np.empty(rows, dtype=np.int64), rows, 0
    while end > 0:
        number_of[end - length_before[end] : end] = number
        end, number = end - int(length_before[end]), number + 1
    return number_of


def _runs(space: Space, order: Rows, most: int) -> Numbers:
    """What each run costs, by its length less 1 and its first row; infinite for runs beyond the end."""
    low, high = (ends[order] for ends in space.ends)
    names = space.names[order]
    before = np.stack([_before(column) for column in names.T], axis=1) if names.shape[1] else names
    rows = len(order)
    costs = np.full((most, rows), np.inf)
    least, largest, values = low.copy(), high.copy(), np.zeros((rows, names.shape[1]))
    for length in range(1, most + 1):
        starts = rows - length + 1
        last = slice(length - 1, rows)
        least, largest = np.minimum(least[:starts], low[last]), np.maximum(largest[:starts], high[last])
        values = values[:starts] + (before[last] < np.arange(starts)[:, None])
        each = (largest - least).sum(axis=1) + ((values - 1) * space.steps).sum(axis=1)
        costs[length - 1, :starts] = length * each
    return costs


def _before(column: Rows) -> Rows:
    """Where the value of each row occurred before; -1 if it did not."""
    order = np.argsort(column, kind="stable")
    found = np.full(len(column), -1, dtype=np.int64)
    same = column[order[1:]] == column[order[:-1]]
    found[order[1:][same]] = order[:-1][same]
    return found


METHODS: dict[str, Callable[[Space, int], Rows]] = {
    "k-member clustering": k_member,
    "MDAV": mdav,
    "Hilbert order and dynamic programming": hilbert,
}
"""The methods by the name that the page uses."""
