"""Cuts of regions for Mondrian, in NumPy: used without compiled kernels, and to test them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Codes, Counts, Integers

Axes: TypeAlias = NDArray[np.int32]
Candidate: TypeAlias = tuple[int, Fraction, int, int, int]  # rank, -width, attribute, boundary, left
LAST = 2**63
NEAREST = 8
"""How many boundaries of an attribute, nearest to the median, are tried; each attempt reads all rows. Our choice."""


class Cutter:
    """Rows as positions on lines. Regions are ranges of the rows; cutting a region reorders its rows.

    `ticks` are the distances of all positions from the beginning of their line, in whole steps. How wide a region is
    in an attribute, as a share of the line times the weight, is compared exactly, in fractions.
    """

    def __init__(
        self,
        places: Codes,
        ticks: Sequence[Integers],
        weights: Integers,
        levels: Sequence[Codes],
        least: int,
        relaxed: bool,
    ) -> None:
        lengths = [len(line) for line in ticks]
        shapes = (places.shape[1], len(weights), [len(level) for level in levels])
        if not lengths or shapes != (len(lengths), len(lengths), lengths) or least < 1:
            raise ValueError("places, ticks, weights and levels do not fit together")
        if (weights < 0).any() or any((np.diff(line, prepend=0) < 0).any() for line in ticks):
            raise ValueError("a weight below 0, or ticks that go back")
        if len(places) and (places >= np.array(lengths)).any():
            raise ValueError("a place beyond its line")
        self._places = places.copy()
        self._ticks = ticks
        self._weights = weights.tolist()
        self._levels = levels
        self._least = least
        self._relaxed = relaxed
        self._ids = np.arange(len(places), dtype=np.uint32)

    def ids(self) -> Codes:
        """The rows in their current order."""
        return self._ids.copy()

    def propose(self, begins: Counts, ends: Counts, attempts: Counts) -> tuple[Axes, Codes, Counts]:
        """The next cut of each region after `attempts` refused cuts; the attribute is -1 if there is no further cut."""
        self._check(begins, ends)
        if len(attempts) != len(begins):
            raise ValueError("regions and attempts do not fit together")
        cuts = [self._cut(*region) for region in zip(begins.tolist(), ends.tolist(), attempts.tolist(), strict=True)]
        found = np.array(cuts, dtype=np.int64).reshape(-1, 3)
        return found[:, 0].astype(np.int32), found[:, 1].astype(np.uint32), found[:, 2].copy()

    def split(self, begins: Counts, ends: Counts, attributes: Axes, boundaries: Codes, left: Counts) -> None:
        """Reorder the rows of every region: those left of its cut come first."""
        self._check(begins, ends)
        if not len(attributes) == len(boundaries) == len(left) == len(begins):
            raise ValueError("regions and cuts do not fit together")
        for begin, end, attribute, boundary, count in zip(begins, ends, attributes, boundaries, left, strict=True):
            if not 0 <= attribute < len(self._ticks):
                raise ValueError("a cut along no attribute")
            places = self._places[begin:end, attribute]
            below, at = places < boundary, places == boundary
            stays = below | (at & (np.cumsum(at) <= count - below.sum()))
            order = begin + np.concatenate([np.flatnonzero(stays), np.flatnonzero(~stays)])
            self._places[begin:end] = self._places[order]
            self._ids[begin:end] = self._ids[order]

    def _check(self, begins: Counts, ends: Counts) -> None:
        if len(begins) != len(ends):
            raise ValueError("regions without end")
        if ((begins < 0) | (ends < begins) | (ends > len(self._ids))).any():
            raise ValueError("a region beyond the rows")

    def _cut(self, begin: int, end: int, attempt: int) -> tuple[int, int, int]:
        candidates: list[Candidate] = []
        if end - begin >= 2 * self._least:
            every = [self._candidates(self._places[begin:end, axis], axis) for axis in range(len(self._ticks))]
            candidates = [candidate for own, _ in every for candidate in own]
            if self._relaxed:
                anywhere = [candidate for _, candidate in every]
                candidates += [candidate for candidate in anywhere if candidate[1] < 0] or anywhere[:1]
        if attempt >= len(candidates):
            return -1, 0, 0
        return sorted(candidates)[attempt][2:]

    def _candidates(self, places: Codes, attribute: int) -> tuple[list[Candidate], Candidate]:
        """The cuts at boundaries, and the relaxed cut in the middle of the rows, which comes after all others."""
        here, counts = np.unique(places, return_counts=True)
        below = np.cumsum(counts)
        rows = len(places)
        width = -self._width(attribute, int(here[0]), int(here[-1]))
        middle = int(here[int(np.argmax(2 * below >= rows))])
        anywhere = (LAST, width, attribute, middle, rows // 2)
        levels = self._levels[attribute]
        between = [int(levels[low + 1 : high + 1].max()) for low, high in pairwise(here)]
        allowed = [
            (abs(2 * int(left) - rows), int(boundary), int(left))
            for level, boundary, left in zip(between, here[1:], below, strict=False)
            if level == max(between) and left >= self._least and rows - left >= self._least
        ]
        return [(rank, width, attribute, *cut[1:]) for rank, cut in enumerate(sorted(allowed)[:NEAREST])], anywhere

    def _width(self, attribute: int, low: int, high: int) -> Fraction:
        """The share of a line that an interval covers, times its weight."""
        line = self._ticks[attribute]
        return Fraction(self._weights[attribute] * int(line[high] - line[low]), max(1, int(line[-1] - line[0])))
