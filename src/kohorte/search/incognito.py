"""Incognito: subsets of the quasi-identifiers, from small to large."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.search.base import Problem, Search, SearchResult
from kohorte.search.tags import Tags, drawn_sequence, monotone_only


class Incognito(Search):
    """Incognito with superroots: if a subset of the attributes fails, every larger subset fails, too.

    The lattice of a subset consists of the nodes with all other attributes at their top level. A node that fails there
    tags all its specializations in the whole lattice, which includes the nodes that the a-priori step removes from all
    larger subsets. The remaining nodes of a subset are searched level by level. If they have several roots, their
    greatest common specialization, the superroot, is counted first, although it is known to fail: the engine then
    counts the roots from it.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        At most one check per node; the lattices of all 2^n subsets of n attributes are visited.
    Source
        LeFevre, DeWitt, Ramakrishnan, Incognito: Efficient Full-Domain K-Anonymity, SIGMOD 2005; Kohlmayer,
        Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015, section
        3.5.2, algorithm 2.
    """

    name: ClassVar[str] = "incognito"

    def refuse(self, problem: Problem) -> str | None:
        """With models that are not monotone, the failure of a subset says nothing about larger ones."""
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return self._search(_Subsets(Tags(problem, drawn_sequence(problem.lattice))))

    def _search(self, subsets: _Subsets) -> SearchResult:
        return subsets.tags.result_of(subsets.search)


class IncognitoCube(Incognito):
    """Incognito with a cube: the ungeneralized nodes of all subsets are counted before the search.

    Larger subsets are counted first, so that each node can be counted from a subset with one attribute more. The
    search then counts its nodes from these, not from the table. It is that of `incognito`, without superroots.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        One check for each of the 2^n subsets of n attributes, then as `incognito`. No node is counted twice.
    Source
        LeFevre, DeWitt, Ramakrishnan, Incognito: Efficient Full-Domain K-Anonymity, SIGMOD 2005, section 3.3.2.
    """

    name: ClassVar[str] = "incognito_cube"

    def _search(self, subsets: _Subsets) -> SearchResult:
        subsets.superroots = False

        def search() -> None:
            subsets.count_cube()
            subsets.search()

        return subsets.tags.result_of(search)


class _Subsets:
    """The subsets of the attributes, and the nodes counted so far; a node can belong to several subsets."""

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.counted: set[Node] = set()
        self.superroots = True

    def count_cube(self) -> None:
        """Count the lowest nodes of all subsets, larger subsets first."""
        axes = range(len(self.tags.lattice.shape))
        for size in reversed(axes):
            for subset in combinations(axes, size + 1):
                lowest = self._lowest(set(subset))
                if lowest not in self.counted:
                    self._check(lowest)

    def search(self) -> None:
        axes = range(len(self.tags.lattice.shape))
        for size in range(1, len(axes) + 1):
            for subset in combinations(axes, size):
                self.tags.problem.watch_time()
                self._search_subset(set(subset))

    def _search_subset(self, subset: set[int]) -> None:
        lowest = self._lowest(subset)
        region = self.tags.lattice.above(lowest)
        if self.superroots:
            self._check_superroot(np.argwhere(_roots(~self.tags.tagged[region])) + np.array(lowest))
        for node in self.tags.untagged(region):
            self._check(node)

    def _check_superroot(self, roots: NDArray[np.int64]) -> None:
        if len(roots) > 1:
            superroot = tuple(roots.min(axis=0).tolist())
            if superroot not in self.counted:
                self._check(superroot)

    def _lowest(self, subset: set[int]) -> Node:
        """The node of a subset that generalizes none of its attributes."""
        return tuple(0 if axis in subset else top for axis, top in enumerate(self.tags.lattice.top))

    def _check(self, node: Node) -> None:
        self.counted.add(node)
        self.tags.check(node)


def _roots(candidates: Bools) -> Bools:
    """The candidates without a direct specialization that is also a candidate."""
    roots = candidates.copy()
    for axis in range(candidates.ndim):
        upper, lower = np.moveaxis(roots, axis, 0)[1:], np.moveaxis(candidates, axis, 0)[:-1]
        upper &= ~lower
    return roots
