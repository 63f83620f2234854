"""Joint releases in the ledger of one party: what they tell about its own people.

A party knows at which levels its rows are shown, not which of them are suppressed, nor how many people of others are in
a class. It notes its own people by the labels of its own columns, as if none were suppressed. Classes may have fewer
than k people of one party; the others hide them, so that nothing is refused here, but later releases are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import as_text, person_keys, without_marks
from kohorte.disclosures.candidate import Candidate, ReleaseKind
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError, nearest
from kohorte.kernels.arrays import Integers
from kohorte.plans.hierarchies import VALUE_OR_STAR
from kohorte.plans.plan import Plan


def _nothing(ledger: Ledger) -> None:
    """A ledger that learns of withdrawals by hand only."""


@dataclass(frozen=True)
class JointMemory:
    """The ledger of a party, and the column of its table that says whom a row is about.

    `update` lets the ledger learn who has withdrawn, before each run: a party serves for months.
    """

    ledger: Ledger
    person: str
    update: Callable[[Ledger], object] = _nothing

    def without_withdrawn(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the table without people who have withdrawn."""
        self.update(self.ledger)
        gone = self.ledger.have_withdrawn(self._people(frame))
        return frame.filter(pl.Series(~gone)) if gone.any() else frame

    def record(
        self, frame: pl.DataFrame, plan: Plan, levels: Mapping[str, int], *, about: str, recipients: Sequence[str]
    ) -> None:
        """Record a release of these rows for everybody who gets it, in one transaction."""
        people = self.ledger.fingerprints(self._people(frame))
        own = [name for name in plan.quasi_identifiers if name in frame.columns]
        classes = _classes(without_marks(frame, plan.missing_values), plan, {name: levels[name] for name in own})
        columns = {name: f"level {levels[name]}" for name in own}
        self.ledger.record_all(
            Candidate(people, classes, recipient, ReleaseKind.JOINT, columns=columns, about=about, table=people)
            for recipient in recipients
        )

    def _people(self, frame: pl.DataFrame) -> pl.Series:
        if self.person not in frame.columns:
            raise InputError(
                f"party.yaml: person: the table has no column {self.person!r}{nearest(self.person, frame.columns)}",
                code="columns-missing",
            )
        return person_keys([as_text(frame[self.person])])


def _classes(frame: pl.DataFrame, plan: Plan, levels: Mapping[str, int]) -> Integers:
    """A number for each row, the same for rows that show the same labels in the columns of this party."""
    if not levels or not frame.height:
        return np.zeros(frame.height, dtype=np.int64)
    shown = pl.DataFrame([_labels(as_text(frame[name]), plan, level) for name, level in levels.items()])
    numbers = shown.select(pl.struct(pl.all()).rank("dense")).to_series()
    return (numbers.cast(pl.Int64) - 1).to_numpy()


def _labels(text: pl.Series, plan: Plan, level: int) -> pl.Series:
    values = text.drop_nulls().unique().sort()
    hierarchy = (plan.attributes[text.name].hierarchy or VALUE_OR_STAR).build(values.to_list(), attribute=text.name)
    codes = pl.Series(hierarchy.encode(text)).cast(pl.Int64)
    labels = pl.Series(text.name, list(hierarchy.column(min(level, hierarchy.top))), dtype=pl.String)
    return labels.gather(pl.select(pl.when(codes >= 0).then(codes)).to_series()).fill_null("\0missing")
