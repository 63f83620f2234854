"""Full-domain generalizations: every quasi-identifier at one level of a fixed hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Floats, Integers
from kohorte.lattice import Node
from kohorte.series.domain.regions import OUTSIDE, Positions
from kohorte.sources import EncodedColumn


@dataclass(frozen=True, eq=False)
class Levels:
    """A node of the lattice: rows that look the same at its levels are in the same class.

    `node` counts from the finest level that may be shown, as the encoded columns do.
    """

    columns: Sequence[EncodedColumn] = field(repr=False)
    node: Node

    @classmethod
    def named(cls, columns: Sequence[EncodedColumn], levels: Mapping[str, int]) -> Levels:
        """The node of these levels of the hierarchies."""
        return cls(columns, tuple(levels[column.name] - column.finest for column in columns))

    @classmethod
    def top(cls, columns: Sequence[EncodedColumn]) -> Levels:
        """The node of the highest levels."""
        return cls(columns, tuple(len(column.maps) - 1 for column in columns))

    @property
    def names(self) -> dict[str, int]:
        """The level of the hierarchy of each column."""
        return {column.name: level + column.finest for column, level in zip(self.columns, self.node, strict=True)}

    def locate(self, positions: Positions) -> Integers:
        """The class of every row, given its codes; OUTSIDE where one of them is."""
        inside = (positions > OUTSIDE).all(axis=1)
        class_of = np.zeros(int(inside.sum()), dtype=np.int64)
        for column, level, codes in zip(self.columns, self.node, positions[inside].T, strict=True):
            groups = column.maps[level][codes].astype(np.int64)
            class_of = np.unique(class_of * len(column.labels[level]) + groups, return_inverse=True)[1].reshape(-1)
        found = np.full(len(positions), OUTSIDE, dtype=np.int64)
        found[inside] = class_of
        return found

    def finer_than(self, other: Levels) -> bool:
        """Whether no level is higher than in the other node."""
        return all(level <= before for level, before in zip(self.node, other.node, strict=True))

    def loss(self, positions: Positions, weights: Sequence[float]) -> Floats:
        """The share of the domain that each of these rows leaves open, as the metric `loss` counts it."""
        total = sum(weights) or 1.0
        lost: Floats = np.zeros(len(positions))
        for column, level, weight, codes in zip(self.columns, self.node, weights, positions.T, strict=True):
            lost += weight / total * column.shares[level][column.maps[level][codes]]
        return lost
