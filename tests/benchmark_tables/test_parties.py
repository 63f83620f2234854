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
SENSITIVE_PLANS = ("distinct-5%", "recursive-5%", "hierarchical-5%")
PLANS = ("k5-0%", "k5-5%", *SENSITIVE_PLANS)
EXHAUSTIVE = pytest.mark.exhaustive


def plan_of(table: str, title: str) -> ko.Plan:
    model, _, limit = title.rpartition("-")
    share = int(limit.rstrip("%")) / 100
    if model == "k5":
        return tables.plan(table, k=5, limit=share, metric="non_uniform_entropy")
    return tables.sensitive_plan(table, limit=share, models=[tables.SENSITIVE_MODELS[model]])


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


@pytest.mark.slow
@pytest.mark.parametrize("title", SENSITIVE_PLANS)
def test_the_first_rows_of_cup_are_released_as_if_pooled(
    frames: dict[str, pl.DataFrame], title: str, tmp_path: Path
) -> None:
    frame = frames["cup"].head(2_000)
    assert_as_pooled(frame, plan_of("cup", title), tmp_path, table="cup", kind=("B", "vertical"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "title",
    [title if title in ("k5-5%", "hierarchical-5%") else pytest.param(title, marks=EXHAUSTIVE) for title in PLANS],
)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("protocol", ["A", "B"])
def test_the_release_of_all_rows_is_as_if_pooled(
    frames: dict[str, pl.DataFrame], protocol: str, distribution: str, table: str, title: str, tmp_path: Path
) -> None:
    assert_as_pooled(frames[table], plan_of(table, title), tmp_path, table=table, kind=(protocol, distribution))


# Protocol C: every counter is added up under encryption, so that a search with many checks takes minutes


def assert_disguised(release: JointRelease) -> None:
    """No class is so small that it can only have dummy rows, and mirrored rows are told exactly by chance."""
    joint: Any = release.certificate.facts["joint"]
    assert joint["dummies"] == "mirrored"
    assert (joint["dummy_rows"]["exposed"], joint["dummy_rows"]["told"]) == (0, 0.5)


ALL_ROWS = [
    ("adult", "horizontal", "k5-0%"),
    ("adult", "vertical", "recursive-5%"),
    ("cup", "vertical", "k5-0%"),
    pytest.param("adult", "vertical", "k5-0%", marks=EXHAUSTIVE),
    pytest.param("cup", "horizontal", "k5-0%", marks=EXHAUSTIVE),
    pytest.param("adult", "vertical", "k5-5%", marks=EXHAUSTIVE),
    pytest.param("adult", "horizontal", "distinct-5%", marks=EXHAUSTIVE),
    pytest.param("adult", "vertical", "hierarchical-5%", marks=EXHAUSTIVE),
    pytest.param("cup", "vertical", "distinct-5%", marks=EXHAUSTIVE),
    pytest.param("cup", "vertical", "recursive-5%", marks=EXHAUSTIVE),
]
"""Each model once: how rows are divided does not change which nodes are asked for. Closeness on CUP takes minutes;
`python -m benchmarks parties --part models` compares it, too."""


@pytest.mark.slow
@pytest.mark.parametrize(("table", "distribution", "title"), ALL_ROWS)
def test_the_release_of_all_rows_with_dummy_rows_and_counters_is_as_if_pooled(
    frames: dict[str, pl.DataFrame], table: str, distribution: str, title: str, tmp_path: Path
) -> None:
    plan = plan_of(table, title)
    assert_disguised(assert_as_pooled(frames[table], plan, tmp_path, table=table, kind=("C", distribution)))


@pytest.mark.slow
@pytest.mark.parametrize("title", ["k5-5%", "distinct-0%", *SENSITIVE_PLANS])
@pytest.mark.parametrize("table", ["adult", pytest.param("cup", marks=EXHAUSTIVE)])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_counters_serve_every_model_with_and_without_suppression(
    frames: dict[str, pl.DataFrame], distribution: str, table: str, title: str, tmp_path: Path
) -> None:
    frame = frames[table].head(2_000)
    assert_as_pooled(frame, plan_of(table, title), tmp_path, table=table, kind=("C", distribution))
