"""Which splits the next release could nearly make, and what they lack, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kohorte.release.words import model_in_words
from kohorte.series.draft import Draft
from kohorte.series.splitting.candidates import OpenRegions
from kohorte.series.status.missing_rows import Demands, Numbers, WantedSplits, wanted_splits
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
    """What a region lacks for a split of one attribute, of numbers and dates `at` a value of the domain.

    `gain` is the share by which the loss would be less, counted with the rows that are there. `refused_by` are the
    models, other than those about numbers, that do not hold in both parts yet. `together`: the rows must come with the
    same release.
    """

    where: RegionName
    attribute: str
    at: str | None
    parts: tuple[Part, Part]
    gain: float
    refused_by: tuple[str, ...]
    together: bool

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
            "parts": [part.to_dict() for part in self.parts],
            "refused_by": list(self.refused_by),
            "gain": self.gain,
        }

    def in_words(self) -> str:
        """One line for people."""
        split = f"a split of {self.attribute}" + ("" if self.at is None else f" at {self.at}")
        gain, models = f"loss {self.gain:.2%} less", ", ".join(self.refused_by)
        if not self.rows:
            return f"{self.where}: {split} has enough rows, but {models} does not hold in both parts yet; {gain}"
        asked = " and ".join(self._asked(part) for part in self.parts if part.rows)
        besides = f", once {models} holds in both parts" if models else ""
        return f"{self.where}: {asked} would allow {split}{besides}; {gain}"

    def _asked(self, part: Part) -> str:
        together = " that come together" if self.together else ""
        return f"{more(part.rows)}{together} ({self.attribute} {part.label}){with_values(part.values)}"


def missing_splits(draft: Draft, guide: Guide | None, top: int) -> tuple[MissingRows, ...]:
    """What the regions of a draft lack for more splits, along its target, if it has a guide to one."""
    definition, refined, judge = draft.table.definition, draft.refined, draft.showing.judge
    chosen, local = np.unique(refined.region_of, return_inverse=True)
    places = draft.table.places[draft.showing.rows]
    around = OpenRegions(definition.axes, definition.weights, refined.regions, chosen, local, places, judge.least)
    settled = None
    if definition.by_arrival:
        settled = np.bincount(local, weights=draft.showing.arrivals < draft.number, minlength=len(chosen)) > 0
    demands = Demands.of(judge)
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
        local, along, place = (int(column[number]) for column in (candidates.region, candidates.axis, candidates.place))
        region, axis = int(self.around.chosen[local]), axes[along]
        low, high = int(regions.lows[region, along]), int(regions.highs[region, along])
        return MissingRows(
            RegionName.of(axes, regions, region),
            axis.name,
            axis.ticks(place, high)[0] if axis.measured and place < axis.known else None,
            (
                self._part(label_of(axis, low, place), self.wanted.lower[number]),
                self._part(label_of(axis, place, high), self.wanted.upper[number]),
            ),
            float(candidates.gain[number]) / self.loss if self.loss else 0.0,
            self._refused_by(local, along, place),
            self.draft.table.definition.by_arrival,
        )

    def _part(self, label: str, lacks: Numbers) -> Part:
        return Part(label, int(lacks[0]), self.demands.named(lacks))

    def _refused_by(self, local: int, along: int, place: int) -> tuple[str, ...]:
        """The models beyond numbers that do not hold in both parts as they are."""
        rows = np.flatnonzero(self.around.local == local)
        above = (self.around.places[rows, along] >= place).astype(np.int64)
        judge = self.draft.showing.judge
        return tuple(
            model_in_words(model)
            for model in self.demands.others
            if not replace(judge, models=(model,)).satisfied(above, 2, rows).all()
        )
