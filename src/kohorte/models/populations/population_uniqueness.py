"""A threshold for the share of the population that is unique in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.errors import InputError, nearest
from kohorte.estimators import ESTIMATORS, Estimate, Sample
from kohorte.groups import Groups
from kohorte.models.base import PrivacyModel
from kohorte.models.parameters import number


@dataclass(frozen=True)
class PopulationUniqueness(PrivacyModel):
    """A threshold for the estimated share of the population that is unique in it.

    Guarantee
        According to the `estimator`, at most the share `threshold` of the people of the population are unique in it by
        their quasi-identifiers, if the kept rows are a simple random sample of it with the fraction
        `sampling_fraction`. If there is no estimate, the model does not hold.
    Guarantee for people
        According to the `estimator`, at most the share `threshold` of the people of the population are unique in it by
        their quasi-identifiers, if the people with a row that is not suppressed are a simple random sample of it with
        the fraction `sampling_fraction`. If there is no estimate, the model does not hold.
    Leaves open
        It is an estimate, which can be too low. Individual people: a person who is unique in the release may be unique
        in the population. People who are not unique but nearly so. Attackers who know who is in the table. Combine it
        with k-anonymity. Attribute disclosure.
    Monotone
        No: the estimate can be higher for coarser classes.
    Source
        Dankar, El Emam, Neisa and Roffey, Estimating the Re-identification Risk of Clinical Data Sets, BMC Medical
        Informatics and Decision Making 12:66, 2012. The estimators are those of Zayatz (1991), Chen and Keller-McNulty
        (1998) and Hoshino (2001); see kohorte.estimators.
    """

    threshold: float
    sampling_fraction: float
    estimator: str = "dankar"

    name: ClassVar[str] = "population-uniqueness"
    example: ClassVar[str] = "{model: population-uniqueness, threshold: 0.01, sampling_fraction: 0.05}"
    about_all: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number("threshold", self.threshold, least=0, most=1)
        number("sampling_fraction", self.sampling_fraction, above=0, most=1)
        if self.estimator not in tuple(ESTIMATORS):
            raise InputError(
                f"estimator must be one of {', '.join(ESTIMATORS)}{nearest(str(self.estimator), ESTIMATORS)}",
                code="model-parameter",
            )

    def holds(self, groups: Groups) -> bool:
        """Tell whether few people of the population are unique; False if this cannot be estimated."""
        if not len(groups.kept_sizes):
            return True
        share = self.reached(groups)
        return share is not None and share <= self.threshold

    def reached(self, groups: Groups) -> float | None:
        """The estimated share of the population; None if there is no estimate."""
        sample = Sample.of(groups.kept_sizes, float(self.sampling_fraction))
        uniques = self.estimate(sample).uniques if sample.rows else None
        return None if uniques is None else uniques / sample.population

    def estimate(self, sample: Sample) -> Estimate:
        """The estimate, with a reason if there is none."""
        return ESTIMATORS[self.estimator](sample)
