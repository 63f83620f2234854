"""Metrics of information loss; a cost is lower = better."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kohorte.errors import InputError, member_named
from kohorte.quality.aecs import Aecs
from kohorte.quality.base import Costing, Metric
from kohorte.quality.classification import Classification
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
"""The metrics without parameters: they can be asked of every table."""

__all__ = [
    "METRICS",
    "Aecs",
    "Classification",
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


def metric_named(name: str, **parameters: Any) -> Metric:
    """Return the metric of a plan's name, with its parameters where it has any."""
    family: tuple[Any, ...] = (*METRICS, Classification)
    metric: Any = member_named(name, family, what="metric", code="metric-unknown")
    known = [parameter.name for parameter in fields(metric)]
    if set(parameters) != set(known):
        wanted = f"needs {', '.join(known)}" if known else "takes no parameters"
        raise InputError(f"metric {name} {wanted}", code="metric-parameter")
    found: Metric = metric(**parameters)
    return found
