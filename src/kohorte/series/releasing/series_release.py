"""One release of a series with its figures and certificate, made now or earlier."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from kohorte.errors import InputError
from kohorte.release.certificate import Certificate
from kohorte.release.telling.verdict import Verdict
from kohorte.series.drafting.growing_table import Figures, GrowingTable, Replayed, smallest_arrival
from kohorte.series.memory.state import Entry, State


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesRelease(Figures):
    """One release of a series: its rows in `data` (None for a preview), figures, verdict and certificate."""

    data: Any = field(repr=False)
    verdict: Verdict
    certificate: Certificate | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, object]:
        """The figures, as `kohorte series release --json` prints them."""
        return self.told() | {"verdict": self.verdict.to_dict()}


def entry_of(state: State, number: int) -> Entry:
    """The entry of a release in the state."""
    if type(number) is not int or not 1 <= number <= len(state.releases):
        raise InputError(
            f"there is no release {number!r}: the series has {len(state.releases)} releases", code="series-no-release"
        )
    return state.releases[number - 1]


def figures_of(entry: Entry, table: GrowingTable, replayed: Replayed) -> Figures:
    """The figures of an earlier release, as they were then."""
    rows = table.rows_of(entry.number)
    arrivals = table.comparison.arrivals[rows]
    kept = {one.name: getattr(entry, one.name) for one in fields(Figures) if hasattr(entry, one.name)}
    told = smallest_arrival(table, replayed.generalization.locate(table.positions[rows]), arrivals, rows)
    people = None if table.persons is None else len(np.unique(table.persons.codes[rows]))
    few = frozenset() if people is None else frozenset(("held", "new", "corrected", "withdrawn", "withheld"))
    own = {
        "splits": len(entry.splits),
        "smallest_arrival": told,
        "loss_before": replayed.before().loss,
        "people": people,
        "few": few,
    }
    return Figures(**kept | own)
