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
        By the `estimator`, at most the share `threshold` of the people of the population differ from everybody else in
        it by their quasi-identifiers, if the rows that are kept are a simple random sample of it, of the share
        `sampling_fraction`. Where there is no estimate, the model does not hold.
    Leaves open
        It is an estimate, which can be too low. Single people: somebody who is unique in the release may be unique in
        the population. People who are not unique but nearly so. Whoever knows who is in the table. Combine it with
        k-anonymity. Attribute disclosure.
    Monotone
        No: the estimate can be higher for coarser classes.
    Source
        Dankar, El Emam, Neisa and Roffey, Estimating the Re-identification Risk of Clinical Data Sets, BMC Medical
        Informatics and Decision Making 12:66, 2012. The estimators: Zayatz 1991; Chen and Keller-McNulty 1998; Hoshino
        2001.
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
        """Tell whether few people of the population are unique, as far as can be estimated; in doubt, no."""
        if not len(groups.kept_sizes):
            return True
        share = self.reached(groups)
        return share is not None and share <= self.threshold

    def reached(self, groups: Groups) -> float | None:
        """The estimated share of the population; None where there is no estimate."""
        sample = Sample.of(groups.kept_sizes, float(self.sampling_fraction))
        uniques = self.estimate(sample).uniques if sample.rows else None
        return None if uniques is None else uniques / sample.population

    def estimate(self, sample: Sample) -> Estimate:
        """What the estimator says, and why where it says nothing."""
        return ESTIMATORS[self.estimator](sample)
