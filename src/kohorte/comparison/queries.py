"""Random count queries, and the error of their answers from a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.comparison.outcome import QueryError
from kohorte.comparison.shown import Shown, original, shown
from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.recoding import Line, Recoding

MOST_ATTRIBUTES = 3
LEAST_SHARE = 0.001
"""At least this share of the rows satisfies a query; an anonymized table cannot answer queries about fewer rows."""
WIDEST, NARROWEST = 0.5, 0.002
"""The target share of a query is drawn between these, uniformly on a logarithmic scale."""
MOST_POSITIONS = 2_000
"""On longer lines a condition is a group of the hierarchy, not a random subset of values."""
ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Condition:
    """The condition of a query on one attribute: a set of positions of its line, given by `mask` or as an interval."""

    attribute: int
    low: int
    high: int
    mask: Bools | None = field(default=None, repr=False)

    def share_of_cells(self, table: Shown) -> Floats:
        """The share of each cell's positions that the condition covers, in the attribute of a table."""
        listed, highs = table.listed[self.attribute], table.highs[self.attribute]
        if listed is None:
            return self.covered(table.lows[self.attribute], highs)
        if self.mask is not None:
            return listed.inside(self.mask)
        positions = np.arange(int(highs.max()) + 1)
        return listed.inside((positions >= self.low) & (positions <= self.high))

    def covered(self, lows: Counts, highs: Counts) -> Floats:
        """The share of the positions of each interval that the condition covers."""
        lengths = highs - lows + 1
        if self.mask is None:
            common = np.minimum(highs, self.high) - np.maximum(lows, self.low) + 1
            inside: Floats = np.maximum(common, 0) / lengths
            return inside
        sums = np.concatenate([[0], np.cumsum(self.mask)])
        shares: Floats = (sums[highs + 1] - sums[lows]) / lengths
        return shares


Query = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Queries:
    """Count queries with their true answers: how many rows satisfy all conditions?

    A query is about one to three quasi-identifiers. The answer from a release assumes that all positions of a cell are
    equally likely, and that a suppressed row can be anywhere.
    """

    queries: tuple[Query, ...] = field(repr=False)
    truths: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.queries)

    @classmethod
    def draw(cls, lines: Sequence[Line], number: int, seed: int) -> Queries:
        """Draw queries with small and large target shares; the same seed gives the same queries."""
        generator = np.random.default_rng(seed)
        table = original(lines)
        rows = table.rows
        lots = [_Lots(axis, line, table.kinds[axis]) for axis, line in enumerate(lines)]
        queries: list[Query] = []
        truths: list[float] = []
        for _ in range(ROUNDS):
            if len(queries) >= number:
                break
            drawn = [_draw(lots, rows, generator) for _ in range(number)]
            counts = estimates(drawn, table)
            fits = np.flatnonzero(counts >= max(1.0, LEAST_SHARE * rows)).tolist()
            queries += [drawn[position] for position in fits]
            truths += counts[fits].tolist()
        return cls(tuple(queries[:number]), np.array(truths[:number]))

    def error(self, recoding: Recoding) -> QueryError | None:
        """The relative error of the answers from a recoded table; None if no query was drawn."""
        if not len(self):
            return None
        off = np.abs(estimates(self.queries, shown(recoding)) - self.truths) / self.truths
        return QueryError(float(np.median(off)), float(np.quantile(off, 0.9)))


def estimates(queries: Sequence[Query], table: Shown) -> Floats:
    """The answers from a table; queries about the same attributes are answered together."""
    answers = np.zeros(len(queries))
    together: dict[tuple[int, ...], list[int]] = {}
    for number, query in enumerate(queries):
        together.setdefault(tuple(condition.attribute for condition in query), []).append(number)
    for attributes, numbers in together.items():
        kinds, counts = table.counted(attributes)
        for number in numbers:
            shares = counts
            for condition, of_class in zip(queries[number], kinds, strict=True):
                shares = shares * condition.share_of_cells(table)[of_class]
            answers[number] = shares.sum()
    return answers


def _draw(lots: Sequence[_Lots], rows: int, generator: np.random.Generator) -> Query:
    """A query that a random row satisfies, and about as many others as the target share."""
    number = int(generator.integers(1, min(MOST_ATTRIBUTES, len(lots)) + 1))
    attributes = sorted(generator.choice(len(lots), size=number, replace=False).tolist())
    share = float(np.exp(generator.uniform(np.log(NARROWEST), np.log(WIDEST)))) ** (1 / number)
    row = int(generator.integers(rows))
    return tuple(lots[attribute].condition(row, share, generator) for attribute in attributes)


class _Lots:
    """Draws random conditions on one attribute."""

    def __init__(self, attribute: int, line: Line, positions: Counts) -> None:
        self._attribute = attribute
        self._line = line
        self._positions = positions
        self._counts = np.bincount(positions, minlength=line.length)
        self._sums = np.concatenate([[0], np.cumsum(self._counts)])

    def condition(self, row: int, share: float, generator: np.random.Generator) -> Condition:
        """A condition that the row and about this share of all rows satisfy: a range, a group or a set of values."""
        position, wanted = int(self._positions[row]), share * len(self._positions)
        if self._line.measured:
            return self._range(position, wanted, generator)
        if self._line.length > MOST_POSITIONS or generator.random() < 0.5:
            return self._group(position, wanted)
        return self._subset(position, wanted, generator)

    def _range(self, position: int, wanted: float, generator: np.random.Generator) -> Condition:
        before = self._sums[position] - generator.random() * wanted
        low = min(position, max(0, int(np.searchsorted(self._sums, before, side="right")) - 1))
        high = int(np.searchsorted(self._sums, self._sums[low] + wanted)) - 1
        return Condition(self._attribute, low, min(self._line.length - 1, max(position, high)))

    def _group(self, position: int, wanted: float) -> Condition:
        """The group of the hierarchy whose size is nearest to the target."""
        ends = [
            (int(firsts[groups[position]]), int(lasts[groups[position]]))
            for (firsts, lasts), groups in zip(self._line.ends, self._line.groups, strict=True)
        ]
        low, high = min(ends, key=lambda pair: abs(np.log((self._sums[pair[1] + 1] - self._sums[pair[0]]) / wanted)))
        return Condition(self._attribute, low, high)

    def _subset(self, position: int, wanted: float, generator: np.random.Generator) -> Condition:
        order = generator.permutation(self._line.length)
        order = np.concatenate([[position], order[order != position]])
        enough = int(np.searchsorted(np.cumsum(self._counts[order]), wanted)) + 1
        mask = np.zeros(self._line.length, dtype=bool)
        mask[order[:enough]] = True
        return Condition(self._attribute, 0, self._line.length - 1, mask)
