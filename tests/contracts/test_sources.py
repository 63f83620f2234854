"""The contract of the sources: the same release from memory, from DuckDB, from PostgreSQL and from Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres import cluster
from support.source_problems import (
    SourceProblem,
    found_in_duckdb,
    found_in_memory,
    found_in_postgresql,
    found_in_spark,
    of_table,
    random_problem,
)
from support.spark import spark
from testbed import tables

QUICK, LONG, MOST, BLOCK = 8, 108, 500, 50
IN_SPARK = 8


@pytest.fixture(scope="module")
def database(pytestconfig: pytest.Config) -> Iterator[str]:
    with cluster(pytestconfig).database() as address:
        yield address


def same_everywhere(problem: SourceProblem, folder: Path, database: str) -> bool:
    """Compare the sources; return whether there was a release."""
    wanted = found_in_memory(problem, folder)
    assert found_in_duckdb(problem, folder) == wanted
    assert found_in_postgresql(problem, database) == wanted
    return wanted.code is None


@pytest.mark.parametrize("seed", range(QUICK))
def test_every_source_gives_the_same_release(seed: int, tmp_path: Path, database: str) -> None:
    same_everywhere(random_problem(seed, tmp_path), tmp_path, database)


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        *range(QUICK, LONG, BLOCK),
        *(pytest.param(first, marks=pytest.mark.exhaustive) for first in range(LONG, MOST, BLOCK)),
    ],
)
def test_every_source_gives_the_same_release_of_many_tables(first: int, tmp_path: Path, database: str) -> None:
    released = [
        same_everywhere(random_problem(seed, tmp_path), tmp_path, database) for seed in range(first, first + BLOCK)
    ]
    assert sum(released) > BLOCK / 3


@pytest.mark.slow
@pytest.mark.spark
def test_spark_gives_the_same_release_as_memory(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    session, released = spark(pytestconfig).session, 0
    for seed in range(IN_SPARK):
        problem = random_problem(seed, tmp_path)
        wanted = found_in_memory(problem, tmp_path)
        assert found_in_spark(problem, tmp_path, session) == wanted, seed
        released += wanted.code is None
    assert released > IN_SPARK / 3


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.usefixtures("benchmark_folder")
def test_spark_gives_the_same_release_of_a_public_table(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    problem = of_table("adult", tables.plan("adult", k=5, limit=0.05, metric="loss"))
    wanted = found_in_memory(problem, tmp_path)
    assert found_in_spark(problem, tmp_path, spark(pytestconfig).session) == wanted
    assert wanted.suppressed
