"""What an attacker has who recognises the same row in all releases: the rows that are the same to him."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.series.cover import Cover
from kohorte.series.domain.regions import Places
from kohorte.series.judge import Judge

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Linked:
    """The fewest rows that fit a person, and whether the models hold for all such groups of rows."""

    candidates: int
    satisfied: bool


@dataclass(eq=False)
class Traces:
    """The regions of all rows in all releases so far, as one number: rows of the same number have the same trace.

    An attacker knows the quasi-identifiers of a person, and so the regions in which the person's row must lie in every
    release. Nothing here takes for granted that the regions nest.
    """

    places: Places = field(repr=False)
    numbers: Numbers = field(repr=False, init=False)

    def __post_init__(self) -> None:
        self.numbers = np.zeros(len(self.places), dtype=np.int64)

    def follow(self, cover: Cover) -> None:
        """Add a release."""
        region_of = cover.locate(self.places)
        keys = self.numbers * (int(region_of.max(initial=0)) + 2) + region_of + 1
        self.numbers = np.unique(keys, return_inverse=True)[1].reshape(-1)

    def linked(self, rows: Numbers, judge: Judge, arrivals: Numbers | None = None) -> Linked:
        """Group these rows, all that a release shows, by their traces; and by when they came, if that is known."""
        keys = self.numbers[rows]
        if arrivals is not None:
            keys = keys * (int(arrivals.max(initial=0)) + 1) + arrivals
        groups, group_of = np.unique(keys, return_inverse=True)
        sizes = np.bincount(group_of)
        return Linked(int(sizes.min()), bool(judge.satisfied(group_of.reshape(-1), len(groups)).all()))
