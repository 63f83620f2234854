"""One service with patients and exchange: a consent that is taken back over HTTP counts in the next answer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from support.jobs import ended
from support.projects import store_dataset, working
from support.registered import K, few_stand_out, identities, table_with_pids
from support.trusting import House, house_in
from testbed.hospital import PLAN, STATISTICS, request

SOON = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
HOLDING: dict[str, Any] = {
    "kohorte": 1,
    "institution": "Hospital B",
    "plan": PLAN,
    "policy": "default",
    "population": 500_000,
    "statistics": STATISTICS,
}


@dataclass
class Hospital:
    """A house whose patients are registered and have agreed, and the number of the dataset with their PIDs."""

    house: House
    pids: list[str]
    dataset: int

    def decided(self, institution: str) -> str:
        """Receive a request, check it as a job, and let two people release the answer; returns its path."""
        asked = request({"attribute": "drug", "is": "ibuprofen"}, until=SOON, institution=institution).to_dict()
        number = self.house.post("steward", "/exchange/requests", {"request": asked}, status=201)["number"]
        path = f"/exchange/requests/{number}"
        with working(self.house.service):
            wish = {"dataset_id": self.dataset, "holding": HOLDING}
            row = ended(self.house.service, self.house.post("steward", f"{path}/check", wish, status=202)["job_id"])
        assert row.state == "done", row.problem
        for name in ("approver", "approver 2"):
            self.house.post(name, f"{path}/decisions", {"decision": "release", "check": row.result["check"]})
        return path

    def answered(self, institution: str) -> pl.DataFrame:
        """The table of the answer to the request of an institution."""
        path = self.decided(institution)
        assert "table.csv" in self.house.post("steward", f"{path}/answer")["files"]
        return pl.read_csv(io.StringIO(self.house.ask("steward", "GET", f"{path}/answer/table.csv").text))

    def releases_of(self, *pids: str) -> list[list[int]]:
        with closing(Ledger.open(self.house.service.settings.ledger_folder)) as ledger:
            return [ledger.releases_of(pid) for pid in pids]

    def withdraws(self) -> str:
        """Let somebody whom the first answer showed take everything back; returns their PID."""
        pid = next(pid for pid in reversed(self.pids) if self.releases_of(pid) == [[1]])
        self.house.post("trustee", "/patients/consents/withdraw", {"pid": pid})
        return pid


@pytest.fixture
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hospital]:
    with house_in(tmp_path_factory.mktemp("withdrawals") / "service") as house:
        people = [
            {"first_names": one["first_name"], **{name: one[name] for name in ("last_name", "birth_date")}}
            for one in identities(300)
        ]
        found = house.post("trustee", "/patients/registrations", {"people": people})["registrations"]
        pids = [one["pid"] for one in found]
        house.post("trustee", "/patients/consents", {"pids": pids, "purposes": ["research"]})
        house.post("steward", "/exchange/statistics/shipped", status=201)
        dataset = store_dataset(house.service, table_with_pids(pids), house.person("steward").user_id)
        yield Hospital(house, pids, dataset)


def test_who_withdraws_is_not_in_the_next_answer_and_has_company(hospital: Hospital) -> None:
    first = hospital.answered("Institute A")
    pid = hospital.withdraws()
    second = hospital.answered("Institute C")
    assert hospital.releases_of(pid) == [[1]]
    assert 0 < second.height <= first.height - K
    assert not few_stand_out(first, second)


def test_an_answer_that_was_decided_before_somebody_in_it_withdrew_is_not_given_out(hospital: Hospital) -> None:
    hospital.answered("Institute A")
    path = hospital.decided("Institute C")
    pid = hospital.withdraws()
    refused = hospital.house.post("steward", f"{path}/answer", status=409)
    assert refused["code"] == "disclosure-refused"
    hospital.house.get("steward", f"{path}/answer/table.csv", status=404)
    assert hospital.releases_of(pid) == [[1]]
