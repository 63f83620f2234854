"""The simulation of `python -m benchmarks series` in small: a growing cohort, released twelve times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed import growing_cohort as simulation

pytestmark = pytest.mark.slow

ROWS, EARLY = 8_000, 800
SIZES = simulation.sizes_of(12, 500, ROWS)


@pytest.fixture(scope="module")
def cohorts() -> simulation.Cohorts:
    return simulation.Cohorts.of(ROWS, ROWS // 2)


def test_a_series_keeps_its_promises_and_loses_little_more_than_mondrian(cohorts: simulation.Cohorts) -> None:
    run = simulation.release_all(cohorts.setting(simulation.USUAL), cohorts.table, SIZES, verified=(1, 6))
    assert run.satisfied
    assert run.candidates >= simulation.K
    assert (np.diff(run.losses) <= 0).all()
    assert run.beside_regions <= simulation.MOST_BESIDE_MONDRIAN
    assert run.beside_cells <= 1.6


def test_a_target_helps_where_the_first_rows_are_not_like_the_others(cohorts: simulation.Cohorts) -> None:
    """With so few rows it helps where attributes go together; with the usual ones it gains a few percent only."""
    setting = cohorts.setting(("age", "zip", "occupation"))
    table = simulation.recruited_unevenly(cohorts.table, EARLY)
    alone = simulation.release_all(setting, table, SIZES)
    led = simulation.release_all(setting, table, SIZES, target=cohorts.target(), other=cohorts.other)
    assert alone.satisfied
    assert led.satisfied
    assert led.losses[-1] <= (1 - simulation.LEAST_GAIN) * alone.losses[-1]


def test_the_first_rows_come_from_one_age_band_and_one_region(cohorts: simulation.Cohorts) -> None:
    table = simulation.recruited_unevenly(cohorts.table, EARLY)
    assert table[:EARLY]["age"].cast(int).is_between(60, 69).all()
    assert table[:EARLY]["zip"].str.starts_with("0").all()
    assert table.sort("ssn").equals(cohorts.table.sort("ssn"))


def test_the_plain_mondrian_of_the_benchmark_is_the_one_of_the_package(
    cohorts: simulation.Cohorts, tmp_path: Path
) -> None:
    """Measured by the values that occur in its regions, it loses the same, but for ties."""
    setting, names = cohorts.setting(simulation.USUAL), simulation.USUAL
    series = simulation.ko.Series.start(tmp_path / "series", setting.plan(), setting.domains(tmp_path, None))
    axes, table = series.definition.axes, cohorts.table.select(*names, "diagnosis")
    positions = np.stack([axis.positions(table[axis.name]) for axis in axes], axis=1)
    diagnoses = table["diagnosis"].rank("dense").to_numpy().astype(np.int64)
    _, region_of = simulation.mondrian_regions(positions, diagnoses, [axis.length for axis in axes], k=5, distinct=3)
    own = np.mean([simulation.share_of_values(axis, table, region_of) for axis in axes])
    assert own == pytest.approx(setting.mondrian_losses(table, series)[1], rel=0.03)
