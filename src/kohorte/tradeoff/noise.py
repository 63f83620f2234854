"""The expected error of noisy counts over epsilon, for groups of the size that this table has.

The noise is that of `kohorte query` (discrete Laplace, one count that each person changes by at most 1). It does not
depend on the table; how much it matters does: the same error is nothing for everybody, and too much for a small group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kohorte.dp.budget.budget import Composition
from kohorte.dp.noise.mechanisms import Noise, Share
from kohorte.errors import InputError
from kohorte.tradeoff.settings import tried_epsilons

CONFIDENCE = 0.95
PARTS = (1, 10, 100)
"""The groups whose counts are compared with the error: everybody, one in ten, one in a hundred."""


@dataclass(frozen=True)
class NoiseSetting:
    """The error that a count exceeds in at most one of twenty answers, for one epsilon."""

    epsilon: float
    error: float


@dataclass(frozen=True)
class NoiseCurve:
    """The errors by epsilon, and the sizes of the groups to compare them with, the largest first."""

    settings: tuple[NoiseSetting, ...]
    groups: tuple[int, ...]

    def relative(self, setting: NoiseSetting, group: int) -> float:
        """The error as a share of a group; 1 if it is larger than the group."""
        return min(1.0, setting.error / group)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve for programs."""
        return {
            "confidence": CONFIDENCE,
            "groups": list(self.groups),
            "settings": [
                {**vars(one), "relative": [self.relative(one, group) for group in self.groups]} for one in self.settings
            ],
        }


def noise_curve(epsilons: Sequence[float] | None, size: int) -> NoiseCurve | None:
    """Return the errors of a count on a table of this size; None if the libraries of queries are not installed."""
    wanted = tried_epsilons(epsilons)
    groups = tuple(dict.fromkeys(max(1, size // part) for part in PARTS))
    try:
        return NoiseCurve(tuple(NoiseSetting(epsilon, _error(epsilon)) for epsilon in wanted), groups)
    except InputError as error:
        if error.code != "query-library-missing":
            raise
        return None


def _error(epsilon: float) -> float:
    return Noise(Share(Composition.PURE, epsilon), 1.0).half_width(1 - CONFIDENCE)
