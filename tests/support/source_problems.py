"""Random tables and plans, the same in every source: in memory, in DuckDB, in PostgreSQL and in Spark."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg

from kohorte.data import read_table, to_polars
from kohorte.errors import KohorteError
from kohorte.plans import Plan
from kohorte.release import find_candidate, write_release
from kohorte.release.sinks.database import write_to_database
from kohorte.release.sinks.folder import write_folder
from kohorte.sources import COUNT, DuckDbSource, FrameSource, PostgresqlSource, SparkSource, TableSource
from testbed import tables

TYPES = {
    pl.String: "text",
    pl.Int64: "bigint",
    pl.Float64: "double precision",
    pl.Date: "date",
    pl.Boolean: "boolean",
    pl.Datetime: "timestamp",
}
SENSITIVE: tuple[dict[str, object], ...] = (
    {"model": "l-diversity_distinct", "l": 2},
    {"model": "l-diversity_entropy", "l": 2},
    {"model": "l-diversity_recursive", "c": 4, "l": 2},
    {"model": "t-closeness_equal", "t": 0.5},
    {"model": "t-closeness_ordered", "t": 0.5},
    {"model": "alpha-k-anonymity", "alpha": 0.8, "k": 2},
    {"model": "delta-disclosure", "delta": 2},
    {"model": "beta-likeness_basic", "beta": 4},
    {"model": "beta-likeness_enhanced", "beta": 4},
    {"model": "n-t-closeness", "n": 10, "t": 0.5},
)
OF_ROWS: tuple[dict[str, object], ...] = (
    {"model": "average-risk", "threshold": 0.4},
    {"model": "population-uniqueness", "threshold": 0.3, "sampling_fraction": 0.1},
)
METRICS = ("loss", "height", "precision", "aecs", "discernibility", "entropy", "non_uniform_entropy")
LETTERS = ["a", "b", "B", "ü'", 'say "x", y', "two\nlines", "", "NA", " a", "*x", "\\.", "=1+1"]


@dataclass(frozen=True)
class SourceProblem:
    """A table and the plan for it, as data."""

    frame: pl.DataFrame
    plan: dict[str, Any] | Plan


def random_problem(seed: int, folder: Path) -> SourceProblem:
    """A table of all types with missing values, and a plan with one to three models, which a seed determines."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(12, 120))
    frame = _frame(random, rows)
    names = ["zip", "text", "weight", "born", "smoker"]
    chosen = sorted(random.choice(names, int(random.integers(2, len(names) + 1)), replace=False))
    attributes: dict[str, dict[str, Any]] = {name: {"role": "insensitive"} for name in frame.columns}
    attributes |= {"key": {"role": "identifying"}, "icd": {"role": "sensitive"}}
    attributes |= {name: {"role": "quasi-identifying"} for name in chosen}
    for name, hierarchy in {
        "zip": {"redaction": {"length": 5}},
        "born": {"dates": {"levels": ["month", "year"]}},
    }.items():
        if name in chosen and random.random() < 0.7:
            attributes[name]["hierarchy"] = hierarchy
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": int(random.integers(2, 5))}]
    if random.random() < 0.6:
        models.append({**SENSITIVE[int(random.integers(len(SENSITIVE)))], "attribute": "icd"})
    if random.random() < 0.15:
        models.append(OF_ROWS[int(random.integers(len(OF_ROWS)))])
    if random.random() < 0.1:
        others = pl.concat([frame, frame.sample(rows, with_replacement=True, seed=seed)]).select(chosen)
        others.write_parquet(folder / f"population-{seed}.parquet")
        models.append({"model": "k-map", "k": 3, "population": str(folder / f"population-{seed}.parquet")})
    plan: dict[str, Any] = {
        "kohorte": 1,
        "attributes": attributes,
        "models": models,
        "suppression_limit": float(random.choice([0, 0.05, 0.3, 1])),
        "metric": {"metric": str(random.choice(METRICS))},
        "missing": str(random.choice(["category", "category", "suppress"])),
        "person": "none",
    }
    if random.random() < 0.3:
        plan["missing_values"] = ["NA", "81667", "70"]
    if random.random() < 0.3 and models[-1]["model"] not in ("n-t-closeness", *(one["model"] for one in OF_ROWS)):
        plan["person"] = str(random.choice(["key", "case"]))
        attributes["case"] = {"role": "identifying"}
    if random.random() < 0.3:
        plan["search"] = {"algorithm": str(random.choice(["exhaustive", "ola", "flash", "incognito", "datafly"]))}
    return SourceProblem(frame, plan)


