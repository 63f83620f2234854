"""The target of a series: the regions that it is expected to reach, and how closely it keeps to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from kohorte.errors import InputError, nearest
from kohorte.kernels.arrays import Floats
from kohorte.plans.search_options import is_number
from kohorte.series.domain.regions import Regions
from kohorte.series.target.guide import Guide

SIZES = ("volume", "mass")
POLICIES = ("wait", "nearest")


@dataclass(frozen=True, eq=False)
class Target:
    """The regions to reach and the rows expected in each, how deviation is measured, and how much is tolerated.

    `tolerance` is a share of the size of all regions together. If no allowed split keeps to the target, the policy
    `wait` leaves a region as it is, and `nearest` takes the split that adds the least deviation.
    """

    regions: Regions
    masses: Floats = field(repr=False)
    expected_rows: int
    slack: float = 0.25
    size: str = "volume"
    tolerance: float = 0.0
    policy: str = "wait"

    def __post_init__(self) -> None:
        for key, choices in (("size", SIZES), ("policy", POLICIES)):
            if (value := getattr(self, key)) not in choices:
                raise InputError(
                    f"target: {key} must be one of {', '.join(choices)}{nearest(str(value), choices)}",
                    code="series-target",
                )
        if type(self.expected_rows) is not int or self.expected_rows < 1:
            raise InputError("target: expected_rows must be a whole number of at least 1", code="series-target")
        for key, most, wanted in (("slack", math.inf, "of at least 0"), ("tolerance", 1, "from 0 to 1")):
            if not is_number(value := getattr(self, key)) or not 0 <= value <= most:
                raise InputError(f"target: {key} must be a number {wanted}", code="series-target")

    @property
    def sizes(self) -> Floats:
        """The size of each region: its volume, or the rows expected in it."""
        return self.masses if self.size == "mass" else self.regions.volumes()

    @property
    def tolerated(self) -> float:
        """The largest accepted deviation, in the same unit as `sizes`."""
        return float(self.tolerance * self.sizes.sum())

    def guide(self, regions: Regions) -> Guide:
        """The guide of the target for splits of these regions."""
        return Guide.of(regions, self.regions, self.sizes)

    def to_dict(self) -> dict[str, object]:
        """The target as plain data: each box as its lows followed by its highs."""
        return {
            "boxes": np.concatenate([self.regions.lows, self.regions.highs], axis=1).tolist(),
            "masses": self.masses.tolist(),
            "expected_rows": self.expected_rows,
            "slack": self.slack,
            "size": self.size,
            "tolerance": self.tolerance,
            "policy": self.policy,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The target from the output of `to_dict`."""
        options = dict(data)
        corners = np.array(options.pop("boxes"), dtype=np.int64)
        lows, highs = (np.ascontiguousarray(half) for half in np.split(corners, 2, axis=1))
        return cls(Regions(lows, highs), np.array(options.pop("masses"), dtype=np.float64), **options)
