"""Splits that the next release could nearly make, and what they lack, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kohorte.in_words import percent
from kohorte.kernels.arrays import Integers
from kohorte.models.words import model_in_words
from kohorte.series.domain.regions import Regions
from kohorte.series.drafting.growing_table import Draft
from kohorte.series.splitting.candidates import OpenRegions
from kohorte.series.status.missing_rows import Demands, WantedSplits, wanted_splits
from kohorte.series.status.region_names import RegionName, label_of, more, with_values
from kohorte.series.target.guide import Guide


@dataclass(frozen=True)
class Part:
    """One part of a split: its label, and how many rows and values it lacks."""

    label: str
    rows: int
    values: Mapping[str, int]

    def to_dict(self) -> dict[str, object]:
        """The part as plain data."""
        return {"label": self.label, "rows": self.rows, "values": dict(self.values)}


@dataclass(frozen=True)
class MissingRows:
    """What a region lacks for a split of one attribute; numbers and dates are split `at` a value of the domain.

    `gain` is the share by which the split would reduce the loss of the present rows. `refused_by` are the models, other
    than those about numbers, that do not hold in both parts yet. `together`: the rows must come with the same release.
    """

    where: RegionName
    attribute: str
    at: str | None
    parts: tuple[Part, Part]
    gain: float
    refused_by: tuple[str, ...]
    together: bool
    unit: str = "row"

    @property
    def rows(self) -> int:
        """How many rows are missing in both parts together."""
        return sum(part.rows for part in self.parts)

    def to_dict(self) -> dict[str, object]:
        """As `kohorte series status --json` prints it."""
        return {
            "region": dict(self.where.labels),
            "attribute": self.attribute,
            "at": self.at,
            "rows": self.rows,
            "unit": self.unit,
            "parts": [part.to_dict() for part in self.parts],
            "refused_by": list(self.refused_by),
            "gain": self.gain,
        }

    def in_words(self) -> str:
        """One line for people."""
        split = f"a split of {self.attribute}" + ("" if self.at is None else f" at {self.at}")
        gain, models = f"loss {percent(self.gain)} less", ", ".join(self.refused_by)
        if not self.rows:
            enough = "rows" if self.unit == "row" else "people"
            return f"{self.where}: {split} has enough {enough}, but {models} does not hold in both parts yet; {gain}"
        needed = " and ".join(self._needed(part) for part in self.parts if part.rows)
        condition = f", once {models} holds in both parts" if models else ""
        return f"{self.where}: {needed} would allow {split}{condition}; {gain}"

    def _needed(self, part: Part) -> str:
        together = " that come together" if self.together else ""
        return f"{more(part.rows, self.unit)}{together} ({self.attribute} {part.label}){with_values(part.values)}"


def missing_splits(draft: Draft, regions: Regions, guide: Guide | None, top: int) -> tuple[MissingRows, ...]:
    """What the regions of a draft lack for more splits, towards its target if there is a guide to one."""
    definition, check = draft.table.definition, draft.shown.check
    chosen, local = np.unique(draft.region_of, return_inverse=True)
    positions = draft.table.positions[draft.shown.rows]
    around = OpenRegions(definition.axes, definition.weights, regions, chosen, local, positions, check.least)
    settled = None
    if definition.by_arrival:
        settled = np.bincount(local, weights=draft.shown.arrivals < draft.number, minlength=len(chosen)) > 0
    demands = Demands.of(check)
    wanted = wanted_splits(around, demands, guide=guide, settled=settled)
    whole = draft.figures.loss * draft.rows * (sum(definition.weights) or 1.0)
    writer = _Writer(draft, around, demands, wanted, whole)
    return tuple(writer.missing(number) for number in range(min(max(0, top), len(wanted.candidates))))


@dataclass(frozen=True, eq=False)
class _Writer:
    """Puts wanted splits into words; `loss` is that of all cells together."""

    draft: Draft
    around: OpenRegions
    demands: Demands
    wanted: WantedSplits
    loss: float

    def missing(self, number: int) -> MissingRows:
        """One of the wanted splits."""
        axes, regions, candidates = self.around.axes, self.around.regions, self.wanted.candidates
        columns = (candidates.region, candidates.axis, candidates.position)
        local, along, position = (int(column[number]) for column in columns)
        region, axis = int(self.around.chosen[local]), axes[along]
        low, high = int(regions.lows[region, along]), int(regions.highs[region, along])
        return MissingRows(
            RegionName.of(axes, regions, region),
            axis.name,
            axis.ticks(position, high)[0] if axis.measured and position < axis.known else None,
            (
                self._part(label_of(axis, low, position), self.wanted.lower[number]),
                self._part(label_of(axis, position, high), self.wanted.upper[number]),
            ),
            float(candidates.gain[number]) / self.loss if self.loss else 0.0,
            self._refused_by(local, along, position),
            self.draft.table.definition.by_arrival,
            self.demands.unit,
        )

    def _part(self, label: str, lacks: Integers) -> Part:
        return Part(label, int(lacks[0]), self.demands.named(lacks))

    def _refused_by(self, local: int, along: int, position: int) -> tuple[str, ...]:
        """The models, other than those about numbers, that do not hold in both parts yet."""
        rows = np.flatnonzero(self.around.local == local)
        above = (self.around.positions[rows, along] >= position).astype(np.int64)
        check = self.draft.shown.check
        return tuple(
            model_in_words(model)
            for model in self.demands.others
            if not replace(check, models=(model,)).satisfied(above, 2, rows).all()
        )