def _frame(random: np.random.Generator, rows: int) -> pl.DataFrame:
    def some(values: list[Any], missing: float) -> list[Any]:
        picked = random.integers(0, len(values), rows)
        return [None if random.random() < missing else values[at] for at in picked]

    letters = [LETTERS[at] for at in random.choice(len(LETTERS), 4, replace=False)]
    return pl.DataFrame(
        {
            "key": [f"p{number}" for number in random.integers(0, rows, rows)],
            "case": pl.Series(random.integers(0, rows, rows), dtype=pl.Int64),
            "zip": pl.Series(some([81667, 81925, 82343, 10115, 10117], 0.05), dtype=pl.Int64),
            "text": pl.Series(some(letters, 0.1), dtype=pl.String),
            "weight": pl.Series(some([70.0, 71.5, float("nan"), 0.0, -0.0, 1e20, 0.1], 0.1), dtype=pl.Float64),
            "born": pl.Series(
                some([date(1950, 1, 1) + timedelta(days=40 * at) for at in range(9)], 0.05), dtype=pl.Date
            ),
            "smoker": pl.Series(some([True, False], 0.1), dtype=pl.Boolean),
            "icd": pl.Series(some(["I10", "i10 ", "E11", "J45", "J44"], 0.05), dtype=pl.String),
            "note": pl.Series(some(["x", "y", "=2", ""], 0.2), dtype=pl.String),
        }
    )


def of_table(name: str, plan: Plan) -> SourceProblem:
    """A public table, and a plan for it."""
    return SourceProblem(read_table(tables.DATA / f"{name}.csv").frame, plan)


@dataclass(frozen=True)
class Found:
    """What a source makes of a problem: figures and rows of the release, or the code of the error."""

    code: str | None = None
    levels: tuple[tuple[str, int], ...] = ()
    cost: float = 0.0
    suppressed: int = 0
    classes: int = 0
    verification: str = ""
    rows: tuple[tuple[tuple[str | None, ...], int], ...] = ()


def _found(source: TableSource, stated: dict[str, Any] | Plan, write: Any) -> Found:
    try:
        candidate = find_candidate(source, stated if isinstance(stated, Plan) else Plan.from_dict(stated))
    except KohorteError as error:
        return Found(error.code)
    certificate, table = write(candidate)
    shown = table.count_shown(list(table.columns))
    counted = Counter({row[:-1]: row[-1] for row in shown.select(*table.columns, COUNT).iter_rows()})
    return Found(
        None,
        tuple(candidate.levels.items()),
        candidate.cost,
        candidate.suppressed,
        candidate.classes,
        str(certificate.facts["verification"]) + str(certificate.facts["verdict"]),
        tuple(sorted(counted.items(), key=str)),
    )


def found_in_memory(problem: SourceProblem, folder: Path) -> Found:
    """The release of a frame, written as Parquet."""
    path, output = _written(problem, folder), folder / "local.parquet"

    def write(candidate: Any) -> tuple[Any, TableSource]:
        return write_release(candidate, output, force=True), FrameSource(read_table(output).frame)

    return _found(FrameSource(read_table(path).frame), problem.plan, write)


def found_in_duckdb(problem: SourceProblem, folder: Path) -> Found:
    """The release of a Parquet file by DuckDB."""
    source, output = DuckDbSource(_written(problem, folder)), folder / "duckdb.parquet"

    def write(candidate: Any) -> tuple[Any, TableSource]:
        return write_release(candidate, output, force=True), FrameSource(read_table(output).frame)

    return _found(source, problem.plan, write)


def found_in_spark(problem: SourceProblem, folder: Path, session: Any) -> Found:
    """The release of a Parquet file by Spark, written as a folder."""
    output = folder / "spark.parquet"
    shutil.rmtree(output, ignore_errors=True)
    source = SparkSource.at(_written(problem, folder), session)

    def write(candidate: Any) -> tuple[Any, TableSource]:
        certificate = write_folder(candidate, output, source=source, force=True)
        return certificate, FrameSource(to_polars(pl.read_parquet(output / "*.parquet"))[0])

    return _found(source, problem.plan, write)


def found_in_postgresql(problem: SourceProblem, address: str) -> Found:
    """The release of a table by PostgreSQL."""
    base, _, options = address.partition("?")
    store(problem.frame, address, "patients")
    source, output = PostgresqlSource(f"{base}/patients?{options}"), f"{base}/release?{options}"
    opened: list[PostgresqlSource] = [source]

    def write(candidate: Any) -> tuple[Any, TableSource]:
        certificate = write_to_database(candidate, output, source=source, force=True)
        opened.append(PostgresqlSource(output))
        return certificate, opened[-1]

    try:
        return _found(source, problem.plan, write)
    finally:
        for one in opened:
            one.session.close()


def _written(problem: SourceProblem, folder: Path) -> Path:
    path = folder / "in.parquet"
    problem.frame.write_parquet(path)
    return path


def store(frame: pl.DataFrame, address: str, name: str) -> None:
    """Make a table in PostgreSQL with the rows of a frame."""
    quoted = {column: '"' + column.replace('"', '""') + '"' for column in frame.columns}
    columns = ", ".join(f"{quoted[column]} {TYPES[type(dtype)]}" for column, dtype in frame.schema.items())
    with connected(address) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
        connection.execute(f"CREATE TABLE {name} ({columns})")
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copied:
            for row in frame.iter_rows():
                copied.write_row(row)


@contextmanager
def connected(address: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the test itself."""
    with psycopg.connect(address) as connection:
        yield connection
