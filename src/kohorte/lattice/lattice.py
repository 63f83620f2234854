"""The lattice of all nodes: pure combinatorics, no data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.kernels.arrays import Floats

Node: TypeAlias = tuple[int, ...]
"""One generalization level per quasi-identifier."""

LARGEST = 2**26
"""More nodes than this are refused: the tags of the search would not fit into memory."""


@dataclass(frozen=True)
class Lattice:
    """All nodes below `top`, ordered by "every level at most as high"."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) < 1:
            raise InputError("a lattice needs at least one attribute and one level each", code="lattice-empty")
        if self.size > LARGEST:
            raise InputError(
                f"{self.size:,} combinations of levels are too many (at most {LARGEST:,}): "
                "use fewer quasi-identifiers or hierarchies with fewer levels",
                code="lattice-too-large",
            )

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Node:
        """The node that generalizes nothing."""
        return (0,) * len(self.shape)

    @property
    def top(self) -> Node:
        """The node that generalizes everything to `*`."""
        return tuple(length - 1 for length in self.shape)

    @cached_property
    def heights(self) -> NDArray[np.int32]:
        """The sum of levels of every node."""
        return self.sum([np.arange(length, dtype=np.int32) for length in self.shape]).astype(np.int32)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The place of every node in the one total order that breaks ties: by height, then by levels."""
        places = np.empty(self.size, dtype=np.int64)
        places[np.argsort(self.heights.ravel(), kind="stable")] = np.arange(self.size)
        return places.reshape(self.shape)

    def sum(self, parts: Sequence[NDArray[np.generic]]) -> Floats:
        """Add one number per attribute and level up to one number per node, from the first attribute to the last."""
        total: Floats = np.asarray(parts[0], dtype=np.float64)
        for part in parts[1:]:
            total = np.add.outer(total, np.asarray(part, dtype=np.float64)).ravel()
        return total.reshape(self.shape)

    def above(self, node: Node) -> tuple[slice, ...]:
        """The slice of a node and all its generalizations."""
        return tuple(slice(level, None) for level in node)

    def below(self, node: Node) -> tuple[slice, ...]:
        """The slice of a node and all its specializations."""
        return tuple(slice(0, level + 1) for level in node)

    def node(self, index: int) -> Node:
        """The node at a place of a flattened lattice array."""
        return tuple(int(level) for level in np.unravel_index(index, self.shape))

    def nodes(self) -> Iterator[Node]:
        """All nodes, by levels from left to right."""
        return iter(np.ndindex(self.shape))

    def successors(self, node: Node) -> list[Node]:
        """The direct generalizations of a node."""
        return [
            (*node[:axis], level + 1, *node[axis + 1 :])
            for axis, level in enumerate(node)
            if level + 1 < self.shape[axis]
        ]

    def predecessors(self, node: Node) -> list[Node]:
        """The direct specializations of a node."""
        return [(*node[:axis], level - 1, *node[axis + 1 :]) for axis, level in enumerate(node) if level > 0]

    def strategies(self) -> int:
        """How many paths lead from the bottom to the top."""
        steps = [length - 1 for length in self.shape]
        return math.factorial(sum(steps)) // math.prod(math.factorial(step) for step in steps)

    def sublattices(self) -> int:
        """How many pairs of a node and a proper generalization of it there are."""
        return math.prod(length * (length + 1) // 2 for length in self.shape) - self.size
