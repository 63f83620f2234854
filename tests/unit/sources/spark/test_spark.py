"""Tables in Spark: frames and folders, what is refused, and that nothing is half written and no value is told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import EngineError, KohorteError
from kohorte.models import KAnonymity
from kohorte.release import find_candidate
from kohorte.release.sinks.folder import write_folder
from kohorte.sources import SparkSource
from support.spark import RunningSpark, spark

pytestmark = [pytest.mark.slow, pytest.mark.spark]

PLAN = """
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying}
  sex: {role: quasi-identifying}
  icd: {role: sensitive}
models: [{model: k-anonymity, k: 3}]
suppression_limit: 0.2
person: none
"""
CONNECTED = """
import sys
from collections import Counter
from pyspark.sql.connect.session import SparkSession
import kohorte as ko
frame = SparkSession.builder.remote(sys.argv[1]).getOrCreate().read.parquet("file://" + sys.argv[2])
release = ko.anonymize(frame, ko.Plan.from_yaml(sys.argv[3]))
assert type(release.data) is type(frame)
print(sorted(Counter(map(tuple, release.data.collect())).items(), key=str))
"""


@pytest.fixture(scope="module")
def running(pytestconfig: pytest.Config) -> RunningSpark:
    return spark(pytestconfig)


@pytest.fixture
def patients(tmp_path: Path) -> pl.DataFrame:
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    frame = pl.DataFrame(
        {
            "name": [f"canary {row}" for row in range(60)],
            "zip": [81667 + row % 5 for row in range(60)],
            "sex": ["mf"[row % 7 == 0] for row in range(60)],
            "icd": [f"I{row % 4}" for row in range(60)],
        }
    )
    frame.write_parquet(tmp_path / "in.parquet")
    return frame


def plan() -> ko.Plan:
    roles = {"name": "identifying", "zip": "quasi-identifying", "sex": "quasi-identifying", "icd": "sensitive"}
    return ko.Plan({name: ko.Attribute(role) for name, role in roles.items()}, [KAnonymity(3)], suppression_limit=0.2)


def counted(rows: Any) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, rows))


def test_a_frame_of_spark_gives_a_frame_of_spark(running: RunningSpark, patients: pl.DataFrame) -> None:
    frame = running.session.createDataFrame(patients.to_arrow(compat_level=pl.CompatLevel.oldest()))
    marked = frame.withMetadata("icd", {"ml_attr": {"vals": ["canary"]}})
    release, local = ko.anonymize(marked, plan()), ko.anonymize(patients, plan())
    assert type(release.data) is type(frame)
    assert release.data.columns == ["zip", "sex", "icd"]
    assert not any(field.metadata for field in release.data.schema)
    assert (release.levels, release.cost, release.suppressed) == (local.levels, local.cost, local.suppressed)
    assert counted(release.data.collect()) == counted(local.data.rows())
    assert release.data.collect() == release.data.collect(), "the rows are computed again"
    assert ko.verify(release.data, plan()).to_dict() == ko.verify(local.data, plan()).to_dict()
    assert ko.solution_space(frame, plan()).best == ko.solution_space(patients, plan()).best


def test_a_folder_is_written_by_the_workers_with_its_certificate(
    running: RunningSpark, patients: pl.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "a [b], c" / "year=2020").mkdir(parents=True)
    patients.write_parquet(tmp_path / "a [b], c" / "year=2020" / "p.parquet")
    source = SparkSource.at(tmp_path / "a [b], c", running.session)
    with_year = ko.Plan(
        {**plan().attributes, "year": ko.Attribute("insensitive")}, [KAnonymity(3)], suppression_limit=0.2
    )
    certificate = write_folder(find_candidate(source, with_year), tmp_path / "out 1.parquet", source=source)
    written = pl.read_parquet(tmp_path / "out 1.parquet" / "*.parquet")
    assert written.columns == ["zip", "sex", "icd", "year"]
    assert written["year"].to_list() == ["2020"] * 60
    again = SparkSource.at(tmp_path / "out 1.parquet", running.session)
    assert (certificate.facts["output"]["name"], certificate.facts["output"]["rows"]) == ("out 1.parquet", 60)
    assert certificate.facts["output"]["sha256"] == again.sha256
    assert (tmp_path / "out 1.certificate.json").is_file()
    assert not list(tmp_path.glob(".*"))
    assert not any(b"canary" in file.read_bytes() for file in (tmp_path / "out 1.parquet").iterdir())


def test_values_that_count_as_equal_are_written_alike(running: RunningSpark) -> None:
    rows = [
        ("a", -0.0, Decimal("1.50"), date(2020, 2, 1), datetime(2020, 2, 1, 12), True),
        ("a", 0.0, Decimal("1.50"), date(2020, 2, 1), datetime(2020, 2, 1, 12), True),
        ("", float("nan"), None, None, None, None),
        (None, None, None, None, None, None),
    ]
    schema = "`t.x` string, f double, q decimal(6,2), d date, s timestamp_ntz, b boolean"
    source = SparkSource(running.session.createDataFrame(rows, schema))
    shown = source.count_shown(source.columns)
    assert sorted(shown.rows(), key=str) == [
        ("a", "0", "1.50", "2020-02-01", "2020-02-01 12:00:00", "true", 2),
        (None, None, None, None, None, None, 2),
    ]
    assert sorted(source.data.toArrow().to_pylist(), key=str)[0]["f"] in (0.0, None)
    marked = source.without_marks(["a", "0", "1.50", "2020-02-01", "2020-02-01 12:00:00", "true"])
    assert marked.count_shown(marked.columns).rows() == [(None,) * 6 + (4,)]


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("a timestamp", "table-column-type"),
        ("a array<int>", "table-column-type"),
        ("a struct<b: int>", "table-column-type"),
        ("a int, A int", "table-duplicate-columns"),
    ],
)
def test_columns_that_cannot_be_released_are_refused(running: RunningSpark, schema: str, code: str) -> None:
    with pytest.raises(KohorteError) as caught:
        SparkSource(running.session.createDataFrame([], schema))
    assert caught.value.code == code


def test_a_failing_frame_tells_no_value(running: RunningSpark, capfd: pytest.CaptureFixture[str]) -> None:
    frame = running.session.sql("SELECT CAST(concat('canary', id) AS INT) AS zip FROM range(9)")
    with pytest.raises(EngineError) as caught:
        ko.anonymize(frame, ko.Plan({"zip": ko.Attribute("quasi-identifying")}, [KAnonymity(2)]))
    assert caught.value.code == "source-failed"
    assert "canary" not in str(caught.value)
    assert "canary" not in "".join(capfd.readouterr())


def test_a_release_that_fails_leaves_nothing(
    running: RunningSpark, patients: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert patients.height

    def fail(*_: object, **__: object) -> None:
        raise EngineError("failed", code="source-failed")

    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("kohorte.release.write.certify", fail)
    source = SparkSource.at(tmp_path / "in.parquet", running.session)
    with pytest.raises(EngineError):
        write_folder(find_candidate(source, plan()), tmp_path / "out.parquet", source=source)
    assert sorted(tmp_path.rglob("*")) == before


def test_rows_that_change_meanwhile_are_not_released(
    running: RunningSpark, patients: pl.DataFrame, tmp_path: Path
) -> None:
    source = SparkSource.at(tmp_path / "in.parquet", running.session)
    candidate = find_candidate(source, plan())
    patients.head(50).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(KohorteError):
        write_folder(candidate, tmp_path / "out.parquet", source=source)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.usefixtures("patients")
def test_a_folder_is_never_replaced_and_no_order_is_kept(running: RunningSpark, tmp_path: Path) -> None:
    source = SparkSource.at(tmp_path / "in.parquet", running.session)
    kept = ko.Plan(plan().attributes, [KAnonymity(3)], order="input", suppression_limit=0.2)
    with pytest.raises(KohorteError) as caught:
        find_candidate(source, kept)
    assert caught.value.code == "source-no-order"
    candidate = find_candidate(source, plan())
    (tmp_path / "out.parquet").mkdir()
    for output, code in (("out.parquet", "output-exists"), ("out.csv", "file-format")):
        with pytest.raises(KohorteError) as caught:
            write_folder(candidate, tmp_path / output, source=source, force=True)
        assert caught.value.code == code
    with pytest.raises(KohorteError) as caught:
        ko.write_release(candidate, tmp_path / "file.parquet")
    assert caught.value.code == "output-elsewhere"


def command(running: RunningSpark) -> list[str]:
    arguments = ["anonymize", "in.parquet", "--plan", "plan.yaml", "--output", "out.parquet", "--engine", "spark"]
    return [str(Path(sys.executable).parent / "kohorte"), *arguments, "--master", running.connect]


def without_times(told: str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(told).items() if name != "seconds"}


def test_the_command_and_python_work_over_spark_connect(
    running: RunningSpark, patients: pl.DataFrame, tmp_path: Path
) -> None:
    ran = subprocess.run(command(running), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "written and verified: out.parquet; certificate: out.certificate.txt" in ran.stdout
    wanted = counted(ko.anonymize(patients, plan()).data.rows())
    assert counted(pl.read_parquet(tmp_path / "out.parquet" / "*.parquet").rows()) == wanted
    for verb, table in (("verify", "out.parquet"), ("lattice", "in.parquet")):
        asked = [command(running)[0], verb, table, "--plan", "plan.yaml", "--json", "--engine"]
        told = [
            subprocess.run([*asked, *engine], cwd=tmp_path, capture_output=True, text=True, check=False)
            for engine in (["duckdb"], ["spark", "--master", running.connect])
        ]
        assert told[1].returncode == told[0].returncode, told[1].stderr
        assert without_times(told[1].stdout) == without_times(told[0].stdout)
    files = [str(tmp_path / name) for name in ("in.parquet", "plan.yaml")]
    script = [sys.executable, "-c", CONNECTED, running.connect, *files]
    told = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(sorted(wanted.items(), key=str))


def ended_while_writing(running: RunningSpark, folder: Path, number: int) -> None:
    """Start the command, and end it with a signal while the workers write."""
    started = subprocess.Popen(command(running), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not list(folder.glob(".kohorte-spill-*/table")):
        assert time.monotonic() < end
        assert started.poll() is None
        time.sleep(0.01)
    started.send_signal(number)
    _, told = started.communicate(timeout=60)
    assert started.returncode != 0
    assert "Traceback" not in told
    assert not (folder / "out.parquet").exists()


@pytest.mark.usefixtures("patients")
def test_a_command_that_is_ended_in_the_middle_leaves_no_output(running: RunningSpark, tmp_path: Path) -> None:
    ended_while_writing(running, tmp_path, signal.SIGINT)
    assert not list(tmp_path.glob(".*"))
    ended_while_writing(running, tmp_path, signal.SIGKILL)
    again = subprocess.run(command(running), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "killed command left was removed" in again.stderr
    assert not list(tmp_path.glob(".*"))
