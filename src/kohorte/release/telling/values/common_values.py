"""What a class tells although the models hold: a sensitive value that everybody in it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kohorte.groups import Groups, Histogram
from kohorte.models import PrivacyModel
from kohorte.models.sensitive import SensitiveModel

EVERYBODY = "everybody in some classes has the same value of"


def common_points(groups: Groups, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
    """Say of which sensitive attributes some class tells the value of everybody; without numbers and values.

    Diversity rules this out. Models that compare a class with the whole table do not, where the value is common in the
    table, or where people have several values. A table that fails the diversity of its plan is not told to add it.
    """
    return tuple(_said(groups, models))


def demand_diversity(models: Sequence[PrivacyModel], name: str) -> bool:
    """Whether some model demands at least two different values of a sensitive attribute in every class."""
    own = (model for model in models if isinstance(model, SensitiveModel) and model.attribute == name)
    return any(model.fewest_values >= 2 for model in own)


def _said(groups: Groups, models: Sequence[PrivacyModel]) -> Iterator[str]:
    for name, histogram in groups.histograms.items():
        if _is_common(histogram):
            has = demand_diversity(models, name)
            yield (
                f"{EVERYBODY} {name!r}: somebody who knows whose class it is learns the value without finding the row"
                + ("" if has else f"; l-diversity for {name!r} in the plan rules this out")
            )


def _is_common(histogram: Histogram) -> bool:
    return bool((histogram.counts >= np.repeat(histogram.sizes, histogram.distinct)).any())
