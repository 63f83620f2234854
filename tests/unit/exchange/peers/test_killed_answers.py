"""An answer whose process was killed at any moment: the next attempt completes it, and the ledger has it once."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import check_request
from kohorte.exchange.deciding.decisions import Choice, Decider, decide
from kohorte.exchange.peers.sending import request_to
from kohorte.exchange.statistics import StatisticsFolder, shipped_statistics
from support.institutions import Institution, acquainted
from support.killing import left_by
from testbed.hospital import holding, patients, request

TODAY = date(2026, 11, 17)
TABLE = patients(900, people=700, treated=350)


@pytest.mark.slow
def test_after_a_kill_at_any_moment_an_answer_is_recorded_once_and_sent_once(tmp_path: Path) -> None:
    a, b = Institution.at(tmp_path / "a", "Institute A"), Institution.at(tmp_path / "house", "Hospital B")
    acquainted(a, b)
    b.takes(request_to(a.folder, request(), "Hospital B", today=TODAY), shown=a.own.fingerprint)
    ledger = Ledger.open(b.folder, create=True)
    for table in shipped_statistics().tables:
        StatisticsFolder(b.folder.path / "statistics").add(table)
    check = check_request(request(), TABLE, holding(), shipped_statistics(), ledger, today=TODAY)
    b.requests.keep(1, check)
    ledger.close()
    for name in ("Ben", "Cleo"):
        decide(b.requests, 1, Choice.RELEASE, person=Decider(name), today=TODAY)
    left = left_by("killed_answers.py", tmp_path)["answer"]
    assert len(left) >= 10
    table = ["answer.json", "table.certificate.json", "table.certificate.txt", "table.csv"]
    for facts in left:
        assert (facts["releases"], facts["answered"], facts["parcels"]) == (1, 1, 1), facts
        assert facts["files"] == [table]
    assert {facts["code"] for facts in left} == {"", "exchange-answered"}
