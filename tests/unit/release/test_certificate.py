"""The certificate: complete, readable, and its hashes are those of the files."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import EngineError, InputError, InternalError
from kohorte.kernels import KERNELS
from kohorte.release import certificate_paths, find_candidate, write_release
from kohorte.sources import FrameSource


@pytest.fixture
def source(patients: pl.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    patients.write_csv(path)
    return path


def release_to(output: Path, source: Path, plan: ko.Plan, *, force: bool = False) -> dict[str, Any]:
    table = ko.read_table(source)
    write_release(find_candidate(FrameSource(table.frame), plan), output, source=table, force=force)
    return json.loads(certificate_paths(output)[0].read_text(encoding="utf-8"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
def test_the_hashes_are_those_of_the_files_and_of_the_plan(
    source: Path, patient_plan: ko.Plan, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"release{suffix}"
    facts = release_to(output, source, patient_plan)
    assert facts["input"] == {"name": "patients.csv", "sha256": sha256(source), "rows": 12}
    assert facts["output"]["name"] == output.name
    assert facts["output"]["sha256"] == sha256(output)
    assert facts["plan_sha256"] == patient_plan.fingerprint()
    text = certificate_paths(output)[1].read_text(encoding="utf-8")
    for digest in (sha256(source), sha256(output), patient_plan.fingerprint()):
        assert digest in text


def test_the_certificate_says_what_was_done_and_verified(source: Path, patient_plan: ko.Plan, tmp_path: Path) -> None:
    facts = release_to(tmp_path / "release.csv", source, patient_plan)
    release = ko.anonymize(ko.read_table(source).frame, patient_plan)
    assert ko.Plan.from_dict(facts["plan"]) == patient_plan
    assert facts["versions"]["kohorte"] == version("kohorte")
    assert facts["versions"]["kernels"] == KERNELS
    assert facts["release"]["levels"] == release.levels
    assert facts["release"]["cost"] == release.cost
    assert facts["verification"]["satisfied"] is True
    assert facts["verification"]["how"].startswith("counted again from the written file")
    assert facts["verification"]["suppressed"] == release.suppressed
    assert facts["output"]["identifying_columns_removed"] == 1
    builders = {name: item.hierarchy for name, item in patient_plan.attributes.items() if item.hierarchy is not None}
    assert set(facts["hierarchies_sha256"]) == {
        name for name in patient_plan.quasi_identifiers if name in builders and builders[name].independent
    }


def test_the_text_says_what_is_guaranteed_and_what_is_left_open(
    source: Path, patient_plan: ko.Plan, tmp_path: Path
) -> None:
    release_to(tmp_path / "release.csv", source, patient_plan)
    text = " ".join((tmp_path / "release.certificate.txt").read_text(encoding="utf-8").split())
    assert "k-anonymity (k = 2): holds" in text
    assert "Protects against - k-anonymity (k = 2): Every row" in text
    assert "Does not protect against" in text
    assert "Attribute disclosure" in text
    assert "'diagnosis' is sensitive, but no model of the plan protects it" in text
    assert "order of the input, which can tell who is who" in text


def test_a_certificate_can_be_made_without_files(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    certificate = ko.certify(ko.anonymize(patients, patient_plan))
    facts = json.loads(certificate.to_json())
    assert facts["verification"]["satisfied"] is True
    assert "independently of the search" in facts["verification"]["how"]
    assert "written file" not in facts["verification"]["how"]
    assert "Verdict: all models hold" in certificate.to_text()


def test_a_certificate_is_strict_json(source: Path, patient_plan: ko.Plan, tmp_path: Path) -> None:
    hurried = ko.Plan.from_dict(patient_plan.to_dict() | {"search": {"algorithm": "optimal", "time_limit": 1e-9}})
    release_to(tmp_path / "release.csv", source, hurried)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads((tmp_path / "release.certificate.json").read_text(), parse_constant=refuse)


def test_a_written_table_that_is_not_the_release_is_withheld(
    source: Path, patient_plan: ko.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(frame: pl.DataFrame, target: Path, path: Path, *, separator: str, formulas: object) -> None:
        frame.head(5).write_csv(target, separator=separator)

    def raw(frame: pl.DataFrame, target: Path, path: Path, *, separator: str, formulas: object) -> None:
        frame.with_columns(sex=pl.Series(map(str, range(12)))).write_csv(target, separator=separator)

    before = sorted(tmp_path.iterdir())
    for wrong in (half, raw):
        monkeypatch.setattr("kohorte.sources.frame.fill_table", wrong)
        with pytest.raises(InternalError) as caught:
            release_to(tmp_path / "release.csv", source, patient_plan)
        assert caught.value.code == "not-verified"
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("failing", ["to_json", "to_text"])
def test_when_the_certificate_cannot_be_written_there_is_no_table_either(
    source: Path, patient_plan: ko.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(_: ko.Certificate, *__: object) -> str:
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(ko.Certificate, failing, full)
    with pytest.raises(EngineError) as caught:
        release_to(tmp_path / "release.csv", source, patient_plan)
    assert caught.value.code == "disk-full"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("existing", ["release.csv", "release.certificate.json", "release.certificate.txt"])
def test_an_existing_file_stays_as_it_is_unless_forced(
    source: Path, patient_plan: ko.Plan, tmp_path: Path, existing: str
) -> None:
    (tmp_path / existing).write_text("precious")
    with pytest.raises(InputError) as caught:
        release_to(tmp_path / "release.csv", source, patient_plan)
    assert caught.value.code == "output-exists"
    assert (tmp_path / existing).read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2
    facts = release_to(tmp_path / "release.csv", source, patient_plan, force=True)
    assert facts["output"]["sha256"] == sha256(tmp_path / "release.csv")


def test_a_release_never_replaces_its_own_input(patients: pl.DataFrame, patient_plan: ko.Plan, tmp_path: Path) -> None:
    for name, output in (("a.csv", "a.csv"), ("b.certificate.txt", "b.csv"), ("c.certificate.json", "c.csv")):
        patients.write_csv(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InputError) as caught:
            release_to(tmp_path / output, tmp_path / name, patient_plan, force=True)
        assert caught.value.code == "output-is-input"
        assert (tmp_path / name).read_bytes() == before


def test_a_file_name_that_is_no_utf_8_does_not_spoil_the_certificate(
    source: Path, patient_plan: ko.Plan, tmp_path: Path
) -> None:
    odd = tmp_path / "pati\udcebnts.csv"
    try:
        source.rename(odd)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    facts = release_to(tmp_path / "release.csv", odd, patient_plan)
    assert facts["input"]["name"] == "pati\ufffdnts.csv"
