"""Special uniques: rows or people that a few attributes single out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kohorte.in_words import ROWS, Unit
from kohorte.kernels.arrays import Bools, Codes, Floats
from kohorte.risks.dis_suda import dis_suda, intrusion_score
from kohorte.risks.shown.alike import Alike

Chosen = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of a table, of up to `largest` attributes.

    A minimal sample unique is a set of attributes that makes a row unique while none of its subsets does. `count` is
    the number of rows with at least one, `of_size[size]` that of all minimal sample uniques. `contributions[attribute]`
    is the share of all scores that comes from sets with the attribute; sets overlap, so the shares do not add up to 1.
    `dis` and, for every group, `dis_suda` (dis_suda.py) are given if the sampling fraction is known.

    Where people are counted, a row is unique if nobody else has such a row; if people are judged by all their rows, a
    person is unique if nobody else has the same set of classes. `count` counts people, `of_size` people for each set,
    and the score of a person is the highest of their rows.

    Definition
        A set of s of the m attributes adds (m - s) (m - s - 1) ... (m - largest + 1) to the score of its row: the
        fewer attributes, the more.
    Source
        Elliot, Manning and Ford, A Computational Algorithm for Handling the Special Uniques Problem, International
        Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002 (SUDA).
    """

    largest: int
    count: int
    of_size: dict[int, int]
    contributions: dict[str, float]
    highest_score: float
    scores: Floats = field(repr=False)
    sets: dict[Chosen, Codes] = field(repr=False)
    dis: float | None = None
    dis_suda: Floats | None = field(default=None, repr=False)
    unit: Unit = ROWS

    def with_fraction(self, table: Alike, fraction: float | None) -> SpecialUniques:
        """The same with DIS and DIS-SUDA, if the sampling fraction is known."""
        if fraction is None:
            return self
        alike = table.at_highest(np.asarray(1 / np.maximum(table.sizes, 1), dtype=np.float64))
        dis = intrusion_score(table.sizes, alike, fraction)
        if dis is None:
            return self
        of_group = dis_suda(self.scores, table.at_highest(self.scores), dis, len(self.contributions))
        return replace(self, dis=dis, dis_suda=of_group)

    def sets_of(self, number: int) -> list[Chosen]:
        """The minimal sample uniques of a group of one, the smallest first."""
        found = []
        for chosen, classes in self.sets.items():
            position = int(np.searchsorted(classes, number))
            if position < len(classes) and classes[position] == number:
                found.append(chosen)
        return found

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {
            "largest_set": self.largest,
            self.unit.many: self.count,
            "minimal_sample_uniques": sum(self.of_size.values()),
            "by_size": [{"size": size, "count": count} for size, count in self.of_size.items()],
            "highest_score": self.highest_score,
            "dis": self.dis,
            "contributions": [
                {"attribute": name, "contribution": share}
                for name, share in sorted(self.contributions.items(), key=lambda item: -item[1])
            ],
        }


class MinimalUniques:
    """Find minimal sample uniques; the attribute sets are added one by one, small sets first.

    A row that is unique by a set is unique by every larger set, so a set is minimal if the row is not unique by any
    subset with one attribute less. Only rows that are unique by all attributes can be unique by some. The same holds
    for classes of one person, and for people whose set of classes nobody else has: fewer attributes only merge classes.
    """

    def __init__(self, table: Alike, names: Sequence[str], largest: int) -> None:
        self._table = table
        self._names = tuple(names)
        self._largest = largest
        self._alone = np.flatnonzero(table.sizes == 1).astype(np.uint32)
        self._place = np.zeros(len(table.sizes), dtype=np.int64)
        self._place[self._alone] = np.arange(len(self._alone))
        self._smaller: dict[Chosen, Bools] = {}
        self._current: dict[Chosen, Bools] = {}
        self._sets: dict[Chosen, Codes] = {}

    def add(self, chosen: Chosen, unique_groups: Codes) -> int:
        """Record the groups that are unique by a set; return for how many rows or people the set is minimal."""
        if not len(unique_groups):
            return 0  # then nobody is unique by a subset either
        unique = np.zeros(len(self._alone), dtype=bool)
        unique[self._place[unique_groups]] = True
        if len(chosen) < self._largest:
            self._current[chosen] = unique
        minimal = unique.copy()
        for left_out in range(len(chosen)):
            smaller = self._smaller.get((*chosen[:left_out], *chosen[left_out + 1 :]))
            if smaller is not None:
                minimal &= ~smaller
        groups = self._alone[minimal]
        if len(groups):
            self._sets[chosen] = groups
        return self._table.different(groups)

    def next_size(self) -> None:
        """Start with the sets of the next size."""
        self._smaller, self._current = self._current, {}

    def found(self) -> SpecialUniques:
        """Return all minimal sample uniques, with scores."""
        scores = np.zeros(len(self._table.sizes))
        of_size = dict.fromkeys(range(1, self._largest + 1), 0)
        for chosen, groups in self._sets.items():
            scores[groups] += self._weight(len(chosen))
            of_size[len(chosen)] += self._table.different(groups)
        counts = self._table.shared_at_highest(scores)
        weights = dict.fromkeys(self._names, 0.0)
        for chosen, groups in self._sets.items():
            for number in chosen:
                weights[self._names[number]] += self._weight(len(chosen)) * float(counts[groups].sum())
        total = float(scores @ counts)
        return SpecialUniques(
            largest=self._largest,
            count=self._table.different(np.flatnonzero(scores).astype(np.uint32)),
            of_size=of_size,
            contributions={name: weight / total if total else 0.0 for name, weight in weights.items()},
            highest_score=float(scores.max(initial=0.0)),
            scores=scores,
            sets=self._sets,
            unit=self._table.unit,
        )

    def _weight(self, size: int) -> float:
        return float(math.prod(len(self._names) - number for number in range(size, self._largest)))
