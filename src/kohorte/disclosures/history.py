"""Which earlier releases make people stand out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

from kohorte.disclosures.candidate import LEFT_OUT
from kohorte.disclosures.storage import Books
from kohorte.kernels.arrays import Bools, Integers


@dataclass(frozen=True, eq=False)
class History:
    """The way back through the releases that some recipients got, from the newest."""

    books: Books
    leaves: Integers
    """The atom of each person for all recipients together."""
    known_to: Callable[[str], bool]
    """Whether a recipient is one of those who compare."""

    def separating(self, person: int, others: Integers, k: int) -> tuple[int, ...]:
        """Releases that together tell a person from all but fewer than k of some people, none of them needless."""
        atoms, weights = _weighed(self.leaves[others])
        own = int(self.leaves[person])
        left = np.ones(len(atoms), dtype=bool)
        alike: dict[int, Bools] = {}
        for number in range(self.books.head.releases, 0, -1):
            if weights[left].sum() < k:
                break
            shown = self.books.shown_atoms(number)
            if not len(shown.before):
                continue
            signature, atoms = _before(shown.first, shown.before, shown.signature, atoms)
            own_signature, before = _before(shown.first, shown.before, shown.signature, np.array([own]))
            own = int(before[0])
            same = signature == own_signature[0]
            if (left & ~same).any() and self.known_to(self.books.facts(number)["recipient"]):
                alike[number] = same
                left &= same
        return _needed(alike, weights, k)

    def releases_of(self, person: int) -> Iterator[int]:
        """The numbers of the releases that showed a person to those who compare, from the newest."""
        atom = np.array([self.leaves[person]])
        for number in range(self.books.head.releases, 0, -1):
            shown = self.books.shown_atoms(number)
            signature, atom = _before(shown.first, shown.before, shown.signature, atom)
            if signature[0] > LEFT_OUT and self.known_to(self.books.facts(number)["recipient"]):
                yield number


def _before(first: int, before: Integers, signature: Integers, atoms: Integers) -> tuple[Integers, Integers]:
    """The signatures of atoms in a release, and their numbers before it."""
    inside = atoms >= first
    place = np.where(inside, atoms - first, 0)
    if not len(before):
        return np.full(len(atoms), LEFT_OUT), atoms
    return np.where(inside, signature[place], LEFT_OUT), np.where(inside, before[place], atoms)


def _weighed(atoms: Integers) -> tuple[Integers, Integers]:
    ordered = np.sort(atoms)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _needed(alike: dict[int, Bools], weights: Integers, k: int) -> tuple[int, ...]:
    """Leave out, from the oldest, releases without which the rest still tells fewer than k people apart."""
    kept: Collection[int] = sorted(alike)
    for number in sorted(alike):
        rest = [other for other in kept if other != number]
        left = np.ones(len(weights), dtype=bool)
        for other in rest:
            left &= alike[other]
        if weights[left].sum() < k:
            kept = rest
    return tuple(kept)
