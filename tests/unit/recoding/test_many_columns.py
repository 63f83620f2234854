"""More quasi-identifiers than a 64-bit number has digits."""

from __future__ import annotations

import numpy as np
import polars as pl

import kohorte as ko
from kohorte.models import KAnonymity


def test_mondrian_releases_a_table_with_seventy_quasi_identifiers() -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({f"c{number}": random.integers(0, 4, 300).astype(str) for number in range(70)})
    plan = ko.Plan(
        {name: ko.Attribute("quasi-identifying") for name in frame.columns},
        [KAnonymity(5)],
        search=ko.SearchOptions(algorithm="mondrian"),
    )
    release = ko.anonymize(frame, plan)
    assert release.data.shape == (300, 70)
    assert release.data.group_by(pl.all()).len()["len"].min() >= 5  # type: ignore[operator]
    assert ko.verify(release.data, plan).satisfied
