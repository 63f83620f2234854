"""People who look alike: what a release tells of them together with earlier ones.

The number of farmers who get X, less the number of farmers of 40 and more who do, is the number of the younger ones. If
it is that of nearly all younger farmers who are patients, everybody who knows one of them knows that he gets X, however
many they are. The same holds for what a release shows: the diagnoses of all farmers in it, less those of the older
ones. So a ledger remembers, for each way in which releases tell something, the groups of people who look alike
that they told it of, and neither such a group nor what is left of it without others may have too much in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kohorte.disclosures.atoms import NEVER, numbered, pairs, signatures
from kohorte.disclosures.candidate import LEFT_OUT, Alike, Candidate
from kohorte.kernels.arrays import Bools, Integers
from kohorte.kernels.distinct import distinct_numbers


@dataclass(frozen=True, eq=False)
class Looks:
    """For each thing that releases are about: the group of each person whom earlier ones do not tell apart."""

    before: Mapping[str, Integers] = field(default_factory=dict)

    def told_too_much(self, candidate: Candidate, k: int, size: int) -> Bools:
        """Flag the people who must not be shown, of so many whom the ledger knows."""
        flags = np.zeros(size, dtype=bool)
        for alike in candidate.alike if candidate.shown.any() else ():
            before, shown = self.before[alike.about], looks_shown(candidate, alike, size)
            present = np.zeros(size, dtype=bool)
            present[alike.people] = True
            groups, _ = numbered(pairs(before, shown))
            bad = _in_common(groups, present, alike, k)[groups] & present
            bad &= (before != NEVER) | (shown != LEFT_OUT)  # nobody was told anything of those
            flags |= np.isin(shown, shown[bad & (shown != LEFT_OUT)])
            flags |= np.isin(before, before[bad & (shown == LEFT_OUT)])
        everybody = np.zeros(size, dtype=bool)
        everybody[candidate.people[candidate.shown]] = True
        return flags & everybody


def looks_shown(candidate: Candidate, alike: Alike, size: int) -> Integers:
    """For each person of the ledger, how they look among those of whom the release shows any; -1: like nobody."""
    known = np.zeros(int(max(alike.looks.max(initial=0), alike.own.max(initial=0))) + 2, dtype=bool)
    known[alike.own[candidate.shown]] = True  # the last entry is that of -1
    return signatures(alike.people, np.where(known[alike.looks], alike.looks, LEFT_OUT), size=size)


def _in_common(groups: Integers, present: Bools, alike: Alike, k: int) -> Bools:
    """Which groups have a fact in common that at least k people of the table have, and more than `most` of the group.

    A fact that is true of so many of all people that it is ordinary is no secret of a group.
    """
    number = int(groups.max(initial=0)) + 1
    sizes = np.bincount(groups[present], minlength=number)
    found, several = np.zeros(number, dtype=bool), len(alike.people) > np.count_nonzero(present)
    for codes in alike.facts:
        told = codes >= 0
        values, width = codes[told], int(codes.max(initial=0)) + 1
        person, value = alike.people[told], values
        if several:
            person, value = np.divmod(distinct_numbers(person * width + value), width)
        ordinary = np.bincount(value, minlength=width) > alike.ordinary * present.sum()
        secret = ~ordinary[value]
        numbers, cells = numbered(groups[person[secret]] * width + value[secret])
        counts, group = np.bincount(numbers, minlength=len(cells)), cells // width
        found[group[(counts >= k) & (counts > alike.most * sizes[group])]] = True
    return found
