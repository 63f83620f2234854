"""Linking releases: the rows that look the same to an attacker who recognises each row in all releases."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Integers
from kohorte.series.domain.regions import Generalization, Positions
from kohorte.series.splitting.group_check import GroupCheck


@dataclass(frozen=True)
class Linked:
    """The fewest rows, or people, that fit a person, and whether the models hold for all such groups of rows."""

    candidates: int
    satisfied: bool


@dataclass(eq=False)
class Traces:
    """The regions of each row in all releases so far, as one number: rows with the same number have the same trace.

    An attacker knows the quasi-identifiers of a person, and so the regions in which the person's row must lie in every
    release. This does not assume that the regions nest.
    """

    positions: Positions = field(repr=False)
    numbers: Integers = field(repr=False, init=False)

    def __post_init__(self) -> None:
        self.numbers = np.zeros(len(self.positions), dtype=np.int64)

    def follow(self, cover: Generalization) -> None:
        """Add a release."""
        region_of = cover.locate(self.positions)
        keys = self.numbers * (int(region_of.max(initial=0)) + 2) + region_of + 1
        self.numbers = np.unique(keys, return_inverse=True)[1].reshape(-1)

    def linked(self, rows: Integers, check: GroupCheck, arrivals: Integers | None = None) -> Linked:
        """Group the rows of a release by their traces, and by their arrivals if the attacker knows these."""
        keys = self.numbers[rows]
        if arrivals is not None:
            keys = keys * (int(arrivals.max(initial=0)) + 1) + arrivals
        groups, group_of = np.unique(keys, return_inverse=True)
        group_of = group_of.reshape(-1)
        sizes = check.sizes(group_of, len(groups))
        return Linked(int(sizes.min()), bool(check.satisfied(group_of, len(groups)).all()))
