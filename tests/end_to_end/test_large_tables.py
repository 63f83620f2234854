"""`kohorte anonymize` with tables that stay on disk: the same release as from memory, and nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from end_to_end.conftest import Run
from kohorte.data import read_table

PLAN = """
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying, hierarchy: {redaction: {length: 5}}}
  sex: {role: quasi-identifying}
  icd: {role: sensitive}
models: [{model: k-anonymity, k: 4}, {model: l-diversity_distinct, attribute: icd, l: 2}]
suppression_limit: 0.1
person: none
"""


@pytest.fixture
def patients(folder: Path) -> pl.DataFrame:
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    frame = pl.DataFrame(
        {
            "name": [f"patient {row}" for row in range(300)],
            "zip": [str(81667 + row % 13 * (row % 3)) for row in range(300)],
            "sex": ["mf"[row % 2] for row in range(300)],
            "icd": [f"I{row % 7}" for row in range(300)],
        }
    )
    frame.write_csv(folder / "in.csv", separator=";")
    frame.write_parquet(folder / "in.parquet")
    return frame


def rows(path: str) -> Counter[tuple[object, ...]]:
    return Counter(read_table(path).frame.rows())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("options", [["--engine", "duckdb"], ["--memory-limit", "500MB"]])
def test_duckdb_makes_the_same_release_as_memory(
    run: Run, patients: pl.DataFrame, folder: Path, suffix: str, options: list[str]
) -> None:
    arguments = ["anonymize", f"in.{suffix}", "--plan", "plan.yaml", "--json", "--output"]
    local = run(*arguments, f"local.{suffix}", "--engine", "local")
    large = run(*arguments, f"large.{suffix}", *options)
    assert (local.code, large.code) == (0, 0), large.err
    assert rows(f"large.{suffix}") == rows(f"local.{suffix}")
    for figure in ("levels", "cost", "suppressed", "classes", "verdict", "formulas"):
        assert large.json[figure] == local.json[figure]
    first = Path(f"large.{suffix}").read_bytes().split(b"\n")[0]
    assert suffix == "parquet" or first == b"zip;sex;icd"
    assert not list(folder.glob(".*")), "the spill folder is left"
    assert patients.height == sum(rows(f"large.{suffix}").values())


def test_a_large_file_stays_on_disk(
    run: Run, patients: pl.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.cli.sources.large_tables.LARGE", 1)
    monkeypatch.setattr("kohorte.cli.verbs.anonymize.read_data", None)  # nobody reads it into memory
    assert run("anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv").code == 0
    assert sum(rows("out.csv").values()) == patients.height
    assert folder.is_dir()


@pytest.mark.usefixtures("patients", "folder")
def test_a_large_file_is_read_if_its_rows_are_needed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kohorte.cli.sources.large_tables.LARGE", 1)
    ran = run("anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv", "--algorithm", "mondrian")
    assert ran.code == 0, ran.err


def test_a_folder_of_files_is_released(run: Run, patients: pl.DataFrame, folder: Path) -> None:
    for year, part in (("2020", patients[:150]), ("2021", patients[150:])):
        (folder / "visits" / f"year={year}").mkdir(parents=True)
        part.write_parquet(folder / "visits" / f"year={year}" / "part.parquet")
    plan = PLAN.replace("  icd:", "  year: {role: insensitive}\n  icd:", 1)
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")
    for data in ("visits", "visits/*/*.parquet"):
        ran = run("anonymize", data, "--plan", "plan.yaml", "--output", "out.parquet", "--force")
        assert ran.code == 0, ran.err
        assert dict(read_table("out.parquet").frame["year"].value_counts().rows()) == {"2020": 150, "2021": 150}


@pytest.mark.usefixtures("patients", "folder")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["in.csv", "--engine", "duckdb", "--algorithm", "mondrian"], "source-row-by-row"),
        (["in.csv", "--engine", "duckdb", "--report", "r.html"], "source-row-by-row"),
        (["-", "--engine", "duckdb"], "source-row-by-row"),
        (["in.csv", "--engine", "local", "--memory-limit", "1GB"], "memory-limit"),
        (["in.csv", "--memory-limit", "lots"], "memory-limit"),
        (["s3://bucket/secret-path", "--engine", "duckdb"], "source-remote"),
        (["in.csv", "--query", "SELECT 1"], "database-address"),
    ],
)
def test_what_cannot_be_done_is_refused(run: Run, options: list[str], code: str) -> None:
    ran = run("anonymize", *options, "--plan", "plan.yaml", "--output", "out.csv")
    assert ran.code == 2
    assert f"[{code}]" in ran.err
    assert "secret" not in ran.err


def ended(folder: Path, number: int) -> bytes:
    """End a command while it spills rows; return what it told."""
    command = str(Path(sys.executable).parent / "kohorte")
    arguments = [command, "anonymize", "many.csv", "--plan", "plan.yaml", "--output", "out.csv", "--engine", "duckdb"]
    running = subprocess.Popen(arguments, cwd=folder, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not any(path.stat().st_size for path in folder.glob(".kohorte-spill-*/*.parquet")):
        assert time.monotonic() < end
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    assert running.returncode != 0
    assert not (folder / "out.csv").exists()
    return told


def test_a_command_that_is_interrupted_leaves_nothing(patients: pl.DataFrame, folder: Path) -> None:
    pl.concat([patients] * 4000).write_csv(folder / "many.csv")
    assert b"interrupted" in ended(folder, signal.SIGINT)
    assert not list(folder.glob(".*"))


def test_what_a_killed_command_left_is_removed_by_the_next_one(run: Run, patients: pl.DataFrame, folder: Path) -> None:
    pl.concat([patients] * 4000).write_csv(folder / "many.csv")
    ended(folder, signal.SIGKILL)
    assert list(folder.glob(".kohorte-spill-*"))
    ran = run("anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv", "--engine", "duckdb")
    assert "what 1 killed command left was removed" in ran.err
    assert not list(folder.glob(".*"))


@pytest.mark.usefixtures("patients", "folder")
def test_verify_and_lattice_count_a_file_that_stays_on_disk(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ("--plan", "plan.yaml")
    assert run("anonymize", "in.parquet", *plan, "--output", "out.parquet").code == 0
    local = [run("verify", "out.parquet", *plan, "--json"), run("lattice", "in.parquet", *plan, "--json")]
    for verb in ("verify", "lattice"):
        monkeypatch.setattr(f"kohorte.cli.verbs.{verb}.read_data", None)  # nobody reads it into memory
    large = [
        run("verify", "out.parquet", *plan, "--json", "--memory-limit", "500MB"),
        run("lattice", "in.parquet", *plan, "--json", "--engine", "duckdb"),
    ]
    assert [ran.json for ran in large] == [ran.json for ran in local]
    assert [ran.code for ran in large] == [0, 0]
    assert large[0].json["verdict"]["standing"] == local[0].json["verdict"]["standing"]
    failed = run("verify", "in.parquet", *plan, "--json", "--engine", "duckdb")
    assert failed.code == 1
    assert any("'name'" in problem for problem in failed.json["problems"])


@pytest.mark.usefixtures("patients", "folder")
def test_verify_needs_the_rows_of_a_csv_file_and_of_the_original(run: Run) -> None:
    for data, more in (("in.csv", []), ("in.parquet", ["--population", "in.csv"])):
        ran = run("verify", data, "--plan", "plan.yaml", "--engine", "duckdb", *more)
        assert ran.code == 2
        assert "source-row-by-row" in ran.err


@pytest.mark.usefixtures("patients", "folder")
@pytest.mark.parametrize("verb", ["risk", "profile", "tradeoff", "attack", "algorithms"])
def test_what_reads_a_file_refuses_an_address_and_repeats_no_password(run: Run, verb: str) -> None:
    plan = [] if verb == "profile" else ["--plan", "plan.yaml"]
    for address in ("postgresql://anna:0penSesame@db/clinic/visits", "s3://key:0penSesame@bucket/visits.parquet"):
        ran = run(verb, address, *plan)
        assert ran.code == 2, ran.out
        assert "source-row-by-row" in ran.err
        assert "verify" in ran.err
        assert "0penSesame" not in ran.err + ran.out
