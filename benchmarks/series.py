"""A growing cohort, released fifty times: what a series loses beside one release of the final table.

`python -m benchmarks series` runs all of it, and also attributes on which a series does badly. All are measured on the
same axes: the share of the domain that is not told apart. Mondrian is measured twice: by its regions, as the series is,
and by its cells, which end at the values that occur.
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
from benchmarks.plain_mondrian import mondrian_regions
from benchmarks.report import Line
from kohorte.data.cohort import hierarchy_files
from kohorte.data.strict_yaml import load
from kohorte.series.domain.axis import Axis
from kohorte.series.output import region_loss
from kohorte.series.settings import SeriesSettings

RELEASES, FIRST, LAST = 50, 1_000, 100_000
EARLY = 10_000
"""How many rows of the unrepresentative cohort come from one age band and one region before anybody else."""

USUAL = ("age", "zip", "admission_date")
CORRELATED = (("age", "zip", "occupation"), ("age", "height_cm", "zip"), ("age", "ward", "zip"))

K, DISTINCT = 5, 3
MOST_BESIDE_MONDRIAN = 1.3
LEAST_GAIN = 0.15
SECONDS_OF_A_RELEASE = 3.0
VERIFIED = (1, 10, 25)
"""After which releases the series is verified, besides after the last."""


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
        known = {
            "zip": {"values": list(self.zips)},
            "admission_date": {"lower": "2022-01-01", "upper": "2025-01-01", "step": "day"},
        }
        regions = {name: known[name] for name in self.names if name in known}
        return SeriesSettings(regions=regions, target=target, folder=folder)

    def mondrian_losses(self, table: pl.DataFrame, series: ko.Series) -> tuple[float, float]:
        """What one release of the table by Mondrian loses: by its regions, and by the values that occur in each."""
        axes = series.definition.axes
        places = np.stack([axis.place(table[axis.name]) for axis in axes], axis=1)
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
    places = axis.place(table[axis.name])
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


def simulation() -> list[Line]:
    """The growing cohort, evenly recruited and not; with a target and without."""
    cohorts, sizes = Cohorts.of(LAST, LAST // 5), sizes_of(RELEASES, FIRST, LAST)
    setting, uneven = cohorts.setting(USUAL), recruited_unevenly(cohorts.table, EARLY)
    even = release_all(setting, cohorts.table, sizes, verified=VERIFIED)
    alone = release_all(setting, uneven, sizes)
    led = release_all(setting, uneven, sizes, target=cohorts.target(), other=cohorts.other)
    gained = 1 - led.losses[-1] / alone.losses[-1]
    runs = (even, alone, led)
    return [
        Line(
            f"{RELEASES} releases, {FIRST:,} to {LAST:,} rows, beside Mondrian",
            even.satisfied and even.candidates >= K and even.beside_regions <= MOST_BESIDE_MONDRIAN,
            even.seconds,
            target=240.0,
            note=f"loss {even.losses[-1]:.4f}, {even.beside_regions:.2f} x Mondrian's regions "
            f"(target {MOST_BESIDE_MONDRIAN}), {even.beside_cells:.2f} x its cells",
        ),
        Line(
            f"the first {EARLY:,} rows from one age band and one region",
            alone.satisfied and led.satisfied and gained >= LEAST_GAIN,
            alone.seconds + led.seconds,
            target=360.0,
            note=f"loss {alone.losses[-1]:.4f}, with a target {led.losses[-1]:.4f}: {gained:.1%} less "
            f"(target {LEAST_GAIN:.0%})",
        ),
        Line(
            f"the slowest release of up to {LAST:,} rows, written and verified",
            all(run.satisfied for run in runs),
            max(run.slowest for run in runs),
            target=SECONDS_OF_A_RELEASE,
        ),
    ]


def correlated() -> list[Line]:
    """Attributes that go together: a region has to cover combinations that nobody has."""
    cohorts, sizes = Cohorts.of(LAST, LAST // 5), sizes_of(RELEASES, FIRST, LAST)
    return [line for names in CORRELATED for line in _compared(cohorts, names, sizes)]


def _compared(cohorts: Cohorts, names: Sequence[str], sizes: Sequence[int]) -> list[Line]:
    setting, lines = cohorts.setting(names), []
    for how, table in (("even", cohorts.table), ("uneven", recruited_unevenly(cohorts.table, EARLY))):
        once = release_all(setting, table, sizes[-1:])
        alone = release_all(setting, table, sizes)
        led = release_all(setting, table, sizes, target=cohorts.target(), other=cohorts.other)
        note = (
            f"loss {alone.losses[-1]:.4f}: {alone.beside_regions:.2f} x Mondrian's regions, {alone.beside_cells:.2f} x "
            f"its cells, {alone.losses[-1] / once.losses[-1]:.2f} x a single release; with a target "
            f"{led.losses[-1] / alone.losses[-1] - 1:+.1%}, {led.beside_cells:.2f} x Mondrian's cells"
        )
        runs = (once, alone, led)
        right = all(run.satisfied and run.candidates >= K for run in runs)
        slowest = max(run.slowest for run in runs)
        lines.append(Line(f"{', '.join(names)}: {how}", right, slowest, target=SECONDS_OF_A_RELEASE, note=note))
    return lines


def main() -> int:
    """Run all of it; exit code 1 when a promise or a target is missed."""
    missed = False
    for part in (simulation, correlated):
        for line in part():
            print(line.text(), flush=True)
            missed = missed or not line.right or not line.within
    return 1 if missed else 0
