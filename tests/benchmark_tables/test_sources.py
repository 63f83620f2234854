"""ADULT and CUP from memory, from a CSV file whose columns are coded, from DuckDB and from PostgreSQL: one release."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import kohorte as ko
from kohorte.data import read_table
from kohorte.sources import FrameSource
from support.postgres import cluster
from support.source_problems import SourceProblem, found_in_duckdb, found_in_memory, found_in_postgresql
from testbed import tables

pytestmark = pytest.mark.skipif(not tables.available(), reason="the public benchmark tables are not there")


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.0, 0.05])
@pytest.mark.parametrize("table", ["adult", "cup"])
def test_a_public_table_gives_the_same_release_from_every_source(
    table: str, limit: float, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    text = tables.plan(table, k=5, limit=limit, metric="loss").to_yaml()
    stated = yaml.safe_load(text.replace("csv: hierarchies/", f"csv: {tables.DATA}/hierarchies/"))
    problem = SourceProblem(ko.read_table(tables.DATA / f"{table}.csv").frame, stated)
    wanted = found_in_memory(problem, tmp_path)
    assert wanted.code is None
    assert found_in_duckdb(problem, tmp_path) == wanted
    with cluster(pytestconfig).database() as address:
        assert found_in_postgresql(problem, address) == wanted


@pytest.mark.parametrize("table", ["adult"])
def test_a_file_whose_columns_are_coded_gives_the_same_release(table: str) -> None:
    plan = tables.plan(table, k=5, limit=0.05, metric="non_uniform_entropy")
    path, names = tables.DATA / f"{table}.csv", plan.quasi_identifiers
    one = ko.anonymize(FrameSource(read_table(path).frame), plan)
    other = ko.anonymize(FrameSource(read_table(path, coded=names).frame), plan)
    assert (one.levels, one.cost, one.suppressed) == (other.levels, other.cost, other.suppressed)
    assert one.data.sort(names).equals(other.data.sort(names))
