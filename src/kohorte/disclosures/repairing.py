"""Leave people out of a candidate until nothing below k can be derived.

In each atom that the candidate touches, parts below k are left out. If then fewer than k people of the atom are not
shown, others of the atom are left out with them: those by which larger parts exceed k, in the order of their
fingerprints, which says nothing about them; otherwise the smallest part as a whole. The recipient gets no row of these
people and is not told how many there are. People of whom nearly all who look alike have something in common are left
out, too.
"""

from __future__ import annotations

import numpy as np

from kohorte.disclosures.atoms import Split
from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.view import View
from kohorte.kernels.arrays import Bools, Integers


def repaired(view: View, order: Integers) -> Candidate | None:
    """Return the candidate without the people who would stand out, or None if nobody is left.

    `order` has a number per person, by which those are chosen who are left out with others.
    """
    view = view.with_candidate(view.candidate.without(view.withdrawn))
    while view.candidate.shown.any():
        gone = view.alike.copy()
        for split in view.splits:
            _leave_out(view, split, order, gone)
        if not gone.any():
            return view.candidate
        view = view.with_candidate(view.candidate.without(gone))
    return None


def _leave_out(view: View, split: Split, order: Integers, gone: Bools) -> None:
    alike = view.homogeneous(split)
    bad = ~split.outside & (view.small(split) | alike)
    hopeless = np.isin(split.atom, split.atom[split.outside & alike])
    bad |= ~split.outside & hopeless
    gone[split.people_in(bad)] = True
    starts = np.flatnonzero(np.append(True, split.atom[1:] != split.atom[:-1]))
    outside = np.add.reduceat(np.where(split.outside | bad, split.known, 0), starts)
    everyone = np.add.reduceat(np.where(split.outside | bad, split.size, 0), starts)
    for number in np.flatnonzero((everyone > 0) & (outside < view.k)):
        end = starts[number + 1] if number + 1 < len(starts) else len(split.atom)
        parts = np.arange(starts[number], end)
        _join(view, split, parts[~(split.outside | bad)[parts]], int(view.k - outside[number]), order, gone)


def _join(view: View, split: Split, parts: Integers, missing: int, order: Integers, gone: Bools) -> None:
    """Leave out so many more people of some parts of an atom, each of which has k."""
    if not len(parts):
        return
    spare = split.size[parts] - view.k
    if spare.sum() < missing:
        chosen = np.zeros(len(split.size), dtype=bool)
        chosen[parts[np.argmin(split.size[parts])]] = True
        gone[split.people_in(chosen)] = True
        return
    for part in parts[np.argsort(-spare, kind="stable")]:
        taken = min(missing, int(split.size[part]) - view.k)
        people = split.members[split.part_of == part]
        gone[people[np.argsort(order[people])[:taken]]] = True
        missing -= taken
        if missing == 0:
            return
