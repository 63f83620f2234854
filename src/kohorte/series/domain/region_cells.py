"""What the cells of a region show, and how much of the domain they leave open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.kernels.arrays import Floats, Integers
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions


def region_labels(axes: Sequence[Axis], regions: Regions) -> list[tuple[list[str | None], Integers]]:
    """For each axis its distinct labels, and the number of the label of each region."""
    found = []
    for number, axis in enumerate(axes):
        ends = np.stack([regions.lows[:, number], regions.highs[:, number]], axis=1)
        pairs, kinds = np.unique(ends, axis=0, return_inverse=True)
        found.append(([axis.label(low, high) for low, high in pairs.tolist()], kinds.reshape(-1).astype(np.int64)))
    return found


def region_loss(
    axes: Sequence[Axis], weights: Sequence[float], regions: Regions, region_of: Integers, *, rows: int
) -> float:
    """The share of the domain that a cell leaves open, as the mean over all cells; rows held back count 1."""
    return float(region_losses(axes, weights, regions)[region_of].sum() + rows - len(region_of)) / rows


def region_losses(axes: Sequence[Axis], weights: Sequence[float], regions: Regions) -> Floats:
    """The share of the domain that a cell of each region leaves open, as the mean over its attributes."""
    total = sum(weights) or 1.0
    lost: Floats = np.zeros(len(regions))
    for number, (axis, weight) in enumerate(zip(axes, weights, strict=True)):
        lost += weight / total * axis.shares(regions.lows[:, number], regions.highs[:, number])
    return lost
