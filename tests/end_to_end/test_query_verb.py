"""`kohorte query` as a user runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
COMMAND_LINE = Path(__file__).parents[2] / "docs" / "command-line.md"
METADATA = """\
kohorte: 1
table: PRIORI
columns:
  age: {datatype: int, min: 0, max: 120}
  married: {datatype: bool}
  diagnosis: {datatype: text, cardinality: 5}
private_id: patient_id
budget: {epsilon: 1.0, delta: 1e-6}
"""
PLAN = """\
kohorte: 1
attributes:
  diagnosis: {role: identifying}
  age: {role: quasi-identifying}
models: [{model: k-anonymity, k: 2}]
"""
AVERAGE = "SELECT married, AVG(age) FROM PRIORI GROUP BY married"


@pytest.fixture
def ward(folder: Path, run: Run) -> Path:
    (folder / "metadata.yaml").write_text(METADATA)
    (folder / "plan.yaml").write_text(PLAN)
    assert run("query", "dummy", "--metadata", "metadata.yaml", "--rows", 500, "--output", "data.csv").code == 0
    return folder


def ask(run: Run, sql: str, *options: object, epsilon: float = 0.5) -> Any:
    return run("query", "ask", "data.csv", sql, "--metadata", "metadata.yaml", "--epsilon", epsilon, *options)


def keys(answer: object) -> set[str]:
    if isinstance(answer, dict):
        inner = (keys(value) for key, value in answer.items() if key != "query_result")
        return set(answer).union(*inner)
    return set().union(*map(keys, answer)) if isinstance(answer, list) else set()


def documented(title: str) -> set[str]:
    text = COMMAND_LINE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"`([^`]+)`", text))


@pytest.mark.usefixtures("ward")
def test_the_example_of_the_source_has_its_form(run: Run) -> None:
    answer = ask(run, AVERAGE, "--json").json
    assert answer["query_result"]["married"] == {"0": False, "1": True}
    assert set(answer["query_result"]["Col1"]) == {"0", "1"}
    assert answer["cost"] == {"epsilon": 0.5, "delta": 0.0}
    assert answer["remaining"] == {"epsilon": 0.5, "delta": 1e-6}
    assert keys(answer) <= documented("query ask")


@pytest.mark.usefixtures("ward")
def test_the_budget_is_spent_asked_for_and_refused(run: Run) -> None:
    assert ask(run, AVERAGE).code == 0
    again = ask(run, AVERAGE)
    assert "nothing: the same query was answered before" in again.out
    shown = run("query", "budget", "--metadata", "metadata.yaml", "--json").json
    assert (shown["spent"]["epsilon"], shown["remaining"]["epsilon"]) == (0.5, 0.5)
    assert keys(shown) <= documented("query budget")
    refused = ask(run, "SELECT COUNT(*) FROM PRIORI", epsilon=0.6)
    assert refused.code == 1
    assert "[query-budget]" in refused.err
    assert ask(run, "SELECT COUNT(*) FROM PRIORI", "--researcher", "john", epsilon=0.6).code == 0
    assert "remaining  epsilon 0.5" in run("query", "budget", "--metadata", "metadata.yaml").out


@pytest.mark.usefixtures("ward")
def test_an_estimate_reads_no_table_and_writes_no_ledger(run: Run, ward: Path) -> None:
    ran = run("query", "estimate", AVERAGE, "--metadata", "metadata.yaml", "--epsilon", 0.5, "--json")
    assert ran.code == 0
    assert ran.json["affordable"]
    assert keys(ran.json) <= documented("query estimate")
    too_much = run("query", "estimate", AVERAGE, "--metadata", "metadata.yaml", "--epsilon", 2)
    assert too_much.code == 1
    assert "not enough" in too_much.out
    assert not (ward / "metadata.ledger").exists()


@pytest.mark.usefixtures("ward")
def test_a_dry_run_needs_no_table_and_spends_nothing(run: Run, ward: Path) -> None:
    (ward / "data.csv").unlink()
    ran = ask(run, "SELECT diagnosis, MEDIAN(age) FROM PRIORI GROUP BY diagnosis", "--delta", 1e-6, "--dry-run")
    assert ran.code == 0
    assert "made-up data; nothing was spent" in ran.out
    assert not (ward / "metadata.ledger").exists()


@pytest.mark.usefixtures("ward")
def test_identifying_attributes_of_the_plan_are_refused(run: Run) -> None:
    sql = "SELECT COUNT(diagnosis) FROM PRIORI"
    assert ask(run, sql).code == 0
    refused = ask(run, sql, "--plan", "plan.yaml")
    assert refused.code == 2
    assert "[query-column]" in refused.err


@pytest.mark.usefixtures("ward")
@pytest.mark.parametrize(
    ("sql", "options", "code"),
    [
        ("SELECT * FROM PRIORI", (), "query-not-allowed"),
        ("SELECT COUNT(*) FROM PRIORI", ("--ledger", "data.csv"), "query-ledger"),
        ("SELECT COUNT(*) FROM PRIORI", ("--ledger", "absent/x.ledger"), "query-ledger"),
        ("SELECT COUNT(*) FROM PRIORI", ("--delta", "2"), "query-delta"),
        ("SELECT diagnosis, COUNT(*) FROM PRIORI GROUP BY diagnosis", (), "query-delta"),
    ],
)
def test_wrong_use_has_exit_code_2_and_spends_nothing(
    run: Run, ward: Path, sql: str, options: tuple[str, ...], code: str
) -> None:
    ran = ask(run, sql, *options, "--json")
    assert ran.code == 2
    assert ran.json["error"] == code
    assert not (ward / "metadata.ledger").exists()


@pytest.mark.usefixtures("ward")
def test_dummy_data_say_what_was_written_and_never_replace_a_file(run: Run) -> None:
    again = run("query", "dummy", "--metadata", "metadata.yaml", "--output", "data.csv", "--json")
    assert again.json["error"] == "output-exists"
    done = run("query", "dummy", "--metadata", "metadata.yaml", "--output", "data.csv", "--force", "--json").json
    assert done["columns"] == ["patient_id", "age", "married", "diagnosis"]
    assert keys(done) <= documented("query dummy")


def test_help_shows_examples(run: Run) -> None:
    ran = run("query", "ask", "--help")
    assert ran.code == 0
    assert "metadata.yaml" in ran.out
    assert "SELECT sex, AVG(age)" in ran.out


def test_a_patient_who_counts_once_in_each_ward_is_warned_of(folder: Path, run: Run) -> None:
    (folder / "metadata.yaml").write_text(METADATA.replace("private_id: patient_id\n", "max_contributions: 2\n"))
    (folder / "plan.yaml").write_text(PLAN.replace("diagnosis:", "patient_id:") + "person: [patient_id, ward]\n")
    rows = [f"secret-{row % 50},w{row // 50},{row % 90},true,d{row % 5}" for row in range(150)]
    (folder / "data.csv").write_text("\n".join(["patient_id,ward,age,married,diagnosis", *rows]))
    found = ask(run, "SELECT AVG(age) FROM PRIORI", "--plan", "plan.yaml")
    assert found.code == 0, found.err
    [line] = [line for line in found.out.splitlines() if line.startswith("warning: people may be counted")]
    assert "'ward' hardly numbers people of its own" in line
    assert "secret" not in line
    asked = ask(run, "SELECT AVG(age) FROM PRIORI", "--plan", "plan.yaml", "--json").json
    assert [f"warning: {one}" for one in asked["warnings"]] == [line]
    assert ask(run, AVERAGE).code == 2, "without the plan nobody says whom a row is about"
