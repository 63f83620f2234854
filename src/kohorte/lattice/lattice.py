"""The lattice of all nodes; it knows levels, not data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import getitem
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.kernels.arrays import Floats

Node: TypeAlias = tuple[int, ...]
"""One generalization level per quasi-identifier."""

Parts: TypeAlias = Sequence[Floats]
"""One number per attribute and level."""

LARGEST = 2**24
"""Larger lattices have no arrays: those of a search (about 50 bytes per node) would need too much memory."""


@dataclass(frozen=True)
class Lattice:
    """All nodes up to `top`; a node is below another if none of its levels is higher."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.shape or min(self.shape) < 1:
            raise InputError("a lattice needs at least one attribute and one level each", code="lattice-empty")

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    @property
    def too_large(self) -> str | None:
        """Why the nodes cannot be listed, in words; None if they can."""
        if self.size <= LARGEST:
            return None
        return f"{size_in_words(self.size)} combinations of levels are too many to list (at most {LARGEST:,})"

    def refuse_listing(self, instead: str = "") -> None:
        """Refuse a lattice that has too many nodes for an array; `instead` names what can be used."""
        if self.too_large is not None:
            raise InputError(
                f"{self.too_large}: {instead}use fewer quasi-identifiers, or hierarchies with fewer levels",
                code="lattice-too-large",
            )

    @property
    def bottom(self) -> Node:
        """The node that generalizes nothing."""
        return (0,) * len(self.shape)

    @property
    def top(self) -> Node:
        """The node with every attribute at its highest level."""
        return tuple(length - 1 for length in self.shape)

    @cached_property
    def heights(self) -> NDArray[np.int32]:
        """The sum of levels of every node."""
        return self.sum([np.arange(float(length)) for length in self.shape]).astype(np.int32)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The position of every node in the order that breaks ties: by height, then by levels."""
        heights = self.heights.ravel().astype(np.uint16)  # NumPy sorts 16-bit numbers by radix
        positions = np.empty(self.size, dtype=np.int64)
        positions[np.argsort(heights, kind="stable")] = np.arange(self.size)
        return positions.reshape(self.shape)

    def sum(self, parts: Parts) -> Floats:
        """The sum of the numbers of its levels, for every node; `add_up` does the same for a single node."""
        self.refuse_listing()
        left, right = half_sums(parts)
        return np.add.outer(left, right).reshape(self.shape)

    @cached_property
    def _above(self) -> list[list[slice]]:
        return [[slice(level, None) for level in range(length)] for length in self.shape]

    @cached_property
    def _below(self) -> list[list[slice]]:
        return [[slice(0, level + 1) for level in range(length)] for length in self.shape]

    def above(self, node: Node) -> tuple[slice, ...]:
        """The slice of a node and all its generalizations."""
        return tuple(map(getitem, self._above, node))

    def below(self, node: Node) -> tuple[slice, ...]:
        """The slice of a node and all its specializations."""
        return tuple(map(getitem, self._below, node))

    def node(self, index: int) -> Node:
        """The node at a position of a flattened lattice array."""
        levels = []
        for length in reversed(self.shape):
            index, level = divmod(index, length)
            levels.append(level)
        return tuple(reversed(levels))

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
        """The number of paths from the bottom to the top."""
        steps = [length - 1 for length in self.shape]
        return math.factorial(sum(steps)) // math.prod(math.factorial(step) for step in steps)

    def sublattices(self) -> int:
        """The number of pairs of a node and a proper generalization of it."""
        return math.prod(length * (length + 1) // 2 for length in self.shape) - self.size


def size_in_words(size: int) -> str:
    """A number of nodes: in full as long as people can read it."""
    return f"{size:,}" if size < 10**12 else f"about 10^{int(math.log10(size))}"


def half_sums(parts: Parts) -> tuple[Floats, Floats]:
    """The sums over the first and over the second half of the attributes; a node's sum is one number of each."""
    middle = len(parts) // 2
    return _outer_sum(parts[:middle]), _outer_sum(parts[middle:])


def _outer_sum(parts: Parts) -> Floats:
    total: Floats = np.zeros(1)
    for part in parts:
        total = np.add.outer(total, part).ravel()
    return total


def add_up(parts: Parts, node: Node) -> float:
    """Add the numbers of a node's levels in the order of `Lattice.sum`, so that both are equal to the last bit."""
    middle = len(parts) // 2
    left = right = 0.0
    for part, level in zip(parts[:middle], node[:middle], strict=True):
        left += float(part[level])
    for part, level in zip(parts[middle:], node[middle:], strict=True):
        right += float(part[level])
    return left + right
