"""Commands say that rows are counted where a table seems to have several rows of one person."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from kohorte.cli.main import main

PLAN = """\
kohorte: 1
attributes:
  patient_id: {role: identifying}
  age: {role: quasi-identifying}
models:
  - {model: k-anonymity, k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = range(40)
    frame = pl.DataFrame({"patient_id": [f"secret-{row % 17}" for row in rows], "age": [row % 4 for row in rows]})
    frame.write_csv(tmp_path / "stays.csv")
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def said(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main([word.format(folder=folder) for word in words])
    out = capsys.readouterr().out
    assert code in (0, 1)
    assert "secret" not in out
    return out


ANONYMIZE = ("anonymize", "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")
NOTE = "rows are counted, not people: 'patient_id' has 17 different values in 40 rows"


def test_anonymize_notes_rows_that_are_not_people_in_output_json_certificate_and_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ("--report", "{folder}/report.html")
    assert NOTE in said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv", *report)
    assert NOTE in " ".join(json.loads((folder / "out.certificate.json").read_text())["warnings"])
    page = (folder / "report.html").read_text()
    assert "rows are counted, not people" in page
    assert "look closer" in page
    found = json.loads(said(folder, capsys, *ANONYMIZE, "--dry-run", "--json"))
    assert NOTE in " ".join(found["verdict"]["reasons"])
    assert found["verdict"]["standing"] == "amber"


def test_a_plan_that_states_the_unit_gets_no_such_note(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("person: patient_id", "person: none"):
        (folder / "plan.yaml").write_text(f"{PLAN}{line}\n")
        assert "rows are counted" not in said(folder, capsys, *ANONYMIZE, "--dry-run")


@pytest.mark.parametrize("verb", ["risk", "verify"])
def test_risk_and_verify_say_the_same_where_the_column_is_at_hand(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    options = (verb, "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")
    assert f"note: {NOTE}" in said(folder, capsys, *options)
    assert NOTE in " ".join(json.loads(said(folder, capsys, *options, "--json"))["warnings"])


def test_profile_proposes_the_person_with_the_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(folder, capsys, "profile", "{folder}/stays.csv", "--write-plan", "{folder}/first.yaml")
    assert "first plan" in out
    plan = (folder / "first.yaml").read_text()
    assert "\nperson: patient_id\n" in plan
    assert "person: 'patient_id' has 17 different values in 40 rows" in plan
    found = json.loads(said(folder, capsys, "profile", "{folder}/stays.csv", "--json"))
    assert any(reason.startswith("person: ") for reason in found["reasons"])
    assert found["plan"]["person"] == "patient_id"
