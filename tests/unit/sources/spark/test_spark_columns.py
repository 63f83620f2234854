"""What can be said of Spark without Spark: types and marks, versions, Java, masters, and options that do not fit."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.errors import InputError
from kohorte.sources.spark import is_spark_frame
from kohorte.sources.spark.columns import Column
from kohorte.sources.spark.session import failures, library, refuse_java, refuse_version, start_session


@pytest.mark.parametrize(
    ("dtype", "marks"),
    [
        (pl.String(), ["NA", "007", "70", "1.50", "true", "2020-02-01", "2020-02-01 12:00:00", "1e3"]),
        (pl.Int32(), ["70"]),
        (pl.Float64(), ["70"]),
        (pl.Decimal(6, 2), ["1.50"]),
        (pl.Boolean(), ["true"]),
        (pl.Date(), ["2020-02-01"]),
        (pl.Datetime("us"), ["2020-02-01 12:00:00"]),
    ],
)
def test_a_mark_is_compared_with_values_that_have_its_text_only(dtype: pl.DataType, marks: list[str]) -> None:
    given = ["NA", "007", "70", "1.50", "true", "2020-02-01", "2020-02-01 12:00:00", "1e3"]
    cell = Column("c0", dtype, "T").unmarked(given)
    assert [mark for mark in given if f"X'{mark.encode().hex()}'" in cell] == marks


def test_a_column_without_a_mark_is_not_changed() -> None:
    assert Column("c0", pl.Int64(), "bigint").unmarked(["NA"]) == "c0"


def test_a_text_is_never_part_of_a_statement() -> None:
    assert "DROP" not in Column("c0", pl.String(), "STRING").unmarked(["'); DROP"])


@pytest.mark.parametrize("version", ["3.5.1", "2.4", "unknown"])
def test_a_spark_that_is_too_old_is_refused(version: str) -> None:
    refuse_version("4.0.0")
    refuse_version("10.1")
    with pytest.raises(InputError) as caught:
        refuse_version(version)
    assert caught.value.code == "spark-version"


def test_without_pyspark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"kohorte\[spark\]") as caught:
        library()
    assert caught.value.code == "query-library-missing"


@pytest.mark.parametrize("told", [None, 'openjdk version "11.0.2" 2019-01-15'])
def test_without_a_java_that_is_new_enough_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if told is not None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\necho '{told}' >&2\n", encoding="utf-8")
        (tmp_path / "bin" / "java").chmod(0o755)
    with pytest.raises(InputError, match="Java 17") as caught:
        refuse_java()
    assert caught.value.code == "spark-java"


@pytest.mark.parametrize(
    "master",
    ["sc://h:15002/;token=canary", "sc://h/;use_ssl=true;token=canary", "spark://u:canary@h:7077"],
)
def test_a_master_with_a_credential_is_refused_and_not_shown(master: str) -> None:
    with pytest.raises(InputError) as caught:
        start_session(master)
    assert caught.value.code == "spark-master"
    assert "canary" not in caught.value.message


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("[CAST_INVALID_INPUT] The value 'canary'", "source-failed"),
        ("java.lang.OutOfMemoryError: canary", "source-memory"),
        ("java.io.IOException: No space left on device canary", "disk-full"),
        ("[PATH_NOT_FOUND] file:/canary", "spark-folder"),
    ],
)
def test_no_message_of_spark_comes_through(message: str, code: str) -> None:
    with pytest.raises((InputError, Exception)) as caught, failures("the table"):
        raise RuntimeError(message)
    assert getattr(caught.value, "code", None) == code
    assert "canary" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_frames_of_other_libraries_are_not_spark() -> None:
    assert not is_spark_frame(pl.DataFrame({"a": [1]}))
    assert not is_spark_frame(None)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["in.csv", "--engine", "spark"], "source-row-by-row"),
        (["-", "--engine", "spark"], "source-row-by-row"),
        (["in.parquet", "--engine", "spark", "--algorithm", "mondrian"], "source-row-by-row"),
        (["in.parquet", "--engine", "spark", "--memory-limit", "1GB"], "memory-limit"),
        (["in.parquet", "--engine", "duckdb", "--master", "local[2]"], "spark-master"),
        (["in.parquet", "--engine", "spark", "--master", "sc://h/;token=canary"], "spark-master"),
        (["s3a://bucket/canary", "--engine", "spark"], "source-remote"),
        (["postgresql://u@h/d/t", "--engine", "spark"], "database-address"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_spark_is_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = (
        "kohorte: 1\nattributes: {a: {role: quasi-identifying}}\nmodels: [{model: k-anonymity, k: 2}]\nperson: none\n"
    )
    Path("plan.yaml").write_text(plan, encoding="utf-8")
    assert main(["anonymize", *options, "--plan", "plan.yaml", "--output", "out.parquet"]) == 2
    told = capsys.readouterr().err
    assert f"[{code}]" in told
    assert "canary" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.yaml"]
