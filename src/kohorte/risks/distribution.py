"""The distribution of risk: the share of rows whose risk lies in each of 24 intervals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from kohorte.risks.shown.table import ShownTable

LOWER_ENDS = (
    "50", "33.4", "25", "20", "16.7", "14.3", "12.5", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0.1", "0.01",
    "0.001", "0.0001", "0.00001", "0.000001", "0",
)  # fmt: skip
"""In percent; the intervals of ARX and of PRIORI (Leitner, Datenschutzgerechte Forschungsschnittstelle, 2020)."""


@dataclass(frozen=True)
class RiskInterval:
    """The rows whose risk (1 / size of their class) lies in an interval; `share_up_to` includes lower intervals."""

    interval: str
    rows: int
    share: float
    share_up_to: float

    def to_dict(self) -> dict[str, object]:
        """The interval as plain data, with the names of PRIORI."""
        return {
            "interval": self.interval,
            "records_with_maximal_risk_within_interval": self.share_up_to,
            "records_with_risk_within_interval": self.share,
            "rows": self.rows,
        }


def distribution(table: ShownTable) -> tuple[RiskInterval, ...]:
    """Count the rows in each interval, without suppressed rows, the highest risk first; bounds are exact."""
    rows = table.kept_rows
    found, smaller = [], 0
    for name, (above, largest) in zip(_names(), pairwise([0, *_largest_classes()]), strict=True):
        count = int(table.sizes[(table.sizes > above) & (table.sizes <= largest)].sum())
        found.append(RiskInterval(name, count, count / rows if rows else 0.0, (rows - smaller) / rows if rows else 0.0))
        smaller += count
    return tuple(found)


def _largest_classes() -> list[int]:
    """The largest class whose risk reaches the lower end of each interval."""
    return [int(100 / Fraction(end)) if Fraction(end) else 2**62 for end in LOWER_ENDS]


def _names() -> list[str]:
    return ["[50,100]", *(f"[{low},{high})" for high, low in pairwise(LOWER_ENDS))]
