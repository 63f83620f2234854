"""What jobs do: the same as the library, with locked files."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import parse_table, write_parquet
from kohorte.errors import InputError, KohorteError, NoSolution
from kohorte.service.jobs import tasks
from kohorte.service.jobs.tasks import Work
from kohorte.service.settings import DEFAULT_POLICY
from kohorte.service.vault import Content, Vault
from support.jobs import CSV, PLAN

FRAME = parse_table(CSV, Path("table.csv")).frame
CELLS = {value for column in FRAME.iter_columns() for value in column.to_list()}


class Listener:
    """Hears what a job says."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str]] = []
        self.files: list[str] = []

    def progress(self, share: float, message: str) -> None:
        self.told.append((share, message))

    def file(self, name: str) -> None:
        self.files.append(name)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "files", b"k" * 32)


def work(vault: Vault, request: dict[str, Any], *, most_cells: int = 1_000_000, frame: pl.DataFrame = FRAME) -> Work:
    table = io.BytesIO()
    write_parquet(frame, table)
    return Work(request, vault.write(table.getvalue()), most_cells, vault, Listener())


def upload(vault: Vault, content: bytes, file_name: str = "x.csv", *, most_cells: int = 1_000_000) -> Work:
    return Work(
        {"file": vault.write(content, Content.UPLOAD), "file_name": file_name}, None, most_cells, vault, Listener()
    )


def as_parquet(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def test_a_csv_file_becomes_a_locked_table_with_its_facts(vault: Vault) -> None:
    found = tasks.ingest(upload(vault, b"age;city\n31;Bonn\n32;\n31;Ulm\n"))
    content = vault.read(found.values["table_file"])
    assert pl.read_parquet(io.BytesIO(content)).rows() == [("31", "Bonn"), ("32", None), ("31", "Ulm")]
    assert found.values["table_sha256"] == hashlib.sha256(content).hexdigest()
    assert (found.values["rows"], found.result) == (3, {"rows": 3, "columns": 2})
    assert found.values["columns"] == [
        {"name": "age", "datatype": "str", "distinct": 2, "missing": 0},
        {"name": "city", "datatype": "str", "distinct": 2, "missing": 1},
    ]


def test_parquet_keeps_its_types(vault: Vault) -> None:
    frame = pl.DataFrame({"n": [1, 2], "x": [0.5, None], "b": [True, False], "t": ["a", "b"]})
    frame = frame.with_columns(pl.lit("2024-01-01").str.to_date().alias("d"))
    found = tasks.ingest(upload(vault, as_parquet(frame), "table.parquet"))
    kinds = {column["name"]: column["datatype"] for column in found.values["columns"]}
    assert kinds == {"n": "int", "x": "float", "b": "bool", "t": "str", "d": "date"}
    assert pl.read_parquet(io.BytesIO(vault.read(found.values["table_file"]))).equals(frame)


@pytest.mark.parametrize("name", ["bomb.parquet", "bomb.csv"])
def test_a_parquet_file_with_too_many_cells_is_refused_before_it_is_read(
    vault: Vault, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = as_parquet(pl.DataFrame({"a": pl.repeat(0, 5_000_000, dtype=pl.Int8, eager=True)}))
    assert len(content) < 100_000

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the table was read")

    monkeypatch.setattr(tasks, "parse_table", read)
    with pytest.raises(InputError) as refused:
        tasks.ingest(upload(vault, content, name))
    assert refused.value.code == "table-too-large"


def test_a_csv_file_with_too_many_cells_is_refused(vault: Vault) -> None:
    with pytest.raises(InputError) as refused:
        tasks.ingest(upload(vault, CSV, most_cells=799))
    assert refused.value.code == "table-too-large"
    assert tasks.ingest(upload(vault, CSV, most_cells=800)).values["rows"] == 200


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "x.csv"),
        (b"a,b\n1,2\n3\n", "x.csv"),
        (b"PK\x03\x04 and more", "x.csv"),
        (b"PAR1 and no more", "x.parquet"),
        (b"a,b\n1,2\n", "x.parquet"),
        (b"\x00\xff\xfe", "x.csv"),
    ],
)
def test_what_is_no_table_is_refused_and_leaves_no_file(vault: Vault, content: bytes, name: str) -> None:
    job = upload(vault, content, name)
    with pytest.raises(KohorteError):
        tasks.ingest(job)
    assert [path.name for path in vault.folder.iterdir()] == [job.request["file"]]


