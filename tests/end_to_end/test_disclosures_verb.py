"""`kohorte disclosures` and `kohorte anonymize --ledger`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from kohorte.cli.main import main

PLAN = """\
kohorte: 1
person: patient
attributes:
  patient: {role: identifying}
  age: {role: quasi-identifying, hierarchy: {intervals: {lower: 0, upper: 100, widths: [10, 50], integer: true}}}
  diagnosis: {role: insensitive}
models:
  - {model: k-anonymity, k: 3}
"""
AGES = [31, 32, 33, 34, 35, 36, 61, 62, 63, 64, 65, 66]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a plan, a ledger, a table, and the table without one person."""
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(PLAN)
    table = pl.DataFrame({"patient": [f"p{age}" for age in AGES], "age": AGES, "diagnosis": ["flu", "gout"] * 6})
    table.write_csv("all.csv")
    table.filter(pl.col("age") != 31).write_csv("most.csv")
    assert main(["disclosures", "init", "ledger"]) == 0
    return tmp_path


def released(table: str, output: str, *options: str) -> int:
    given = ["--plan", "plan.yaml", "--output", output, "--ledger", "ledger", "--recipient", "Institute A"]
    return main(["anonymize", table, *given, *options])


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    main([*arguments, "--json"])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_release_is_recorded_and_one_without_a_person_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert released("all.csv", "one.csv", "--purpose", "study") == 0
    assert "the disclosure ledger found nothing" in capsys.readouterr().out
    assert released("most.csv", "two.csv") == 1
    error = capsys.readouterr().err
    assert "[disclosure-refused]" in error
    assert "(with release 1): at most 3 people" in error
    assert not Path("two.csv").exists()
    (facts,) = output_of(capsys, "disclosures", "list", "ledger")["releases"]  # type: ignore[misc]
    assert facts["recipient"] == "Institute A"
    assert facts["people"] == 12
    assert facts["purpose"] == "study"
    assert len(facts["certificate"]) == 64
    assert main(["disclosures", "list", "ledger"]) == 0
    assert main(["disclosures", "show", "ledger", "1"]) == 0
    assert "column age: 2 labels" in capsys.readouterr().out


def test_a_release_can_be_written_despite_the_ledger(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    released("all.csv", "one.csv")
    assert released("most.csv", "two.csv", "--despite-ledger") == 0
    assert "written despite the ledger" in capsys.readouterr().out
    found = output_of(capsys, "disclosures", "list", "ledger", "--recipient", "Institute A")
    assert len(found["releases"]) == 2  # type: ignore[arg-type]
    assert output_of(capsys, "disclosures", "list", "ledger", "--recipient", "B") == {"releases": []}


def test_a_dry_run_examines_and_records_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--plan", "plan.yaml", "--dry-run", "--ledger", "ledger", "--recipient", "A")
    assert output_of(capsys, "anonymize", "all.csv", *options)["ledger_findings"] == []
    assert output_of(capsys, "disclosures", "list", "ledger") == {"releases": []}


def test_a_release_made_without_the_ledger_is_checked_and_recorded(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("all", "most"):
        assert main(["anonymize", f"{name}.csv", "--plan", "plan.yaml", "--output", f"{name}-out.csv"]) == 0
    about = {
        name: [f"{name}.csv", "--plan", "plan.yaml", "--release", f"{name}-out.csv", "--recipient", "public"]
        for name in ("all", "most")
    }
    assert main(["disclosures", "check", "ledger", *about["all"]]) == 0
    assert main(["disclosures", "record", "ledger", *about["all"]]) == 0
    assert main(["disclosures", "check", "ledger", *about["most"], "--together", "alone"]) == 1
    found = output_of(capsys, "disclosures", "check", "ledger", *about["most"])
    assert found == {"k": 3, "findings": [{"kind": "all but few", "releases": [1], "people_at_most": 3}]}
    assert main(["disclosures", "record", "ledger", *about["most"]]) == 1
    assert main(["disclosures", "record", "ledger", *about["most"], "--despite"]) == 0
    found = output_of(capsys, "disclosures", "check", "ledger")
    assert found["whole"] is True
    assert found["releases"] == 2
    assert main(["disclosures", "check", "ledger", "--head", str(found["head"])]) == 0
    assert main(["disclosures", "check", "ledger", "--head", "1:" + "0" * 64]) == 3


def test_withdrawn_people_and_some_with_them_are_in_no_later_release(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("gone.csv").write_text("patient\nP31\n")
    assert main(["disclosures", "withdraw", "ledger", "gone.csv", "--person", "patient"]) == 0
    assert "1 person newly withdrawn" in capsys.readouterr().out
    assert output_of(capsys, "disclosures", "withdraw", "ledger", "gone.csv", "--person", "patient") == {"withdrawn": 0}
    assert released("all.csv", "one.csv") == 0
    assert "4 people are left out by the disclosure ledger" in capsys.readouterr().out
    assert pl.read_csv("one.csv").height == 8
    assert released("all.csv", "two.csv", "--despite-ledger") == 0
    assert pl.read_csv("two.csv").height == 11


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("disclosures list nowhere", "trust-folder-missing"),
        ("disclosures show ledger 7", "disclosure-release-unknown"),
        ("disclosures check ledger all.csv", "disclosure-options"),
        ("disclosures check ledger --head 7", "disclosure-options"),
        ("disclosures withdraw ledger all.csv --person nobody", "columns-missing"),
        ("anonymize all.csv --plan plan.yaml --output x.csv --ledger ledger", "disclosure-recipient"),
        ("anonymize all.csv --plan plan.yaml --output x.csv --despite-ledger", "disclosure-options"),
        ("anonymize all.csv --plan rows.yaml --output x.csv --ledger ledger --recipient A", "disclosure-person"),
    ],
)
def test_wrong_use_is_refused_with_a_code(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, code: str
) -> None:
    Path("rows.yaml").write_text(PLAN.replace("person: patient", "person: none"))
    assert main(arguments.split()) == 2
    assert f"[{code}]" in capsys.readouterr().err
    assert not Path("x.csv").exists()
