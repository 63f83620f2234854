"""What a release of a series looks like: cells that name the regions of their rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.hierarchy import SafeHarbor
from kohorte.kernels.arrays import Floats
from kohorte.models import SafeHarborRule
from kohorte.recoding.base import refuse_models
from kohorte.release.plan import Plan
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions
from kohorte.series.memory.fingerprints import row_texts

Numbers = NDArray[np.int64]


def refuse_plan(plan: Plan) -> None:
    """Refuse what a series cannot promise across its releases."""
    if plan.decorrelate is not None:
        raise InputError(
            "a plan with decorrelate suppresses values by chance: doing it again in every release would show what was "
            "suppressed before; leave it out",
            code="series-plan",
        )
    reason = refuse_models(plan.models)
    if reason is not None:
        raise InputError(f"a series cannot keep this plan: {reason}", code="series-plan")
    if any(isinstance(model, SafeHarborRule) for model in plan.models) or any(
        isinstance(attribute.hierarchy, SafeHarbor) for attribute in plan.attributes.values()
    ):
        raise InputError("a series cannot keep the rules of Safe Harbor, which are about columns", code="series-plan")


def output_frame(
    frame: pl.DataFrame, plan: Plan, axes: Sequence[Axis], regions: Regions, region_of: Numbers
) -> pl.DataFrame:
    """The rows with the labels of their regions, without identifying columns."""
    shown = [
        pl.Series(axis.name, labels, dtype=pl.String).gather(kinds[region_of])
        for axis, (labels, kinds) in zip(axes, region_labels(axes, regions), strict=True)
    ]
    return frame.drop(plan.names(Role.IDENTIFYING)).with_columns(shown)


def region_labels(axes: Sequence[Axis], regions: Regions) -> list[tuple[list[str | None], Numbers]]:
    """For each axis the labels that occur, and which of them each region has."""
    found = []
    for number, axis in enumerate(axes):
        ends = np.stack([regions.lows[:, number], regions.highs[:, number]], axis=1)
        pairs, kinds = np.unique(ends, axis=0, return_inverse=True)
        found.append(([axis.label(low, high) for low, high in pairs.tolist()], kinds.reshape(-1).astype(np.int64)))
    return found


def content_sha256(data: pl.DataFrame) -> str:
    """The hash of what a table shows, whatever the order of its rows and the format of its file."""
    digest = hashlib.sha256(row_texts(pl.DataFrame({"names": data.columns}), ["names"]).str.join("").item().encode())
    digest.update("\n".join(row_texts(data, data.columns).sort().to_list()).encode())
    return digest.hexdigest()


def region_loss(
    axes: Sequence[Axis], weights: Sequence[float], regions: Regions, region_of: Numbers, *, rows: int
) -> float:
    """The share of the domain that a cell does not tell, in the mean over all cells; rows held back count 1."""
    return float(region_losses(axes, weights, regions)[region_of].sum() + rows - len(region_of)) / rows


def region_losses(axes: Sequence[Axis], weights: Sequence[float], regions: Regions) -> Floats:
    """The share of the domain that a cell of each region does not tell, in the mean over its attributes."""
    total = sum(weights) or 1.0
    lost: Floats = np.zeros(len(regions))
    for number, (axis, weight) in enumerate(zip(axes, weights, strict=True)):
        lost += weight / total * axis.shares(regions.lows[:, number], regions.highs[:, number])
    return lost
