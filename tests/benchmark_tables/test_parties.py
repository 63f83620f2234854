"""ADULT and CUP at three parties, divided as published: the joint release is that of all rows in one table.

The columns are divided as in Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für
Anonymität, dissertation, Technische Universität München, 2015, table 4.2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.parties.joint import JointRelease
from testbed import joint, tables

TABLES = ("adult", "cup")
DISTRIBUTIONS = ("horizontal", "vertical")
MODELS = {
    "distinct": {"model": "l-diversity_distinct", "l": 2},
    "recursive": {"model": "l-diversity_recursive", "c": 4, "l": 3},
    "hierarchical": {"model": "t-closeness_hierarchical", "t": 0.2},
}
SENSITIVE_PLANS = ("distinct-5%", "recursive-5%", "hierarchical-5%")
PLANS = ("k5-0%", "k5-5%", *SENSITIVE_PLANS)


def plan_of(table: str, title: str) -> ko.Plan:
    model, _, limit = title.rpartition("-")
    share = int(limit.rstrip("%")) / 100
    if model == "k5":
        return tables.plan(table, k=5, limit=share, metric="non_uniform_entropy")
    return tables.sensitive_plan(table, limit=share, models=[MODELS[model]])


@pytest.fixture(scope="module")
def frames(benchmark_folder: Path) -> dict[str, pl.DataFrame]:
    return {name: ko.read_table(benchmark_folder / f"{name}.csv").frame for name in TABLES}


def assert_as_pooled(
    frame: pl.DataFrame, plan: ko.Plan, folder: Path, *, table: str, kind: tuple[str, str]
) -> JointRelease:
    """Run a study of three parties, and compare its release with that of all rows in one table."""
    protocol, distribution = kind
    columns = joint.COLUMNS[table, 3]
    vertical = distribution == "vertical"
    parts = joint.divided_columns(frame, columns) if vertical else joint.divided_rows(frame, 3)
    file = joint.study_file(
        folder, plan, protocol=protocol, parties=dict(zip(parts, columns, strict=True)), vertical=vertical
    )
    release, _ = joint.in_threads(file, parts)
    pooled = ko.anonymize(frame, plan)
    figures = release.figures
    assert figures["optimal"]
    assert figures["levels"] == pooled.levels
    assert figures["cost"] == pytest.approx(pooled.cost, rel=1e-12)
    assert (figures["suppressed"], figures["classes"]) == (pooled.suppressed, pooled.classes)
    assert figures["rows"] == frame.height
    names = list(plan.attributes)
    rows = [one.select(pl.col(names).cast(pl.String)).sort(names) for one in (release.frame, pooled.data)]
    assert rows[0].equals(rows[1])
    return release


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize(("protocol", "rows"), [("A", 300), ("B", 30_162), ("C", 300)])
def test_the_first_rows_of_adult_are_released_as_if_pooled(
    frames: dict[str, pl.DataFrame], protocol: str, rows: int, distribution: str, tmp_path: Path
) -> None:
    frame = frames["adult"].head(rows)
    assert frame.height == rows
    plan = plan_of("adult", "k5-5%" if protocol != "C" else "k5-0%")
    assert_as_pooled(frame, plan, tmp_path, table="adult", kind=(protocol, distribution))


@pytest.mark.parametrize("title", SENSITIVE_PLANS)
def test_the_first_rows_of_cup_are_released_as_if_pooled(
    frames: dict[str, pl.DataFrame], title: str, tmp_path: Path
) -> None:
    frame = frames["cup"].head(2_000)
    assert_as_pooled(frame, plan_of("cup", title), tmp_path, table="cup", kind=("B", "vertical"))


@pytest.mark.slow
@pytest.mark.parametrize("title", PLANS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("protocol", ["A", "B"])
def test_the_release_of_all_rows_is_as_if_pooled(
    frames: dict[str, pl.DataFrame], protocol: str, distribution: str, table: str, title: str, tmp_path: Path
) -> None:
    assert_as_pooled(frames[table], plan_of(table, title), tmp_path, table=table, kind=(protocol, distribution))


# Protocol C: every counter is added up under encryption, so that a search with many checks takes minutes


def assert_disguised(release: JointRelease) -> None:
    """No class is so small that it can only have dummy rows, and dummy rows are hardly told from real ones."""
    joint: Any = release.certificate.facts["joint"]
    assert joint["dummy_rows"]["exposed"] == 0
    assert joint["dummy_rows"]["told"] < 0.62


ALL_ROWS = [
    *((table, distribution, "k5-0%") for table in TABLES for distribution in DISTRIBUTIONS),
    ("adult", "vertical", "k5-5%"),
    ("adult", "horizontal", "distinct-5%"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("table", "distribution", "title"), ALL_ROWS)
def test_the_release_of_all_rows_with_dummy_rows_and_counters_is_as_if_pooled(
    frames: dict[str, pl.DataFrame], table: str, distribution: str, title: str, tmp_path: Path
) -> None:
    plan = plan_of(table, title)
    assert_disguised(assert_as_pooled(frames[table], plan, tmp_path, table=table, kind=("C", distribution)))


@pytest.mark.slow
@pytest.mark.parametrize("title", ["k5-5%", "distinct-0%", *SENSITIVE_PLANS])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_counters_serve_every_model_with_and_without_suppression(
    frames: dict[str, pl.DataFrame], distribution: str, table: str, title: str, tmp_path: Path
) -> None:
    frame = frames[table].head(2_000)
    assert_as_pooled(frame, plan_of(table, title), tmp_path, table=table, kind=("C", distribution))
