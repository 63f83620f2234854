"""How far a series still is from its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kohorte.series.target.guide import Guide


@dataclass(frozen=True)
class TargetDistance:
    """How far regions are from the target.

    A region of the target is reached when no region of the series covers a part of it and of another one; finer splits
    inside it are welcome. `reached` is the share of the `regions` that are, and `deviation` the share of the target's
    size by which the others deviate: what cuts through them have cost.
    """

    regions: int
    deviation: float
    reached: float

    @classmethod
    def of(cls, guide: Guide) -> Self:
        """Compare the regions of a guide with its target."""
        apart = np.ones(len(guide.boxes), dtype=bool)
        apart[guide.box[~guide.reached[guide.region]]] = False
        largest = np.zeros(len(apart))
        np.maximum.at(largest, guide.box, guide.piece_sizes)
        missed = (guide.sizes - largest)[~apart].sum()
        return cls(len(apart), float(missed) / (float(guide.sizes.sum()) or 1.0), float(apart.mean()))

    def in_words(self) -> str:
        """One line for people."""
        return f"{self.reached:.1%} of its {self.regions:,} regions reached, deviation {self.deviation:.2%}"
