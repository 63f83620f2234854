"""Metrics of information loss; a cost is lower = better."""

from __future__ import annotations

from kohorte.errors import member_named
from kohorte.quality.aecs import Aecs
from kohorte.quality.base import Costing, Metric
from kohorte.quality.discernibility import Discernibility, DiscernibilityMonotone
from kohorte.quality.entropy import Entropy, NonUniformEntropy, NonUniformEntropySuppression
from kohorte.quality.height import Height
from kohorte.quality.loss import Loss
from kohorte.quality.precision import Precision, PrecisionMonotone

METRICS: tuple[type[Metric], ...] = (
    Height,
    Precision,
    PrecisionMonotone,
    Loss,
    Aecs,
    Discernibility,
    DiscernibilityMonotone,
    Entropy,
    NonUniformEntropy,
    NonUniformEntropySuppression,
)

__all__ = [
    "METRICS",
    "Aecs",
    "Costing",
    "Discernibility",
    "DiscernibilityMonotone",
    "Entropy",
    "Height",
    "Loss",
    "Metric",
    "NonUniformEntropy",
    "NonUniformEntropySuppression",
    "Precision",
    "PrecisionMonotone",
    "metric_named",
]


def metric_named(name: str) -> Metric:
    """Return the metric of a plan's name."""
    return member_named(name, METRICS, what="metric", code="metric-unknown")()
