"""What is examined: a candidate before the atoms of the groups of recipients that may compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.disclosures.alike import Looks
from kohorte.disclosures.atoms import Split, signatures
from kohorte.disclosures.candidate import LEFT_OUT, Candidate
from kohorte.kernels.arrays import Bools, Integers


@dataclass(frozen=True, eq=False)
class View:
    """A candidate, the atoms of each group that may compare it with what they got, who has withdrawn, and who was told
    apart by looks."""

    candidate: Candidate
    k: int
    groups: Sequence[Integers]
    withdrawn: Bools
    looks: Looks

    @cached_property
    def shown(self) -> Integers:
        """The signature of each person whom the ledger knows."""
        return signatures(self.candidate.people, self.candidate.classes, size=len(self.withdrawn))

    @cached_property
    def present(self) -> Bools:
        """Who is in the table."""
        table = self.candidate.table
        present = np.full(len(self.withdrawn), table is None)
        if table is not None:
            present[table] = True
            present[self.candidate.people] = True
        return present

    @property
    def withdrawn_shown(self) -> int:
        """How many people are shown although they have withdrawn."""
        return int(np.count_nonzero(self.withdrawn & (self.shown > LEFT_OUT)))

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """How the candidate splits the atoms of each group."""
        if not self.candidate.tells_sets:
            return ()
        return tuple(
            Split.of(atoms, self.shown, present=self.present, withdrawn=self.withdrawn) for atoms in self.groups
        )

    def small(self, split: Split) -> Bools:
        """Which parts have fewer than k people."""
        return split.small(self.k)

    def homogeneous(self, split: Split) -> Bools:
        """Which parts have one value of a sensitive column in common."""
        found = np.zeros(len(split.size), dtype=bool)
        for codes in self.candidate.sensitive.values():
            found |= split.homogeneous(self.candidate.people, codes)
        return found

    @cached_property
    def alike(self) -> Bools:
        """Who must not be shown because nearly all who look alike have something in common."""
        return self.looks.told_too_much(self.candidate, self.k, len(self.withdrawn))

    def with_candidate(self, candidate: Candidate) -> View:
        """Return the same groups before another candidate."""
        return View(candidate, self.k, self.groups, self.withdrawn, self.looks)
