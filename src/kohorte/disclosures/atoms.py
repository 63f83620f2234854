"""Atoms: people whom nobody can tell apart by comparing releases.

A release tells sets of people: those of each class. The atoms of some releases are the coarsest partition of all
people in which each set that was told is a union of parts: two people are in one atom if they were in the same classes
of the same releases. Whatever is computed from the sets by union, intersection and complement is a union of atoms, and
so is every set whose size follows from the sizes of the sets. If each atom has k people, nothing below k follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.disclosures.candidate import LEFT_OUT
from kohorte.kernels.arrays import Bools, Counts, Integers
from kohorte.kernels.distinct import distinct_numbers

NEVER = 0
"""The atom of people who were in no release."""
DENSE = 4
"""Up to so many times their number, keys are counted off instead of sorted, which is faster."""


def numbered(keys: Integers) -> tuple[Integers, Integers]:
    """Number equal keys from 0 in ascending order; return the number of each key, and the distinct keys.

    Keys from 0 that are not much larger than their number are not sorted.
    """
    if len(keys) and keys.min() >= 0 and keys.max() < DENSE * len(keys):
        here = np.zeros(int(keys.max()) + 1, dtype=bool)
        here[keys] = True
        return (np.cumsum(here) - 1)[keys], np.flatnonzero(here)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = np.cumsum(first) - 1
    return numbers, ordered[first]


def pairs(one: Integers, other: Integers) -> Integers:
    """One number for each pair of numbers from -1; the order of the pairs is kept."""
    width = int(other.max(initial=0)) + 2
    return (one.astype(np.int64) + 1) * width + other + 1


def signatures(people: Integers, classes: Integers, *, size: int) -> Integers:
    """For each of `size` people the set of classes that show them, as a number; -1 if they are not shown."""
    found = np.full(size, LEFT_OUT, dtype=np.int64)
    shown = classes > LEFT_OUT
    if not shown.any():
        return found
    class_of, names = numbered(classes[shown].astype(np.int64))
    cells = distinct_numbers(people[shown].astype(np.int64) * len(names) + class_of)
    person, class_of = np.divmod(cells, len(names))
    starts = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
    several = np.diff(np.append(starts, len(cells)))
    who = person[starts]
    found[who] = class_of[starts]
    free = len(names)
    for nth in range(1, int(several.max())):
        more = several > nth
        sets, distinct = numbered(pairs(found[who[more]], class_of[starts[more] + nth]))
        found[who[more]] = free + sets
        free += len(distinct)
    return found


def refined(one: Integers, other: Integers) -> Integers:
    """The coarsest common refinement of two partitions; people who are in no release of both stay in atom 0."""
    numbers, distinct = numbered(pairs(one, other))
    never = (one == NEVER) & (other == NEVER)
    return numbers if never.any() or not len(distinct) else numbers + 1


@dataclass(frozen=True, eq=False)
class Split:
    """How a candidate splits atoms: the parts of all atoms that it touches.

    `members` are the people of these atoms, `part_of` the part of each member; `atom`, `signature` (-1: not shown) and
    `size` have one entry per part. `known` is the size as far as it may count for k. Outside every release only people
    of the table matter, and only those who have not withdrawn count for k.
    """

    members: Integers
    part_of: Integers
    atom: Integers
    signature: Integers
    size: Counts
    known: Counts

    @classmethod
    def of(cls, atoms: Integers, shown: Integers, *, present: Bools, withdrawn: Bools) -> Split:
        """Split atoms by signatures; `present` flags the people of the table."""
        touched = distinct_numbers(atoms[shown > LEFT_OUT])
        members = np.flatnonzero(np.isin(atoms, touched))
        width = int(shown.max(initial=0)) + 2
        part_of, keys = numbered(pairs(atoms[members], shown[members]))
        atom, signature = np.divmod(keys, width)
        atom, signature = atom - 1, signature - 1
        size = np.bincount(part_of, minlength=len(keys))
        beyond = (atom == NEVER) & (signature == LEFT_OUT)
        here = np.bincount(part_of[present[members]], minlength=len(keys))
        known = np.bincount(part_of[(present & ~withdrawn)[members]], minlength=len(keys))
        return cls(members, part_of, atom, signature, np.where(beyond, here, size), np.where(beyond, known, size))

    @property
    def outside(self) -> Bools:
        """Which parts are not shown although others of their atom are."""
        found: Bools = self.signature == LEFT_OUT
        return found

    def small(self, k: int) -> Bools:
        """Which parts have fewer than k people."""
        found: Bools = (self.known < k) & (self.size > 0)
        return found

    def people_in(self, parts: Bools) -> Integers:
        """The people of some parts."""
        return self.members[parts[self.part_of]]

    def homogeneous(self, people: Integers, codes: Integers) -> Bools:
        """Which parts have a value that all their people have; `codes` is a value of a person per row (-1: missing).

        People outside every release have told no value, so their part is never homogeneous.
        """
        place = np.full(int(max(people.max(initial=0), self.members.max(initial=0))) + 1, -1, dtype=np.int64)
        place[self.members] = self.part_of
        rows = (codes >= 0) & (place[people] >= 0)
        values, distinct = numbered(codes[rows].astype(np.int64))
        found = np.zeros(len(self.size), dtype=bool)
        if not len(distinct):
            return found
        cells, keys = numbered(pairs(place[people[rows]], values))
        once = distinct_numbers(pairs(cells, people[rows]))
        width = int(people[rows].max()) + 2
        holders = np.bincount(once // width - 1, minlength=len(keys))
        part = keys // (int(values.max(initial=0)) + 2) - 1
        found[part[holders == self.size[part]]] = True
        found[(self.atom == NEVER) & self.outside] = False
        return found


def joined(atoms: Integers, shown: Integers, *, first: int) -> tuple[Integers, Integers, Integers]:
    """Atoms after a release: shown parts get the numbers from `first`, others keep theirs.

    Returns the new atoms, and for each new number the atom before and the signature.
    """
    who = np.flatnonzero(shown > LEFT_OUT)
    if not len(who):
        return atoms, who, who
    numbers, keys = numbered(pairs(atoms[who], shown[who]))
    before, signature = np.divmod(keys, int(shown[who].max()) + 2)
    after = atoms.copy()
    after[who] = first + numbers
    return after, before - 1, signature - 1
