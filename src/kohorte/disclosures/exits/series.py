"""Releases of a growing table on their way into the ledger. A series knows no ledger; it calls this as its gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

from kohorte.disclosures.candidate import LEFT_OUT, Candidate
from kohorte.disclosures.exits.recording import Recording
from kohorte.disclosures.exits.released import candidate_of_classes, people_of
from kohorte.disclosures.ledger import Ledger
from kohorte.kernels.arrays import Integers


def about_release(identity: str, number: int) -> str:
    """How the ledger names a release of a series."""
    return f"series {identity}, release {number}"


def not_recorded(ledger: Ledger, identity: str, releases: int) -> list[int]:
    """The releases of a series that the ledger does not have, by number."""
    known = {facts.get("about") for facts in ledger.releases()}
    return [number for number in range(1, releases + 1) if about_release(identity, number) not in known]


class ShownRows(Protocol):
    """The rows that a draft shows."""

    @property
    def rows(self) -> Integers:
        """Their numbers in the table."""


class Draft(Protocol):
    """A release of a series before it is made."""

    @property
    def shown(self) -> ShownRows:
        """The rows that it shows."""

    @property
    def region_of(self) -> Integers:
        """The region, or class, of each of them."""

    @property
    def data(self) -> pl.DataFrame:
        """What it shows."""


AnyDraft = TypeVar("AnyDraft", bound=Draft)


class SeriesRecording(Recording):
    """One release of a series that is examined and recorded; rows that are held back are not shown."""

    def draft_passed(self, frame: pl.DataFrame, make: Callable[[pl.DataFrame], AnyDraft]) -> AnyDraft:
        """Return the draft of the table, or of the part of it that may be shown."""

        def told(rows: pl.DataFrame, draft: AnyDraft) -> Candidate:
            return self._told(rows, draft.shown.rows, draft.region_of, draft.data)

        return self.passed(frame, make, told)

    def again_passed(self, frame: pl.DataFrame, rows: Integers, regions: Integers, data: pl.DataFrame) -> None:
        """Examine an earlier release that is written again: its recipient may be another one."""
        self.examine_told(self._told(frame, rows, regions, data).of_table(people_of(self.ledger, frame, self.plan)))

    def _told(self, frame: pl.DataFrame, rows: Integers, regions: Integers, data: pl.DataFrame) -> Candidate:
        classes = np.full(frame.height, LEFT_OUT, dtype=np.int64)
        classes[rows] = regions
        return candidate_of_classes(self.ledger, frame, classes, data, self.plan, self.passing)
