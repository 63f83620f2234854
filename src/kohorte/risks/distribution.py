"""The distribution of risk: the share of rows, or of people, whose risk lies in each of 24 intervals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.risks.shown.alike import Alike

LOWER_ENDS = (
    "50", "33.4", "25", "20", "16.7", "14.3", "12.5", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0.1", "0.01",
    "0.001", "0.0001", "0.00001", "0.000001", "0",
)  # fmt: skip
"""In percent; the intervals of ARX and of PRIORI (Leitner, Datenschutzgerechte Forschungsschnittstelle, 2020)."""


@dataclass(frozen=True)
class RiskInterval:
    """The rows or people whose risk (1 / those who look alike) lies in an interval.

    The risk of a person is the highest of their rows. `share_up_to` includes lower intervals.
    """

    interval: str
    count: int
    share: float
    share_up_to: float
    unit: Unit = ROWS

    def to_dict(self) -> dict[str, object]:
        """The interval as plain data, with the names of PRIORI; where people are counted, they say people."""
        who = "people" if self.unit is PEOPLE else "records"
        return {
            "interval": self.interval,
            f"{who}_with_maximal_risk_within_interval": self.share_up_to,
            f"{who}_with_risk_within_interval": self.share,
            self.unit.many: self.count,
        }


def distribution(table: Alike) -> tuple[RiskInterval, ...]:
    """Count the rows or people in each interval, without suppressed rows, the highest risk first; bounds are exact."""
    everyone, sizes = table.count, table.sizes
    counts = table.at_highest(np.asarray(1 / np.maximum(sizes, 1), dtype=np.float64))
    found, smaller = [], 0
    for name, (above, largest) in zip(_names(), pairwise([0, *_largest_classes()]), strict=True):
        here = int(counts[(sizes > above) & (sizes <= largest)].sum())
        shares = (here / everyone, (everyone - smaller) / everyone) if everyone else (0.0, 0.0)
        found.append(RiskInterval(name, here, *shares, table.unit))
        smaller += here
    return tuple(found)


def _largest_classes() -> list[int]:
    """The largest class whose risk reaches the lower end of each interval."""
    return [int(100 / Fraction(end)) if Fraction(end) else 2**62 for end in LOWER_ENDS]


def _names() -> list[str]:
    return ["[50,100]", *(f"[{low},{high})" for high, low in pairwise(LOWER_ENDS))]
