"""A series for trying out the service: a made-up registry that grew from year to year."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kohorte.plans import Plan
from kohorte.series import Series

NAME = "registry"
YEARS = 4
PLAN = {
    "kohorte": 1,
    "title": "A made-up registry",
    "person": "none",
    "attributes": {
        "ssn": {"role": "identifying"},
        "name": {"role": "identifying"},
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"order": "right_to_left"}}},
        "sex": {
            "role": "quasi-identifying",
            "hierarchy": {"ordering": {"values": ["female", "male", "diverse"], "fanouts": []}},
        },
        "birth_date": {
            "role": "quasi-identifying",
            "hierarchy": {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year", "decade"]}},
        },
        **{name: {"role": "identifying"} for name in ("occupation", "admission_date", "diagnosis")},
        "blood_group": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "suppression_limit": 1,
}
SETTINGS = {
    "identified_by": "ssn",
    "regions": {"zip": {"digits": 5}, "birth_date": {"lower": "1900-01-01", "upper": "2030-01-01"}},
}


def start_series(folder: Path, table: pl.DataFrame) -> None:
    """Start a series in a folder of the service, and make its releases: every year a part of the table came."""
    series = Series.start(folder / NAME, Plan.from_dict(PLAN), SETTINGS)
    for year in range(1, YEARS):
        series.release(table.head(table.height * year // YEARS))
