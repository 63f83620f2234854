"""The release check as people use it: statistics, request, check, two decisions, answer."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kohorte.cli.main import main
from kohorte.data import strict_yaml
from testbed.hospital import PLAN, STATISTICS, patients, request

PASSWORDS = {"Ben": "correct horse battery", "Cleo": "quite another staple"}


class Command:
    """Runs the command in a folder, and returns what it prints as JSON."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, line: str, *, code: int = 0, password: str = "") -> Any:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
        self._capsys.readouterr()  # what other commands printed
        words = [*line.split(), "--folder", "house", "--json", *(["--password-stdin"] if password else [])]
        assert main(words) == code, self._capsys.readouterr()
        return json.loads(self._capsys.readouterr().out)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    patients(900, people=700, treated=350).write_csv("patients.csv")
    Path("plan.yaml").write_text(strict_yaml.dump(PLAN))
    asked = {"all": [{"attribute": "drug", "is": "ibuprofen"}]}
    soon = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
    Path("request.json").write_text(json.dumps(request(asked, until=soon).to_dict()))
    Path("holding.yaml").write_text(
        strict_yaml.dump(
            {
                "kohorte": 1,
                "institution": "Hospital B",
                "plan": "plan.yaml",
                "policy": "default",
                "statistics": STATISTICS,
                "population": 500_000,
            }
        )
    )
    return Command(capsys, monkeypatch)


def test_a_request_is_checked_decided_by_two_people_and_answered(run: Command) -> None:
    imported = run("exchange statistics import --shipped")
    assert {one["version"] for one in imported["imported"]} == {1}
    assert run("exchange request request.json")["request"] == 1
    found = run("exchange check 1 patients.csv --holding holding.yaml --page check.html --quiet")
    assert found["recommendation"] == "release with changes"
    assert "Recommendation" in Path("check.html").read_text()
    for name, password in PASSWORDS.items():
        run(f"reidentify add-person {name} --role approver", password=password)
    assert run("exchange decide 1 --release --as Ben", password=PASSWORDS["Ben"])["decided"] == 1
    assert run("exchange decide 1 --release --as Ben", code=1, password=PASSWORDS["Ben"])["error"] == "exchange-decider"
    wrong = run("exchange decide 1 --release --as Cleo", code=1, password="not her password")
    assert wrong["error"] == "trust-person-wrong"
    assert run("exchange answer 1 --output answer", code=2)["error"] == "exchange-undecided"
    assert not Path("answer").exists()
    assert run("exchange decide 1 --release --as Cleo", password=PASSWORDS["Cleo"])["state"] == "decided: release"
    assert run("exchange answer 1 --output answer")["released"]
    assert {path.name for path in Path("answer").iterdir()} == {
        "answer.json", "table.csv", "table.certificate.json", "table.certificate.txt",
    }  # fmt: skip
    assert main(["verify", "answer/table.csv", "--plan", "answer/table.certificate.json"]) == 0
    assert main(["verify", "answer/table.csv", "--plan", "missing.certificate.json"]) == 2
    assert run("exchange check 1 patients.csv --holding holding.yaml --quiet", code=2)["error"] == "exchange-answered"
    [only] = run("exchange inbox")["requests"]
    assert (only["request"], only["institution"], only["state"]) == (1, "Institute A", "answered")


def test_one_password_does_not_decide_under_two_names(run: Command) -> None:
    run("exchange statistics import --shipped")
    run("exchange request request.json")
    run("exchange check 1 patients.csv --holding holding.yaml --quiet")
    for name in PASSWORDS:
        run(f"reidentify add-person {name} --role approver", password=PASSWORDS["Ben"])
    run("exchange decide 1 --release --as Ben", password=PASSWORDS["Ben"])
    second = run("exchange decide 1 --release --as Cleo", code=1, password=PASSWORDS["Ben"])
    assert second["error"] == "exchange-decider"
    assert run("exchange answer 1 --output answer", code=2)["error"] == "exchange-undecided"


def test_missing_statistics_are_an_error_and_what_is_missing_is_said(run: Command) -> None:
    run("exchange request request.json")
    assert run("exchange check 1 patients.csv --holding holding.yaml --quiet", code=2)["error"] == (
        "exchange-statistics-missing"
    )
    assert len(run("exchange statistics check", code=1)["problems"]) == 10
    assert run("exchange statistics list")["versions"] == []
    assert run("exchange statistics import", code=2)["error"] == "exchange-statistics-origin"


def test_a_table_of_ones_own_is_imported_with_its_origin(run: Command) -> None:
    Path("own.csv").write_text("icd10,count\nE11.9,700\nI10,2000\n")
    line = "exchange statistics import own.csv --layout icd10 --name own --source office --licence CC0"
    run(f"{line} --date 2024-12-31 --reference everybody --population 10000")
    [version] = run("exchange statistics list")["versions"]
    assert (version["origin"]["kind"], version["entries"], version["version"]) == ("disease", 2, 1)
