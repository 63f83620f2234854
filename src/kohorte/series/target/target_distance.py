"""The distance between a series and its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kohorte.in_words import percent
from kohorte.series.target.guide import Guide


@dataclass(frozen=True)
class TargetDistance:
    """How far regions are from the target.

    A region of the target is reached when no region of the series covers parts of it and of another one; finer splits
    inside it do no harm. `reached` is the share of the `regions` that are reached, and `deviation` the share of the
    target's size by which cuts through the other regions deviate.
    """

    regions: int
    deviation: float
    reached: float

    @classmethod
    def of(cls, guide: Guide) -> Self:
        """Compare the regions of a guide with its target."""
        apart = np.ones(len(guide.boxes), dtype=bool)
        apart[guide.box[~guide.reached[guide.region]]] = False
        missed = guide.deviations[~apart].sum()
        return cls(len(apart), float(missed) / (float(guide.sizes.sum()) or 1.0), float(apart.mean()))

    def in_words(self) -> str:
        """One line for people."""
        return f"{percent(self.reached)} of its {self.regions:,} regions reached, deviation {percent(self.deviation)}"
