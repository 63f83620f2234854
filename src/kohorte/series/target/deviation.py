"""How far a generalization is from being coarser than a target.

A target region deviates by the sizes of its intersections with the regions of the candidate, except the largest: none
where one region contains it. Size is volume, or how many rows are expected there.

Source: EP 4 404 095 A1, paragraphs 0092 to 0094. They take for granted that both cover the same values. What no region
of the candidate covers counts here as one more intersection that is not the largest, so that the deviation is 0 exactly
when the target is finer than the candidate, with gaps, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Floats
from kohorte.series.domain.regions import OUTSIDE, Places, Regions


def deviation(candidate: Regions, target: Regions, masses: Floats | None = None) -> float:
    """The deviation of all target regions together."""
    return float(deviations(candidate, target, masses).sum())


def deviations(candidate: Regions, target: Regions, masses: Floats | None = None) -> Floats:
    """The deviation of each target region: by volume, or by masses that are spread evenly over their regions."""
    box, region = target.overlaps(candidate)
    lows = np.maximum(target.lows[box], candidate.lows[region])
    highs = np.minimum(target.highs[box], candidate.highs[region])
    volumes = target.volumes()
    missed: Floats = volumes - _largest(box, Regions(lows, highs).volumes(), len(target))
    return missed if masses is None else missed / volumes * masses


def deviations_of_points(candidate: Regions, target: Regions, points: Places) -> Floats:
    """The deviation of each target region, counted in points; a cut that parts no points costs nothing."""
    box, region = target.locate(points), candidate.locate(points)
    inside = box != OUTSIDE
    totals = np.bincount(box[inside], minlength=len(target))
    inside &= region != OUTSIDE
    keys, counts = np.unique(box[inside] * len(candidate) + region[inside], return_counts=True)
    missed: Floats = totals - _largest(keys // max(1, len(candidate)), counts.astype(np.float64), len(target))
    return missed


def _largest(owner: NDArray[np.int64], sizes: Floats, owners: int) -> Floats:
    """The largest size of each owner; 0 where it has none."""
    largest = np.zeros(owners)
    np.maximum.at(largest, owner, sizes)
    return largest
