"""Optimal Lattice Anonymization: divide and conquer over sublattices."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kohorte.lattice import Node
from kohorte.search.base import Problem, Search, SearchResult
from kohorte.search.tags import Tags, drawn_sequence, monotone_only


class Ola(Search):
    """Optimal Lattice Anonymization (OLA): bisects sublattices at all nodes of their middle level.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        At most one check per node. No sublattice is searched twice, nor one whose nodes are all tagged.
    Source
        El Emam et al., A Globally Optimal k-Anonymity Method for the De-Identification of Health Data, JAMIA 16(5),
        2009; Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU
        München, 2015, section 3.5.3, algorithm 3. There the top of the lattice is assumed to be a solution; here it is
        counted if no other node is a solution.
    """

    name: ClassVar[str] = "ola"

    def refuse(self, problem: Problem) -> str | None:
        """Only monotone models and metrics can be searched by bisection."""
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        sublattices = _Sublattices(Tags(problem, drawn_sequence(problem.lattice)))
        return sublattices.tags.result_of(sublattices.search)


class _Sublattices:
    """The pairs of a bottom and a top whose sublattices were searched."""

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.searched: set[tuple[Node, Node]] = set()

    def search(self) -> None:
        lattice = self.tags.lattice
        self._minimal(lattice.bottom, lattice.top)
        if not self.tags.tagged[lattice.top]:
            self.tags.check(lattice.top)

    def _minimal(self, bottom: Node, top: Node) -> None:
        """Find the minimal solutions of a sublattice ("KMIN"). The height halves with each call: no deep recursion.

        A middle node that fails tags the half below it, and one that is a solution tags the half above it; the call
        for that half returns at once.
        """
        if (bottom, top) in self.searched or self.tags.tagged[_between(bottom, top)].all():
            return
        self.searched.add((bottom, top))
        if sum(top) - sum(bottom) <= 1:
            self._check(bottom)
            return
        for node in self._middle_nodes(bottom, top):
            self._check(node)
            self._minimal(bottom, node)
            self._minimal(node, top)

    def _check(self, node: Node) -> None:
        if not self.tags.tagged[node]:
            self.tags.check(node)

    def _middle_nodes(self, bottom: Node, top: Node) -> list[Node]:
        """The nodes at half the height of a sublattice, those with the highest first attribute first."""
        height = (sum(bottom) + sum(top)) // 2
        found = np.argwhere(self.tags.lattice.heights[_between(bottom, top)] == height) + np.array(bottom)
        return [tuple(node) for node in found[::-1].tolist()]


def _between(bottom: Node, top: Node) -> tuple[slice, ...]:
    return tuple(slice(low, high + 1) for low, high in zip(bottom, top, strict=True))
