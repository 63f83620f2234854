"""Count rows and people in groups, from arrays with one entry per tuple."""

from __future__ import annotations

import numpy as np

from kohorte.groups.histogram import Domain, Histogram
from kohorte.kernels.arrays import Codes, Counts
from kohorte.kernels.distinct import distinct_numbers


def different_people(group_of: Codes | Counts, persons: Codes | Counts, groups: int) -> Counts:
    """The number of different people in each group."""
    width = int(persons.max(initial=0)) + 1
    pairs = distinct_numbers(group_of.astype(np.int64) * width + persons)
    return np.bincount(pairs // width, minlength=groups)


def rows_with_values(
    group_of: Codes | Counts, values: Codes, weights: Counts | None, groups: int, domain: Domain
) -> Histogram:
    """Count the rows with each value in each group; `weights` are the rows of each tuple (default 1)."""
    keys, of = _pairs(group_of, values, domain)
    return _histogram(keys, np.bincount(of, weights).astype(np.int64), groups, domain)


def people_with_values(
    group_of: Codes | Counts, values: Codes, persons: Codes | Counts, sizes: Counts, domain: Domain
) -> Histogram:
    """Count the people with each value in each group of `sizes` people; a person counts once for each value."""
    keys, of = _pairs(group_of, values, domain)
    return _histogram(keys, different_people(of, persons, len(keys)), len(sizes), domain, sizes)


def _pairs(group_of: Codes | Counts, values: Codes, domain: Domain) -> tuple[Counts, Counts]:
    """The pairs of a group and a value that occur, sorted, and the pair of each tuple."""
    keys, of = np.unique(group_of.astype(np.int64) * len(domain.overall) + values, return_inverse=True)
    return keys, of


def _histogram(keys: Counts, counts: Counts, groups: int, domain: Domain, people: Counts | None = None) -> Histogram:
    width = len(domain.overall)
    starts = np.searchsorted(keys, np.arange(groups + 1) * width)
    return Histogram(starts, (keys % width).astype(np.uint32), counts, domain, people)
