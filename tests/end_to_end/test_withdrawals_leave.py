"""A person takes a consent back: from then on no release, series or answer has them, and nobody sees who it was."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from kohorte.cli.main import main

PLAN = """\
kohorte: 1
person: pid
attributes:
  pid: {role: identifying}
  age: {role: quasi-identifying, hierarchy: {intervals: {lower: 0, upper: 100, widths: [50], integer: true}}}
  diagnosis: {role: insensitive}
models:
  - {model: k-anonymity, k: 3}
"""
SERIES = "kohorte: 1\nregions: {age: {lower: 0, upper: 100, step: 1}}\narrivals: known\n"
FIRST = ("Anna", "Bernd", "Clara", "Dora", "Emil", "Fritz", "Gerda", "Hugo", "Ida", "Jakob", "Klara", "Ludwig")
K = 3


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """A folder with a patient list whose people agreed, a ledger in the same folder, and a table with their PIDs."""
    monkeypatch.chdir(tmp_path)
    born = [f"{1950 + at}-03-{at + 1:02}" for at in range(len(FIRST))]
    names = {"first_name": FIRST, "last_name": [f"{name}mann" for name in FIRST], "birth_date": born}
    pl.DataFrame(names).write_csv("clinic.csv")
    assert main(["patients", "register", "clinic.csv", "--folder", "house", "--output", "pids.csv"]) == 0
    pids = pl.read_csv("pids.csv", infer_schema=False)["pid"]
    table = pl.DataFrame({"pid": pids, "age": [30 + at for at in range(12)], "diagnosis": ["flu", "gout"] * 6})
    table.write_csv("table.csv")
    Path("plan.yaml").write_text(PLAN)
    Path("series-plan.yaml").write_text(PLAN + "suppression_limit: 1.0\n")
    Path("series.yaml").write_text(SERIES)
    consent = ["patients", "consent", "give", "--file", "table.csv", "--purpose", "research", "--folder", "house"]
    assert main(consent) == 0
    assert main(["disclosures", "init", "house"]) == 0
    return table


def withdraw(pid: str) -> None:
    assert main(["patients", "consent", "withdraw", pid, "--folder", "house"]) == 0


def released(output: str) -> pl.DataFrame:
    given = ["--plan", "plan.yaml", "--output", output, "--ledger", "house", "--recipient", "Institute A"]
    assert main(["anonymize", "table.csv", *given]) == 0
    return pl.read_csv(output)


def test_who_withdraws_is_not_in_the_next_release_and_has_company(people: pl.DataFrame) -> None:
    assert released("one.csv").height == 12
    withdraw(people["pid"][0])
    second = released("two.csv")
    assert 0 < second.height <= 12 - K
    assert released("three.csv").height == second.height  # the same people stay out, with them


def test_in_a_growing_table_too_and_whatever_its_settings_say_about_rows_that_leave(
    people: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["series", "start", "s", "--plan", "series-plan.yaml", "--settings", "series.yaml"]) == 0
    given = ("--ledger", "house", "--recipient", "Institute A", "--output")
    assert main(["series", "release", "s", "table.csv", *given, "one.csv"]) == 0
    withdraw(people["pid"][0])
    found = output_of(capsys, "series", "release", "s", "table.csv", *given, "two.csv")
    assert found["ledger_left_out"] == 1
    gone = Counter(pl.read_csv("one.csv")["age"]) - Counter(pl.read_csv("two.csv")["age"])
    assert sum(gone.values()) >= K
    listed = output_of(capsys, "disclosures", "list", "house")["releases"]
    assert [one["kind"] for one in listed] == ["series", "series"]  # type: ignore[attr-defined]
    again = ["series", "release", "s", "table.csv", "--again", "1", *given]
    assert main([*again, "again.csv"]) != 0  # the person was in it
    assert not Path("again.csv").exists()


def test_a_series_records_each_release_and_says_which_are_in_the_ledger(
    people: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["series", "start", "s", "--plan", "series-plan.yaml", "--settings", "series.yaml"]) == 0
    assert main(["series", "release", "s", "table.csv", "--output", "one.csv"]) == 0
    status = output_of(capsys, "series", "status", "s", "--ledger", "house")
    assert status["not_in_ledger"] == [1]
    given = ("--ledger", "house", "--recipient", "Institute A", "--output")
    assert main(["series", "release", "s", "table.csv", "--again", "1", *given, "again.csv"]) == 0
    capsys.readouterr()
    assert main(["series", "status", "s", "--ledger", "house"]) == 0
    assert "the disclosure ledger has all releases of the series" in capsys.readouterr().out
    assert output_of(capsys, "series", "verify", "s", "table.csv", "--ledger", "house")["not_in_ledger"] == []


METADATA = """\
kohorte: 1
table: T
columns: {age: {datatype: int, min: 0, max: 100}}
private_id: pid
budget: {epsilon: 100.0, delta: 1e-6}
"""


def counted(capsys: pytest.CaptureFixture[str], sql: str) -> int:
    options = ("--metadata", "metadata.yaml", "--epsilon", "40", "--disclosures", "house", "--recipient", "B")
    answer = output_of(capsys, "query", "ask", "table.csv", sql, *options)["query_result"]
    return round(next(iter(next(iter(answer.values())).values())))  # type: ignore[attr-defined]


def test_answers_with_noise_are_listed_with_their_cost_and_do_not_count_who_has_withdrawn(
    people: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("metadata.yaml").write_text(METADATA)
    assert counted(capsys, "SELECT COUNT(*) AS n FROM T") == 12
    withdraw(people["pid"][0])
    assert counted(capsys, "SELECT COUNT(age) AS n FROM T") == 11
    first, second = output_of(capsys, "disclosures", "list", "house")["releases"]  # type: ignore[misc]
    assert (first["kind"], first["recipient"], first["epsilon"], first["delta"]) == ("query", "B", 40.0, 0.0)
    assert second["people"] == 0  # it tells no set of people
    assert main(["disclosures", "list", "house"]) == 0
    assert "2 answers with noise: epsilon at most 80, delta at most 0 in all" in capsys.readouterr().out
    assert released("one.csv").height <= 12 - K  # and splits nothing
