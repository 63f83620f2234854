"""The levels of interval hierarchies: bounds as a plan writes them, and the same as scaled whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.hierarchies.options import (
    Number,
    distinct_labels,
    exact_number,
    listed,
    plain_number,
    refuse_unknown,
)
from kohorte.kernels.arrays import Floats

BELOW, ABOVE = -(10**18), 10**18
"""Used as the start of the groups outside the range; beyond any scaled bound."""


@dataclass(frozen=True)
class Bounds:
    """One level of intervals: `bounds[i] <= number < bounds[i + 1]` is labelled `labels[i]`."""

    bounds: Sequence[Number]
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        option = "intervals: levels: bounds"
        bounds = tuple(exact_number(bound, option=option) for bound in listed(self.bounds, option=option))
        object.__setattr__(self, "bounds", bounds)
        if len(bounds) < 2 or any(first >= second for first, second in pairwise(bounds)):
            raise InputError(
                f"{option} must be at least two numbers in increasing order",
                code="hierarchy-option-invalid",
            )
        if self.labels is not None:
            labels = distinct_labels(self.labels, option="intervals: levels: labels")
            object.__setattr__(self, "labels", labels)
            if len(labels) != len(bounds) - 1:
                raise InputError(
                    f"intervals: levels: labels must be one fewer than the bounds: {len(bounds) - 1}, "
                    f"not {len(labels)}",
                    code="hierarchy-option-invalid",
                )

    @classmethod
    def from_option(cls, option: object) -> Bounds:
        """The level that a plan describes as {bounds: [...], labels: [...]}."""
        if isinstance(option, Bounds):
            return option
        if not isinstance(option, Mapping) or "bounds" not in option:
            raise InputError(
                "intervals: each of levels is written as {bounds: [...], labels: [...]}",
                code="hierarchy-option-invalid",
            )
        refuse_unknown(option, ("bounds", "labels"), where="intervals: levels")
        return cls(**option)

    def to_dict(self) -> dict[str, object]:
        """The level as a plan writes it."""
        bounds = [plain_number(exact_number(bound, option="bounds")) for bound in self.bounds]
        labels: dict[str, object] = {} if self.labels is None else {"labels": list(self.labels)}
        return {"bounds": bounds, **labels}


@dataclass(frozen=True)
class Step:
    """One level in scaled whole numbers: equal widths between two edges, or all edges given."""

    edges: tuple[int, ...]
    width: int | None = None
    labels: Sequence[str] | None = None

    def place(self, floors: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Start and end of the interval of each number; the last interval is cut off at the upper edge."""
        lower, upper = self.edges[0], self.edges[-1]
        within = np.clip(floors, lower, upper - 1)
        if self.width is not None:
            starts = lower + (within - lower) // self.width * self.width
            ends = np.minimum(starts + self.width, upper)
        else:
            edges = np.array(self.edges, dtype=np.int64)
            position = np.searchsorted(edges, within, side="right")
            starts, ends = edges[position - 1], edges[position]
        return np.where(floors < lower, BELOW, np.where(floors >= upper, ABOVE, starts)), ends

    def shares(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
        """Width / range of each interval; a group outside the range counts like the widest interval."""
        span = self.edges[-1] - self.edges[0]
        widest = max(second - first for first, second in pairwise(self.edges))
        widest = min(self.width or widest, span)
        outside = (starts == BELOW) | (starts == ABOVE)
        return np.where(outside, widest, ends - starts) / span
