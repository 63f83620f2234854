"""Answers with noise in the ledger: they tell no exact set of people; what they cost is listed.

People who have withdrawn are not in the table that is asked. Their number is hidden by the noise like any person.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import as_text, person_keys, without_marks
from kohorte.disclosures.candidate import Candidate, ReleaseKind
from kohorte.disclosures.ledger import Ledger
from kohorte.dp import QueryAnswer, QueryMetadata
from kohorte.errors import InputError


@dataclass(frozen=True)
class AnswerRecording:
    """Answers to one recipient; `about` says of which project."""

    ledger: Ledger
    recipient: str
    about: str = ""

    def without_withdrawn(self, table: pl.DataFrame, metadata: QueryMetadata) -> pl.DataFrame:
        """Return the table without the rows of people who have withdrawn."""
        person = metadata.person_columns
        if not person:
            raise InputError(
                "the ledger remembers people: say with private_id, or with person in a plan, whom a row is about",
                code="disclosure-person",
            )
        for name in person:
            if name not in table.columns:
                raise InputError(f"the table has no column {name!r}", code="columns-missing")
        rows = without_marks(table.select(list(person)), metadata.missing_values)
        gone = self.ledger.have_withdrawn(person_keys([as_text(rows[name]) for name in person]))
        return table.filter(pl.Series(~gone)) if gone.any() else table

    def record(self, answer: QueryAnswer) -> int | None:
        """List an answer with what it cost, before it is given away; None if it is an answer of before."""
        if answer.from_record:
            return None
        cost = answer.budget.cost_to_dict(answer.cost)
        nobody = np.zeros(0, dtype=np.int64)
        aggregates = [column.aggregate or "group" for column in answer.columns]
        candidate = Candidate(
            nobody,
            nobody,
            self.recipient,
            ReleaseKind.QUERY,
            columns={str(place): str(aggregate) for place, aggregate in enumerate(aggregates, start=1)},
            about=self.about,
            epsilon=float(cost["epsilon"]),
            delta=float(cost["delta"]),
        )
        return self.ledger.record(candidate)