def test_a_release_is_that_of_the_library_and_verified(vault: Vault) -> None:
    job = work(vault, {"plan": PLAN})
    found = tasks.make_release(job)
    plan = ko.Plan.from_dict(PLAN)
    expected = ko.anonymize(FRAME, plan)
    assert found.result["release"]["levels"] == expected.levels
    assert found.result["release"]["cost"] == expected.cost
    content = vault.read(found.values["release_file"], Content.RELEASE)
    released = parse_table(content, Path("release.csv")).frame
    assert ko.verify(released, plan).satisfied
    assert sorted(released.rows()) == sorted(expected.data.rows())
    certificate = found.values["certificate"]
    assert certificate["verification"]["satisfied"]
    assert certificate["output"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert "written file" in certificate["verification"]["how"]
    assert "sha256" not in certificate["input"]
    report = vault.read(found.values["report_file"], Content.REPORT).decode()
    assert "public view" in report
    assert certificate["output"]["sha256"] in report
    assert set(job.reporter.files) == {found.values["release_file"], found.values["report_file"]}  # type: ignore[attr-defined]


def test_certificate_and_report_say_what_the_plan_states(vault: Vault) -> None:
    stated = {"title": "Registry of gout", "purpose": "study 7", "recipient": "University of Kiel"}
    found = tasks.make_release(work(vault, {"plan": PLAN | stated}))
    assert found.values["certificate"]["about"] == stated
    report = vault.read(found.values["report_file"], Content.REPORT).decode()
    assert all(said in report for said in stated.values())


def test_progress_grows_and_names_no_value(vault: Vault) -> None:
    job = work(vault, {"plan": PLAN})
    tasks.make_release(job)
    told = job.reporter.told  # type: ignore[attr-defined]
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert len(set(shares)) >= 4
    words = {word for _, message in told for word in message.replace(",", " ").split()}
    assert not words & CELLS


ZIPS = sorted(set(FRAME["zip"]))
BOUNDS = [10000, 10049, 10050, 20000]


@pytest.mark.parametrize(
    ("hierarchy", "shown"),
    [
        ({"rows": [[value, "*"] for value in ZIPS]}, {"rows": {}}),
        ({"tree": ZIPS}, {"tree": {}}),
        ({"ordering": {"values": ZIPS, "by": "given"}}, {"ordering": {"by": "given"}}),
        ({"ordering": {"by": "text"}}, None),
        ({"redaction": {"length": 5, "order": "left_to_right"}}, None),
        (
            {"intervals": {"levels": [{"bounds": BOUNDS, "labels": ["a", "10049 only", "b"]}], "integer": True}},
            {"intervals": {"integer": True}},
        ),
    ],
)
def test_a_certificate_shows_no_values_that_hierarchies_list(
    vault: Vault, hierarchy: dict[str, Any], shown: dict[str, Any] | None
) -> None:
    plan = json.loads(json.dumps(PLAN))
    plan["attributes"]["zip"]["hierarchy"] = hierarchy
    plan["models"][0]["k"] = 100
    found = tasks.make_release(work(vault, {"plan": plan}))
    certificate = found.values["certificate"]
    assert certificate["plan"]["attributes"]["zip"]["hierarchy"] == (shown or hierarchy)
    report = vault.read(found.values["report_file"], Content.REPORT).decode()
    for text in (json.dumps(found.values), json.dumps(found.result), report):
        assert "100" + "49" not in text
        assert shown is None or ko.Plan.from_dict(plan).fingerprint() not in text
    assert certificate["plan_sha256"] in report
    assert certificate["hierarchies_sha256"] == {}


def test_no_solution_is_said(vault: Vault) -> None:
    gaps = FRAME.with_columns(pl.when(pl.int_range(pl.len()) < 50).then(None).otherwise("age").alias("age"))
    plan = PLAN | {"missing": "suppress", "suppression_limit": 0.1}
    with pytest.raises(NoSolution):
        tasks.make_release(work(vault, {"plan": plan}, frame=gaps))


@pytest.mark.parametrize(
    "part",
    [
        {"attributes": {"age": {"role": "quasi-identifying", "hierarchy": {"csv": {"path": "/no/such/file"}}}}},
        {"models": [{"model": "k-map", "k": 2, "population": "/no/such/file"}]},
    ],
)
def test_a_plan_that_names_files_is_refused_without_looking_at_them(vault: Vault, part: dict[str, Any]) -> None:
    plan = {"kohorte": 1, "attributes": PLAN["attributes"], "models": [{"model": "k-anonymity", "k": 5}]} | part
    with pytest.raises(InputError) as refused:
        tasks.make_release(work(vault, {"plan": plan}))
    assert refused.value.code == "plan-files"


def test_the_risk_is_that_of_the_release(vault: Vault) -> None:
    found = tasks.measure_risk(work(vault, {"plan": PLAN, "policy": DEFAULT_POLICY.to_dict()}))
    plan = ko.Plan.from_dict(PLAN)
    expected = ko.anonymize(FRAME, plan)
    profile = ko.risk(expected.data, plan, policy=DEFAULT_POLICY)
    assert profile.weighted is not None
    assert found.result == {
        "attribute_generalization": [
            {"attribute_name": name, "generalization_level": level} for name, level in expected.levels.items()
        ],
        "risk_profile": profile.risk_profile(),
        "weighted_risk": profile.weighted.to_dict(),
        "smallest_class": expected.smallest_class,
        "unit": "rows",
        "people": None,
        "warnings": list(expected.person_notes),
    }
    assert "nobody has said that every row is another person" in expected.person_notes[0]
    assert found.values == {}


def test_the_risk_of_a_plan_with_people_is_that_of_people(vault: Vault) -> None:
    """Each person has two rows, so that a class of ten rows is one of five people."""
    twice = pl.concat([FRAME.with_row_index("name"), FRAME.with_row_index("name")])
    plan = PLAN | {"person": "name", "attributes": {"name": {"role": "identifying"}, **PLAN["attributes"]}}
    found = tasks.measure_risk(work(vault, {"plan": plan, "policy": DEFAULT_POLICY.to_dict()}, frame=twice)).result
    once = tasks.measure_risk(work(vault, {"plan": PLAN, "policy": DEFAULT_POLICY.to_dict()})).result
    assert (found["unit"], found["people"]) == ("people", 200)
    risks = found["risk_profile"]["re_identification_risk"]
    assert risks["highest_prosecutor_risk"] == once["risk_profile"]["re_identification_risk"]["highest_prosecutor_risk"]
    assert "people_affected_by_highest_prosecutor_risk" in risks
    assert not any("records" in name for name in risks)


def test_a_recoding_tells_its_highest_levels(vault: Vault) -> None:
    plan = PLAN | {"search": {"algorithm": "mondrian"}}
    found = tasks.measure_risk(work(vault, {"plan": plan, "policy": DEFAULT_POLICY.to_dict()}))
    names = [entry["attribute_name"] for entry in found.result["attribute_generalization"]]
    assert names == ["age", "zip", "sex"]


def test_a_dataset_without_a_table_is_refused(vault: Vault) -> None:
    with pytest.raises(InputError) as refused:
        tasks.make_release(Work({"plan": PLAN}, None, 10, vault, Listener()))
    assert refused.value.code == "dataset-conflict"
