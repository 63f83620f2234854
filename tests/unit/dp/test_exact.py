"""Exact measurements: few rows of a person, clamped, rounded, and nothing that DuckDB could reach besides."""

from __future__ import annotations

import gc
import os
import weakref
from concurrent.futures import ThreadPoolExecutor

import duckdb
import polars as pl
import pytest

from kohorte.dp.noise import exact
from kohorte.dp.noise.exact import ExactTable, Key, _database, _shared_database
from kohorte.dp.noise.measurements import Kind, Measurement, measurements_of, square_unit
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import TypedTable, typed_table
from kohorte.dp.sql.parse import parse_query
from kohorte.errors import EngineError, InputError
from support.questions import metadata, patients


def measured(sql: str, frame: pl.DataFrame, told: QueryMetadata) -> dict[Kind, dict[Key, int]]:
    plan = parse_query(sql, told)
    parts = [part for part in measurements_of(plan, thresholded=False) if part.kind is not Kind.QUANTILE]
    found = ExactTable(typed_table(frame, told), plan, told).measure(parts)
    return {part.kind: numbers for part, numbers in found.items()}


def table(**columns: list[object]) -> pl.DataFrame:
    rows = len(next(iter(columns.values())))
    return patients(rows).with_columns([pl.Series(name, values) for name, values in columns.items()])


def test_a_case_worked_by_hand() -> None:
    frame = table(
        pid=["a", "b", "c", None, "e", "f"],
        age=["10", "200", "-5", "7", "x", ""],
        sex=["f", "f", "m", "f", "m", None],
    )
    found = measured("SELECT sex, VARIANCE(age), SUM(age), COUNT(*) FROM PRIORI GROUP BY sex", frame, metadata())
    assert found[Kind.ROWS] == {("f",): 2, ("m",): 2}  # no private id, no key: left out
    assert found[Kind.VALUES] == {("f",): 2, ("m",): 1}  # x is no number
    assert found[Kind.SUM] == {("f",): 10 + 120, ("m",): 0}
    assert found[Kind.CENTRED] == {("f",): -50 + 60, ("m",): -60}
    assert found[Kind.SQUARES] == {("f",): 50**2 + 60**2, ("m",): 60**2}


def test_floats_are_rounded_to_their_step() -> None:
    frame = table(weight=[0.0, 1.24, 1.26, float("nan"), float("inf"), None])
    found = measured("SELECT SUM(weight), COUNT(weight) FROM PRIORI", frame, metadata())
    assert found[Kind.SUM] == {(): 1 + 2 + 3 + 600}
    assert found[Kind.VALUES] == {(): 4}


def test_at_most_so_many_rows_of_a_person_are_used_after_where() -> None:
    frame = table(pid=["a", "a", "a", "b", "b", "c"], age=[10, 20, 30, 40, 50, 60])
    sql = "SELECT COUNT(*), COUNT(DISTINCT pid) FROM PRIORI"
    for most, rows in ((1, 3), (2, 5), (3, 6)):
        found = measured(sql, frame, metadata(max_contributions=most))
        assert (found[Kind.ROWS], found[Kind.PEOPLE]) == ({(): rows}, {(): 3})
    found = measured(f"{sql} WHERE age BETWEEN 20 AND 40", frame, metadata(max_contributions=1))
    assert found[Kind.ROWS] == {(): 2}


def test_which_rows_of_a_person_count_depends_on_nobody_else_and_not_on_the_order() -> None:
    frame = table(pid=["a", "a", "a", "b", "b", "c"], age=[10, 20, 30, 40, 50, 60])
    of_a = measured("SELECT SUM(age) FROM PRIORI", frame.filter(pl.col("pid") == "a"), metadata())[Kind.SUM][()]
    rest = measured("SELECT SUM(age) FROM PRIORI", frame.filter(pl.col("pid") != "a"), metadata())[Kind.SUM][()]
    assert measured("SELECT SUM(age) FROM PRIORI", frame, metadata())[Kind.SUM][()] == of_a + rest
    assert measured("SELECT SUM(age) FROM PRIORI", frame.reverse(), metadata())[Kind.SUM][()] == of_a + rest


def test_if_every_row_is_another_person_every_row_counts() -> None:
    frame = table(pid=["a"] * 6)
    assert measured("SELECT COUNT(*) FROM PRIORI", frame, metadata(private_id="none"))[Kind.ROWS] == {(): 6}


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("age > 25", 2),
        ("NOT age > 25", 2),
        ("age IS NULL", 1),
        ("age IS NOT NULL AND sex <> 'f'", 2),
        ("sex IN ('f', 'x') OR age = 30", 4),
        ("married = TRUE", 2),
        ("married <> TRUE", 2),
        ("sex = 'f'' OR 1=1'", 0),
        ("age >= -1e3 AND age BETWEEN 20 AND 30", 3),
    ],
)
def test_conditions_mean_what_sql_says(where: str, rows: int) -> None:
    frame = table(
        age=[10, 20, 30, None, 30], sex=["f", "m", "f", "f", "m"], married=["true", "no", "1", "0", "perhaps"]
    )
    assert measured(f"SELECT COUNT(*) FROM PRIORI WHERE {where}", frame, metadata())[Kind.ROWS] == {(): rows}


def test_values_are_clamped_and_grouped() -> None:
    told = metadata()
    plan = parse_query("SELECT sex, MEDIAN(age) FROM PRIORI GROUP BY sex", told)
    frame = table(age=[500, 3, None, 7], sex=["f", "f", "f", "m"])
    found = ExactTable(typed_table(frame, told), plan, told).values("age")
    assert {key: values.tolist() for key, values in found.items()} == {("f",): [3, 120], ("m",): [7]}


