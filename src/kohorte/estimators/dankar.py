"""The decision rule of Dankar, El Emam, Neisa and Roffey, which chooses an estimator by the sampling fraction."""

from __future__ import annotations

from kohorte.estimators.pitman import pitman
from kohorte.estimators.sample import Estimate, Sample
from kohorte.estimators.snb import snb
from kohorte.estimators.zayatz import zayatz


def dankar(sample: Sample) -> Estimate:
    """Estimate the population uniques with the estimator that was the most accurate on clinical tables.

    Definition
        Up to a sampling fraction of 0.1: Pitman. Above: the smaller estimate of Zayatz and the slide negative binomial
        model. If one of these models has no estimate: Zayatz, which always has one, usually too high.
    Source
        Dankar, El Emam, Neisa and Roffey, Estimating the Re-identification Risk of Clinical Data Sets, BMC Medical
        Informatics and Decision Making 12:66, 2012.
    """
    if sample.fraction <= 0.1:
        first = pitman(sample)
        return first if first.uniques is not None else zayatz(sample)
    one, other = zayatz(sample), snb(sample)
    if one.uniques is not None and other.uniques is not None and other.uniques < one.uniques:
        return other
    return one
