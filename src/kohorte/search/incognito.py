"""Incognito: subsets of the quasi-identifiers, from small to large."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.search.base import Problem, SearchResult
from kohorte.search.tags import Tags, drawn_sequence, monotone_only


class Incognito:
    """Incognito with superroots: what fails for some attributes fails with any more of them.

    The lattice of a subset of the attributes are the nodes with all others at their top level. A node that fails
    there tags all its specializations in the whole lattice, and with them what the a-priori step would leave out of
    all larger subsets. (This needs no top level of a single group: finer nodes fail in any case.) What is left of a
    subset is searched level by level. Where that has several roots, their greatest common specialization, the
    superroot, is counted first, though it is known to fail: the engine then rolls the roots up from it.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        At most one check per node, but a look at the lattices of all 2^n subsets of n attributes.
    Source
        LeFevre, DeWitt, Ramakrishnan, Incognito: Efficient Full-Domain K-Anonymity, SIGMOD 2005; Kohlmayer,
        dissertation, 2015, section 3.5.2, algorithm 2.
    """

    name: ClassVar[str] = "incognito"

    def refuse(self, problem: Problem) -> str | None:
        """Only monotone models let a subset speak for all attributes."""
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return self._search(_Subsets(Tags(problem, drawn_sequence(problem.lattice))))

    def _search(self, subsets: _Subsets) -> SearchResult:
        return subsets.tags.result_of(subsets.search)


class IncognitoCube(Incognito):
    """Incognito with a cube: the ungeneralized nodes of all subsets are counted before the search.

    They are counted from the widest subset to the narrowest, so that each can be rolled up from one with an attribute
    more; whatever the search counts later, it rolls up from them and not from the table. Then the subsets are searched
    as in `incognito`, without superroots.

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
    """The subsets of the attributes, and the nodes counted for them: subsets meet where an attribute is at its top."""

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.counted: set[Node] = set()
        self.superroots = True

    def count_cube(self) -> None:
        """Count the lowest nodes of all subsets, the widest subset first."""
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
    """The candidates none of whose direct specializations is one."""
    roots = candidates.copy()
    for axis in range(candidates.ndim):
        upper, lower = np.moveaxis(roots, axis, 0)[1:], np.moveaxis(candidates, axis, 0)[:-1]
        upper &= ~lower
    return roots