def test_squares_of_wide_columns_fit() -> None:
    told = metadata(columns={"big": {"datatype": "int", "min": -(2**31), "max": 2**31}})
    column = told.columns["big"]
    assert column.furthest**2 // square_unit(column) <= 2**31
    frame = pl.DataFrame({"pid": ["a", "b"], "big": [-(2**31), 2**40]})
    found = measured("SELECT VARIANCE(big) FROM PRIORI", frame, told)
    assert found[Kind.SQUARES] == {(): 2 * (2**62 // square_unit(column))}


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no column 'sex'"):
        typed_table(patients(3).drop("sex"), metadata())
    with pytest.raises(InputError, match="'age' does not have the type"):
        typed_table(patients(3).with_columns(age=pl.lit("2020-01-01").str.to_date()), metadata())


@pytest.mark.parametrize("column", ["pid", "sex"])
@pytest.mark.parametrize("values", [[b"f", b"\xff", b"m"], [[1], [2], [3]], [{"a": 1}] * 3])
def test_cells_that_are_no_single_values_are_refused_by_their_type_alone(column: str, values: list[object]) -> None:
    """A cast would fail, or not, depending on what is in the cells."""
    with pytest.raises(InputError, match=f"the type of '{column}' is not supported"):
        typed_table(patients(3).with_columns(pl.Series(column, values)), metadata())


def test_threads_that_share_the_database_see_their_own_tables_only() -> None:
    told = metadata(max_contributions=50)
    plan = parse_query("SELECT SUM(age), COUNT(*) FROM PRIORI WHERE age > 0", told)
    parts = measurements_of(plan, thresholded=False)

    def counted(rows: int) -> list[dict[Kind, int]]:
        counting = ExactTable(typed_table(table(pid=["a"] * rows, age=[rows] * rows), told), plan, told)
        return [{part.kind: numbers[()] for part, numbers in counting.measure(parts).items()} for _ in range(10)]

    with ThreadPoolExecutor(8) as threads:
        for rows, found in zip(range(1, 40), threads.map(counted, range(1, 40)), strict=True):
            assert found == [{Kind.ROWS: rows, Kind.SUM: rows * rows}] * 10


@pytest.mark.slow
def test_a_table_leaves_nothing_behind_in_the_shared_database() -> None:
    typed = typed_table(patients(3), metadata())
    with _database(typed) as connection:
        assert connection.execute("SELECT count(*) FROM kohorte_rows").fetchall() == [(3,)]
    left = weakref.ref(typed)
    del typed
    gc.collect()
    assert left() is None
    other = _shared_database(os.getpid()).cursor()
    with pytest.raises(duckdb.CatalogException):
        other.execute("SELECT * FROM kohorte_rows")


def test_a_small_table_keeps_its_connection_for_the_next_query_unless_one_fails() -> None:
    typed = typed_table(patients(3), metadata())
    with _database(typed) as first, _database(typed) as other:
        assert first is not other
        first.execute("SELECT count(*) FROM kohorte_rows")
    with _database(typed) as again:
        assert again in (first, other)
        assert again.execute("SELECT count(*) FROM kohorte_rows").fetchall() == [(3,)]
    kept = len(typed.prepared[os.getpid()])
    with pytest.raises(EngineError), _database(typed) as failing:
        failing.execute("SELECT * FROM nothing")
    assert (kept, len(typed.prepared[os.getpid()])) == (2, 1)
    typed.prepared[os.getpid() + 1] = [None]  # connections of the process that this one was forked from
    with _database(typed) as own:
        assert own.execute("SELECT count(*) FROM kohorte_rows").fetchall() == [(3,)]


def test_large_tables_get_a_database_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MANY_ROWS", 3)
    frame = table(pid=["a", "b", "c", "d"])
    assert measured("SELECT COUNT(*) FROM PRIORI", frame, metadata())[Kind.ROWS] == {(): 4}
    with pytest.raises(EngineError), _database(typed_table(frame, metadata())) as connection:
        connection.execute("SELECT * FROM frame")


def test_a_table_that_was_made_ready_for_other_metadata_is_refused() -> None:
    typed = typed_table(patients(3), metadata())
    typed.refuse_other(metadata(max_contributions=2, budget={"epsilon": 1}))
    for other in (metadata(private_id=None), metadata(columns={"age": {"datatype": "int"}})):
        with pytest.raises(InputError, match="other metadata"):
            typed.refuse_other(other)


def test_the_hash_is_that_of_the_values() -> None:
    told, frame = metadata(), patients(5)
    assert typed_table(frame, told).sha256 == typed_table(pl.concat([frame[:2], frame[2:]]), told).sha256
    assert typed_table(frame, told).sha256 != typed_table(frame.with_columns(age=pl.col("age") + 1), told).sha256


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "ATTACH 'other.db'",
        "COPY (SELECT 1) TO 'out.csv'",
        "SET enable_external_access = true",
        "SELECT * FROM frame",
        "SELECT canary FROM kohorte_rows",
    ],
)
def test_the_database_reaches_nothing_but_its_table_and_tells_nothing(sql: str) -> None:
    frame = patients(3)
    typed: TypedTable = typed_table(frame, metadata())
    with pytest.raises(EngineError) as caught, _database(typed) as connection:
        connection.execute(sql).fetchall()
    assert caught.value.message == "DuckDB could not compute the exact aggregates"


def test_a_measurement_is_the_same_by_name() -> None:
    assert Measurement(Kind.SUM, "age").name != Measurement(Kind.SUM, "weight").name
