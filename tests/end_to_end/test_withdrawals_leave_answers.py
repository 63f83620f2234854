"""A person of the patient list takes a consent back: no later answer to another institution has them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.data import strict_yaml
from kohorte.disclosures.ledger import Ledger
from support.registered import K, few_stand_out, identities, table_with_pids
from support.trust import database_of
from testbed.hospital import PLAN, STATISTICS, request

PASSWORDS = {"Ben": "correct horse battery", "Cleo": "quite another staple"}
SOON = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
HOLDING: dict[str, Any] = {
    "kohorte": 1,
    "institution": "Hospital B",
    "plan": "plan.yaml",
    "policy": "default",
    "statistics": STATISTICS,
    "population": 500_000,
}


class Hospital:
    """A folder with the patient list, the consents, the requests and the ledger of a hospital."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def run(self, line: str, *, code: int = 0, password: str = "") -> Any:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
        self._capsys.readouterr()
        words = [*line.split(), "--folder", "house", "--json", *(["--password-stdin"] if password else [])]
        assert main(words) == code, self._capsys.readouterr()
        return json.loads(self._capsys.readouterr().out)

    def decided(self, institution: str) -> int:
        """Receive a request for everybody who gets ibuprofen, check it, and let two people release the answer."""
        asked = request({"attribute": "drug", "is": "ibuprofen"}, until=SOON, institution=institution)
        Path("request.json").write_text(json.dumps(asked.to_dict()))
        number: int = self.run("exchange request request.json")["request"]
        self.run(f"exchange check {number} table.csv --holding holding.yaml --quiet")
        for name, password in PASSWORDS.items():
            self.run(f"exchange decide {number} --release --as {name}", password=password)
        return number

    def answered(self, institution: str) -> pl.DataFrame:
        """The table of the answer to the request of an institution."""
        number = self.decided(institution)
        assert self.run(f"exchange answer {number} --output answer-{number}")["released"]
        return pl.read_csv(f"answer-{number}/table.csv")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def hospital(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hospital]:
    """A hospital whose patient list, consents and ledger are in one of both kinds of databases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KOHORTE_FOLDER", raising=False)
    with database_of(request, monkeypatch):
        yield _prepared(capsys, monkeypatch)


def _prepared(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hospital:
    pl.DataFrame(identities(300)).write_csv("clinic.csv")
    assert main(["patients", "register", "clinic.csv", "--folder", "house", "--output", "pids.csv"]) == 0
    table_with_pids(pl.read_csv("pids.csv", infer_schema=False)["pid"].to_list()).write_csv("table.csv")
    Path("plan.yaml").write_text(strict_yaml.dump(PLAN))
    Path("holding.yaml").write_text(strict_yaml.dump(HOLDING))
    found = Hospital(capsys, monkeypatch)
    found.run("patients consent give --file table.csv --column patient --purpose research")
    found.run("exchange statistics import --shipped")
    for name, password in PASSWORDS.items():
        found.run(f"reidentify add-person {name} --role approver", password=password)
    return found


def somebody_of_release(number: int) -> str:
    """The PID of a person whom a release showed."""
    ledger = Ledger.open("house")
    pids = pl.read_csv("pids.csv", infer_schema=False)["pid"]
    found: str = next(pid for pid in reversed(pids.to_list()) if number in ledger.releases_of(pid))
    ledger.close()
    return found


def releases_of(pid: str) -> list[int]:
    ledger = Ledger.open("house")
    found = ledger.releases_of(pid)
    ledger.close()
    return found


def test_who_withdraws_is_not_in_the_next_answer_and_has_company(hospital: Hospital) -> None:
    first = hospital.answered("Institute A")
    pid = somebody_of_release(1)
    hospital.run(f"patients consent withdraw {pid}")
    second = hospital.answered("Institute C")
    assert releases_of(pid) == [1]
    assert 0 < second.height <= first.height - K
    assert not few_stand_out(first, second)


@pytest.mark.slow
def test_an_answer_that_was_decided_before_somebody_in_it_withdrew_is_not_sent(hospital: Hospital) -> None:
    hospital.answered("Institute A")
    number = hospital.decided("Institute C")
    pid = somebody_of_release(1)
    hospital.run(f"patients consent withdraw {pid}")
    refused = hospital.run(f"exchange answer {number} --output late", code=1)
    assert refused["error"] == "disclosure-refused"
    assert not Path("late").exists()
    assert releases_of(pid) == [1]
