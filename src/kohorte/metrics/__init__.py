"""Metrics of information loss; a lower cost is better."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kohorte.errors import InputError, member_named
from kohorte.metrics.aecs import Aecs
from kohorte.metrics.base import Costing, Metric
from kohorte.metrics.classification import Classification
from kohorte.metrics.discernibility import Discernibility, DiscernibilityMonotone
from kohorte.metrics.entropy import Entropy, NonUniformEntropy, NonUniformEntropySuppression
from kohorte.metrics.height import Height
from kohorte.metrics.loss import Loss
from kohorte.metrics.precision import Precision, PrecisionMonotone
from kohorte.metrics.query_loss import QueryLoss

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
    Classification,
    QueryLoss,
)

PLAIN_METRICS: tuple[type[Metric], ...] = tuple(metric for metric in METRICS if not fields(metric))  # type: ignore[arg-type]
"""The metrics without parameters, which apply to every table."""

__all__ = [
    "METRICS",
    "PLAIN_METRICS",
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
    "QueryLoss",
    "metric_named",
]


def metric_named(name: str, **parameters: Any) -> Metric:
    """Return the metric of this name, with its parameters if it has any."""
    metric: Any = member_named(name, METRICS, what="metric", code="metric-unknown")
    known = [parameter.name for parameter in fields(metric)]
    if set(parameters) != set(known):
        wanted = f"needs {', '.join(known)}" if known else "takes no parameters"
        raise InputError(f"metric {name} {wanted}", code="metric-parameter")
    found: Metric = metric(**parameters)
    return found
