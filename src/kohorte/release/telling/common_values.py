"""What a class tells although the models hold: a sensitive value that everybody in it has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kohorte.groups import Groups, Histogram

EVERYBODY = "everybody in some classes has the same value of"


def common_points(groups: Groups) -> tuple[str, ...]:
    """Say of which sensitive attributes some class tells the value of everybody; without numbers and values.

    Diversity rules this out. Models that compare a class with the whole table do not, where the value is common in the
    table, or where people have several values.
    """
    return tuple(_said(groups))


def _said(groups: Groups) -> Iterator[str]:
    for name, histogram in groups.histograms.items():
        if _is_common(histogram):
            yield (
                f"{EVERYBODY} {name!r}: somebody who knows whose class it is learns the value without finding the row; "
                f"l-diversity for {name!r} in the plan rules this out"
            )


def _is_common(histogram: Histogram) -> bool:
    return bool((histogram.counts >= np.repeat(histogram.sizes, histogram.distinct)).any())
