"""A growing cohort, released many times: what a series loses compared with one release of the final table.

Both are measured on the same axes: the share of the domain that is not told apart. Mondrian is measured twice: by its
regions, as the series is, and by its cells, which end at the values that occur.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

import kohorte as ko
from kohorte.cohorts import hierarchy_files
from kohorte.data.strict_yaml import load
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.region_cells import region_loss
from kohorte.series.settings import SeriesSettings
from testbed.plain_mondrian import mondrian_regions

USUAL = ("age", "zip", "admission_date")

K, DISTINCT = 5, 3
MOST_BESIDE_MONDRIAN = 1.3
LEAST_GAIN = 0.15


def patients(rows: int, *, seed: int = 3) -> pl.DataFrame:
    """A made-up cohort with the age at the end of 2024; a longer one begins with the shorter one."""
    born = pl.col("birth_date").str.slice(0, 4).cast(pl.Int64)
    return ko.cohort(rows, seed=seed, wide=True).with_columns((2024 - born).cast(pl.String).alias("age"))


def recruited_unevenly(table: pl.DataFrame, early: int) -> pl.DataFrame:
    """The same rows, but the first come from one age band and one region."""
    band = pl.col("age").cast(pl.Int64).is_between(60, 69) & pl.col("zip").str.starts_with("0")
    first = table.with_row_index("row").filter(band)["row"].head(early)
    return pl.concat([table[first], table.with_row_index("row").filter(~pl.col("row").is_in(first)).drop("row")])


@dataclass(frozen=True)
class Setting:
    """The quasi-identifiers, all postal codes, and what the models ask for."""

    names: Sequence[str]
    zips: Sequence[str]

    def plan(self, **changes: object) -> ko.Plan:
        """k = 5 and three different diagnoses; nobody is held back."""
        attributes: dict[str, object] = {
            name: {"role": "quasi-identifying", "hierarchy": _hierarchy(name)} for name in self.names
        }
        entry = {
            "kohorte": 1,
            "attributes": attributes | {"diagnosis": {"role": "sensitive"}},
            "models": [
                {"model": "k-anonymity", "k": K},
                {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": DISTINCT},
            ],
            "suppression_limit": 0.0,
        }
        return ko.Plan.from_dict(entry | changes)

    def domains(self, folder: Path, target: Mapping[str, object] | None) -> SeriesSettings:
        """The domains that the hierarchies do not tell, and the target."""
        known: dict[str, dict[str, object]] = {
            "zip": {"values": list(self.zips)},
            "admission_date": {"lower": "2022-01-01", "upper": "2025-01-01", "step": "day"},
        }
        regions = {name: known[name] for name in self.names if name in known}
        return SeriesSettings(regions=regions, target=target, folder=folder)

    def mondrian_losses(self, table: pl.DataFrame, series: ko.Series) -> tuple[float, float]:
        """What one release of the table by Mondrian loses: by its regions, and by the values that occur in each."""
        axes = series.definition.axes
        places = np.stack([axis.positions(table[axis.name]) for axis in axes], axis=1)
        diagnoses = table["diagnosis"].rank("dense").cast(pl.Int64).to_numpy()
        regions, region_of = mondrian_regions(places, diagnoses, [axis.length for axis in axes], k=K, distinct=DISTINCT)
        plan = self.plan(search={"algorithm": "mondrian"}, output={"order": "input"})
        shown = ko.anonymize(table, plan).data.select(self.names)
        class_of = shown.select(pl.struct(pl.all()).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1
        return (
            region_loss(axes, series.definition.weights, regions, region_of, rows=table.height),
            float(np.mean([share_of_values(axis, table, class_of) for axis in axes])),
        )


def share_of_values(axis: Axis, table: pl.DataFrame, class_of: NDArray[np.int64]) -> float:
    """The share of an axis between the first and the last place of each class, in the mean over all rows."""
    places = axis.positions(table[axis.name])
    low, high = np.full(class_of.max() + 1, axis.length), np.zeros(class_of.max() + 1, dtype=np.int64)
    np.minimum.at(low, class_of, places)
    np.maximum.at(high, class_of, places + 1)
    return float(axis.shares(low, high)[class_of].mean())


def _hierarchy(name: str) -> object:
    match name:
        case "age":
            return {"intervals": {"lower": 0, "upper": 110, "widths": [5, 10, 20], "integer": True}}
        case "height_cm":
            return {"intervals": {"lower": 0, "upper": 220, "widths": [5, 10, 20], "integer": True}}
        case "zip":
            return {"redaction": {"order": "right_to_left"}}
        case "admission_date":
            return {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year"]}}
        case _:
            file = f"{name}.yaml"
            return {"tree": load(hierarchy_files(wide=True)[file], source=file, code="benchmark")}


@dataclass(frozen=True)
class Run:
    """What came out of a series: its losses over time, its slowest release, and whether it always kept its promises."""

    losses: tuple[float, ...]
    slowest: float
    satisfied: bool
    candidates: int
    seconds: float
    beside_regions: float
    beside_cells: float


def release_all(
    setting: Setting,
    table: pl.DataFrame,
    sizes: Sequence[int],
    *,
    target: Mapping[str, object] | None = None,
    other: pl.DataFrame | None = None,
    verified: Sequence[int] = (),
) -> Run:
    """Release a growing table through a series, written to files, and verify it now and then and in the end."""
    table = table.select(*setting.names, "diagnosis")
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name), perf_counter()
        if other is not None:
            other.select(*setting.names, "diagnosis").write_csv(folder / "other.csv")
        series = ko.Series.start(folder / "series", setting.plan(), setting.domains(folder, target))
        losses, seconds, verdicts = [], [], []
        for number, rows in enumerate(sizes, start=1):
            begun = perf_counter()
            losses.append(series.release(table[:rows], folder / f"release-{number}.csv").loss)
            seconds.append(perf_counter() - begun)
            if number in verified or number == len(sizes):
                verdicts.append(series.verify(table[:rows], sorted(folder.glob("release-*.csv"))))
        regions, cells = setting.mondrian_losses(table, series)
        return Run(
            tuple(losses),
            max(seconds),
            all(verdict.satisfied for verdict in verdicts),
            min(release.candidates or 0 for verdict in verdicts for release in verdict.releases),
            perf_counter() - started,
            losses[-1] / regions,
            losses[-1] / cells,
        )


def sizes_of(releases: int, first: int, last: int) -> list[int]:
    """How many rows the table has at each release."""
    return [int(rows) for rows in np.linspace(first, last, releases)]


@dataclass(frozen=True)
class Cohorts:
    """The table that grows, and another study of the same kind of people, from which the target is made."""

    table: pl.DataFrame
    other: pl.DataFrame

    @classmethod
    def of(cls, rows: int, other_rows: int) -> Cohorts:
        """Make both up."""
        return cls(patients(rows), patients(other_rows, seed=77))

    def setting(self, names: Sequence[str]) -> Setting:
        """These attributes, with every postal code that there is."""
        return Setting(names, sorted({*self.table["zip"], *self.other["zip"]}))

    def target(self, **options: object) -> dict[str, object]:
        """A target from the other study."""
        return {"expected_rows": self.table.height, "data": "other.csv", **options}
