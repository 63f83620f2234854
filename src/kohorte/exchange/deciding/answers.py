"""Step 9: the answer of the house: the table that two people stand for, or a refusal that says nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from kohorte.data import atomic_write, read_table, sha256_of
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.deciding.decisions import State, decisions, policy_of
from kohorte.exchange.deciding.folder import ANSWERED, BEGUN, RequestFolder
from kohorte.exchange.deciding.left_identifiers import refuse_identifiers
from kohorte.exchange.request import Request
from kohorte.exchange.statistics import StatisticsFolder
from kohorte.release import certificate_paths
from kohorte.trust.log import account

FORMAT = 1
REFUSAL = (
    "This request is not answered. That says nothing about whether anybody in the database satisfies its condition, "
    "nor about how many people do."
)
ANSWER, TABLE = "answer.json", "table.csv"


@dataclass(frozen=True)
class Answer:
    """What was written: whether a table was released, its files, and the number of the release in the ledger."""

    released: bool
    files: tuple[Path, ...]
    release: int | None = None


def answer(
    folder: RequestFolder, number: int, output: Path, ledger: Ledger, *, today: date, actor: str | None = None
) -> Answer:
    """Write the answer into a new folder, as the people decided; the ledger remembers it before anybody can read it."""
    record, request = folder.record(number), folder.request(number)
    folder.refuse_answered(number)
    state = decisions(folder, number, record).state
    if state not in (State.RELEASED, State.REFUSED):
        raise InputError(
            f"not enough people have decided about request {number}: {policy_of(record).deciders} are needed",
            code="exchange-undecided",
        )
    if output.exists():
        raise InputError(f"{output}: exists already; give the name of a new folder", code="output-exists")
    who = actor or account()
    made = (
        _refusal(request, output)
        if state is State.REFUSED
        else _release(folder, number, record, output, ledger, today, who)
    )
    kind = "released" if made.released else "refused"
    folder.trust.log.append(
        ANSWERED, f"request {number}", actor=who, answer=kind, check=record.sha256, release=made.release
    )
    folder.forget_people(number)
    return made


def remove_unfinished(folder: RequestFolder, number: int, output: Path) -> None:
    """Remove what a killed process left in the house's own folder of an answer; nobody got it, as none was noted."""
    folder.refuse_answered(number)
    shutil.rmtree(output, ignore_errors=True)


def _refusal(request: Request, output: Path) -> Answer:
    output.mkdir()
    return Answer(False, (_described(output, request, {"answer": "refused", "text": REFUSAL}),))


def _release(
    folder: RequestFolder, number: int, record: CheckRecord, output: Path, ledger: Ledger, today: date, actor: str
) -> Answer:
    request, policy = folder.request(number), policy_of(record)
    request.refuse_expired(today)
    draft = folder.draft_file(number)
    content = draft.read_bytes() if draft.is_file() else b""
    if sha256_of(content) != folder.checked(number)["draft"]:
        raise InputError(
            "the draft was changed since the check; check the request again", code="exchange-check-changed"
        )
    verdicts = record["verdicts"]["verdicts"]
    statistics = StatisticsFolder(folder.trust.path / "statistics").statistics()
    kinds = {one["content"]["statistics"] for one in verdicts} - {None}
    statistics.refuse_unfit(kinds, policy.statistics_years, today)
    refuse_identifiers(read_table(draft).frame, policy, verdicts, statistics)
    certificates = {path.name.replace("draft", "table"): path.read_bytes() for path in certificate_paths(draft)}
    certificate = next(iter(certificates.values()))
    disclosure = folder.disclosure(number)
    begun = any(one["action"] == BEGUN and one["details"]["check"] == record.sha256 for one in folder.entries(number))
    if not begun:  # a process that is killed from here on may leave a release in the ledger
        folder.trust.log.append(BEGUN, f"request {number}", actor=actor, check=record.sha256)
    release = ledger.record(disclosure, sha256_of(certificate), k=policy.k, together=policy.together, again=begun)
    output.mkdir()
    files = [_written(output / name, data) for name, data in (*certificates.items(), (TABLE, content))]
    facts = {"answer": "released", "table": TABLE, "sha256": sha256_of(content), "certificate": sha256_of(certificate)}
    return Answer(True, (*files, _described(output, request, facts)), release)


def _described(output: Path, request: Request, facts: dict[str, Any]) -> Path:
    """Write what is answered to which request; a refusal has the same length and the same words whatever its reason."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    data = {"kohorte": FORMAT, "request": request.fingerprint(), "at": at, **facts}
    return _written(output / ANSWER, (json.dumps(data, indent=2) + "\n").encode())


def _written(path: Path, content: bytes) -> Path:
    with atomic_write(path, force=False) as temporary:
        temporary.write_bytes(content)
    return path
