"""The contract of the sources: the same release from memory, from DuckDB and from PostgreSQL."""

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
    random_problem,
)

QUICK, LONG, BLOCK = 8, 500, 50


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
@pytest.mark.parametrize("first", range(QUICK, LONG, BLOCK))
def test_every_source_gives_the_same_release_of_many_tables(first: int, tmp_path: Path, database: str) -> None:
    released = [
        same_everywhere(random_problem(seed, tmp_path), tmp_path, database) for seed in range(first, first + BLOCK)
    ]
    assert sum(released) > BLOCK / 3
