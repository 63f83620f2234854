"""How much an answer tells about a patient whom somebody knows: by the patients of the house who look alike.

If all farmers of 40 to 59 who are patients are in the answer about drug X, then everybody who knows one of them knows
that he gets X, without finding his row. What the condition says about known attributes counts like a label: if it asks
for people of 60 and more who get X, only patients of 60 and more hide each other.

Being in an answer is not all that tells. Who gets the number of all farmers, and then the farmers who do not get X,
subtracts; who asks for those who get X by one diagnosis after the other, adds. So those who look alike must differ in
the sensitive attributes that the condition looks at, whether they are in this answer or not.

Source
    Nergiz, Atzori and Clifton, Hiding the Presence of Individuals from Shared Databases, SIGMOD 2007 (delta-presence).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.exchange.checking.rows import Rows
from kohorte.exchange.checking.shown_labels import dense, labels_of, numbered_classes, people_per_value
from kohorte.hierarchies import Hierarchy
from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.plans.hierarchies import VALUE_OR_STAR
from kohorte.release import Candidate

CELL = "\0cell"


class LookAlikes:
    """The people of the table who look alike in an answer, and are in the same cell of the condition.

    `labels` are those of the rows of the base set at the levels of the candidate. `own` and `everybody` number how the
    rows of the base set and of the whole table look.
    """

    def __init__(self, labels: pl.DataFrame, rows: Rows, found: Candidate, levels: Mapping[str, int]) -> None:
        everybody = labels_of(
            rows.whole, _hierarchies(rows, found, levels), {name: found.levels[name] for name in levels}
        )
        own_cells, all_cells = (pl.Series(CELL, cells).cast(pl.String) for cells in (rows.cells, rows.whole_cells))
        both = [labels.with_columns(own_cells), everybody.with_columns(all_cells)]
        classes = numbered_classes(pl.concat(both))
        self._rows, self.own, self.everybody = rows, classes[: labels.height], classes[labels.height :]
        self._people = _counted(self.everybody, rows.table, int(classes.max(initial=0)) + 1)

    def told_too_much(self, most: float) -> Bools:
        """Flag the rows of people of whom the answer tells too much: with more certainty than `most`."""
        told = self._present() > most
        for facts in chain.from_iterable(self._rows.facts.values()):
            told |= self._weights(facts, most)[self.own] > most
        return told

    def _present(self) -> Floats:
        """For each row of the base set: of the people who look alike, the share who are in the base set."""
        inside = _counted(self.own, self._rows.people, len(self._people))
        share: Floats = inside / np.maximum(self._people, 1)
        return share[self.own]

    def _weights(self, facts: Integers, most: float) -> Floats:
        """For each class, the largest share of its people about whom one fact is true.

        A fact that is true of more of all patients is no secret of a class: that most people do not get a rare drug.
        """
        people = self._rows.table
        ordinary = people_per_value(facts + 1, people)[1:] > most * len(np.unique(people))
        counts = np.flatnonzero((facts >= 0) & ~np.append(ordinary, False)[facts])
        return largest_shares(self.everybody[counts], facts[counts], people[counts], self._people)


def largest_shares(classes: Integers, facts: Integers, people: Integers, sizes: Integers) -> Floats:
    """For each class, the largest share of its `sizes` people who have one fact; the arrays have one entry per row."""
    largest = np.zeros(len(sizes))
    if len(classes):
        pairs = dense(classes * (int(facts.max()) + 1) + facts)
        of_pair = people_per_value(pairs, people)[pairs]
        np.maximum.at(largest, classes, of_pair / np.maximum(sizes[classes], 1))
    return largest


def _counted(classes: Integers, people: Integers, number: int) -> Integers:
    """The number of different people of each of so many classes."""
    counts = people_per_value(classes, people)
    return np.pad(counts, (0, number - len(counts)))


def _hierarchies(rows: Rows, found: Candidate, levels: Mapping[str, int]) -> Mapping[str, Hierarchy]:
    hierarchies = {}
    for name in levels:
        values = as_text(rows.whole[name]).drop_nulls().unique().sort().to_list()
        hierarchies[name] = (found.plan.attributes[name].hierarchy or VALUE_OR_STAR).build(values, attribute=name)
    return hierarchies
