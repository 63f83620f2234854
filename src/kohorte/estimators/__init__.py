"""Estimators of the number of people who are unique in the population, from a sample."""

from collections.abc import Callable, Mapping

from kohorte.estimators.dankar import dankar
from kohorte.estimators.pitman import pitman
from kohorte.estimators.sample import Estimate, Sample
from kohorte.estimators.snb import snb
from kohorte.estimators.zayatz import zayatz

ESTIMATORS: Mapping[str, Callable[[Sample], Estimate]] = {
    "dankar": dankar,
    "pitman": pitman,
    "snb": snb,
    "zayatz": zayatz,
}

__all__ = ["ESTIMATORS", "Estimate", "Sample", "dankar", "pitman", "snb", "zayatz"]
