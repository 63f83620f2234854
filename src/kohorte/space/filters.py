"""Which nodes of a space a picture shows: solutions only, not too coarse, not too many suppressed rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Bools
from kohorte.space.exploration import Exploration


@dataclass(frozen=True)
class Filter:
    """`coarsest` names the highest level that may be shown, by attribute; `suppressed` is a share of the rows."""

    solutions: bool = False
    coarsest: Mapping[str, int] = field(default_factory=dict)
    suppressed: float | None = None

    def fitting(self, space: Exploration) -> Bools:
        """Tell for each node whether it fits; of a node that has not been counted, only its levels can speak."""
        shape = space.lattice.shape
        fits: Bools = np.ones(shape, dtype=bool)
        for axis, (name, least) in enumerate(space.plan.minimum_levels.items()):
            if name in self.coarsest:
                low = np.arange(shape[axis]) + least <= self.coarsest[name]
                fits &= low.reshape([-1 if other == axis else 1 for other in range(len(shape))])
        flat = fits.ravel()
        if self.solutions:
            flat &= ~np.isinf(space.costs)
        if self.suppressed is not None:
            flat &= ~space.counted | (space.suppressed <= self.suppressed * space.rows)
        return flat
