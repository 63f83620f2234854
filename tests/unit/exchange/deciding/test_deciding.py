"""Decisions and answers: two people, unchanged files, no identifiers, and refusals that say nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.data import sha256_of
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import AccessDenied, InputError, KohorteError, PrivacyViolation
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.deciding.answers import answer
from kohorte.exchange.deciding.decisions import Choice, Decider, State, decide, state_of
from kohorte.exchange.deciding.folder import RequestFolder
from kohorte.exchange.deciding.left_identifiers import refuse_identifiers
from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.request import Request
from kohorte.exchange.statistics import Statistics, StatisticsFolder, shipped_statistics
from kohorte.trust.log import Log
from kohorte.trust.people import People, Task
from testbed.hospital import holding, patients, request

TODAY = date(2026, 11, 17)
TABLE = patients(900, people=700, treated=350)
ASKED = request({"attribute": "drug", "is": "ibuprofen"})
Checked = Callable[..., Check]


class House:
    """A folder of requests with its ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = RequestFolder.opened(path / "house", create=True)
        self.ledger = Ledger.open(self.folder.trust, create=True)
        self.statistics = StatisticsFolder(self.folder.trust.path / "statistics")
        for table in shipped_statistics().tables:
            self.statistics.add(table)

    def checked(self, asked: Request = ASKED, table: pl.DataFrame = TABLE) -> int:
        number = self.folder.receive(asked)
        self.check(number, table)
        return number

    def check(self, number: int, table: pl.DataFrame = TABLE) -> Check:
        asked = self.folder.request(number)
        found = check_request(asked, table, holding(), shipped_statistics(), self.ledger, today=TODAY)
        self.folder.keep(number, found)
        return found

    def decide(self, number: int, choice: Choice, *people: str) -> None:
        for person in people:
            decide(self.folder, number, choice, person=Decider(person), today=TODAY)

    def answer(self, number: int, name: str = "answer", today: date = TODAY) -> Path:
        answer(self.folder, number, self.path / name, self.ledger, today=today)
        return self.path / name


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.ledger.close()


def refused(code: str, act: Callable[[], object], kind: type[KohorteError] = KohorteError) -> None:
    with pytest.raises(kind) as caught:
        act()
    assert caught.value.code == code


def test_two_people_release_an_answer_that_the_ledger_remembers(house: House) -> None:
    number = house.checked()
    assert state_of(house.folder, number) is State.CHECKED
    house.decide(number, Choice.RELEASE, "Ben")
    refused("exchange-undecided", lambda: house.answer(number))
    house.decide(number, Choice.RELEASE, "Cleo")
    assert state_of(house.folder, number) is State.RELEASED
    path = house.answer(number)
    said = json.loads((path / "answer.json").read_text())
    assert said["answer"] == "released"
    assert said["request"] == ASKED.fingerprint()
    assert said["sha256"] == sha256_of(path / "table.csv")
    certificate = json.loads((path / "table.certificate.json").read_text())
    assert certificate["output"]["sha256"] == said["sha256"]
    [release] = house.ledger.releases()
    assert release["recipient"] == "Institute A"
    assert state_of(house.folder, number) is State.ANSWERED
    actions = [entry["action"] for entry in house.folder.entries(number)]
    assert actions == [
        "receive request",
        "check request",
        "decide request",
        "decide request",
        "begin answer",
        "answer request",
    ]
    assert house.folder.trust.log.verify().whole


def test_nobody_decides_twice_and_no_requester_decides(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben")
    requester = (
        "Dr. Xaver Neumann",
        "dr. xaver  neumann",
        "Xaver Neumann",
        "Neumann, Xaver",
        "xaver.neumann@b.example",
    )
    for person in ("Ben", " ben ", "BEN", *requester):
        refused("exchange-decider", lambda person=person: house.decide(number, Choice.RELEASE, person), AccessDenied)
    refused("exchange-undecided", lambda: house.answer(number))
    assert not (house.path / "answer").exists()


def test_who_was_removed_since_no_longer_agrees_to_a_release(house: House) -> None:
    people = People(house.folder.trust)
    for name in ("Ben", "Cleo"):
        people.add(name, [Task.APPROVER], f"correct horse of {name}", actor="test")
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    people.remove("Ben", actor="test")
    assert state_of(house.folder, number) is state_of(house.folder.at_once(), number) is State.CHECKED
    refused("exchange-undecided", lambda: house.answer(number))
    people.add("Ben", [Task.APPROVER], "another battery staple", actor="test")
    refused("exchange-undecided", lambda: house.answer(number))
    house.decide(number, Choice.RELEASE, "Ben")
    assert (house.answer(number) / "table.csv").exists()


def test_a_refusal_of_somebody_who_was_removed_since_stays(house: House) -> None:
    people = People(house.folder.trust)
    people.add("Ben", [Task.APPROVER], "correct horse of Ben", actor="test")
    number = house.checked()
    house.decide(number, Choice.REFUSE, "Ben")
    people.remove("Ben", actor="test")
    house.decide(number, Choice.RELEASE, "Cleo", "Dora")
    assert state_of(house.folder, number) is State.REFUSED


@pytest.mark.parametrize("choice", Choice)
def test_who_is_in_a_draft_is_kept_until_the_answer(house: House, choice: Choice) -> None:
    number = house.checked()
    house.decide(number, choice, "Ben", "Cleo")
    [people] = house.path.rglob("people.npz")
    house.answer(number)
    assert not people.exists()
    assert state_of(house.folder, number) is State.ANSWERED


def test_one_refusal_is_enough_and_an_answer_is_given_once(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben")
    house.decide(number, Choice.REFUSE, "Cleo")
    path = house.answer(number)
    assert [file.name for file in path.iterdir()] == ["answer.json"]
    refused("exchange-answered", lambda: house.answer(number, "again"))
    refused("exchange-answered", lambda: house.decide(number, Choice.RELEASE, "Dora"))
    assert house.ledger.releases() == []


def test_a_refusal_is_the_same_whether_nobody_a_few_or_many_satisfy_the_condition(house: House) -> None:
    texts = []
    tables = [*(patients(900, people=700, treated=treated) for treated in (0, 3, 60)), TABLE]
    for at, table in enumerate(tables):
        asked = request() if at < 3 else ASKED
        number = house.checked(asked, table)
        house.decide(number, Choice.REFUSE, "Ben")
        text = (house.answer(number, f"answer{at}") / "answer.json").read_text()
        text = text.replace(asked.fingerprint(), "REQUEST")
        texts.append(re.sub(r'"at": "[^"]+"', '"at": "TIME"', text))
    assert len(set(texts)) == 1
    assert "nothing about whether" in texts[0]


def test_without_a_draft_nobody_can_release(house: House) -> None:
    number = house.checked(request(), patients(900, people=700, treated=3))
    refused("exchange-no-draft", lambda: house.decide(number, Choice.RELEASE, "Ben"))


def test_a_request_that_was_changed_after_the_check_is_refused(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    path = house.folder.trust.path / "requests" / "0001" / "request.json"
    path.write_text(path.read_text().replace('"occupation"', '"zip"'))
    for act in (lambda: house.answer(number), lambda: house.decide(number, Choice.REFUSE, "Dora")):
        refused("exchange-request-changed", act)
    assert not (house.path / "answer").exists()


@pytest.mark.parametrize("name", ["check.json", "draft.csv", "people.npz"])
def test_a_changed_record_draft_or_list_of_people_is_refused(house: House, name: str) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    path = house.folder.trust.path / "requests" / "0001" / name
    path.write_bytes(path.read_bytes()[:-20] + b"x" * 20)
    refused("exchange-check-changed", lambda: house.answer(number))
    assert not (house.path / "answer").exists()
    assert house.ledger.releases() == []


def test_the_record_of_another_check_is_refused(house: House) -> None:
    number = house.checked()
    path = house.folder.trust.path / "requests" / "0001" / "check.json"
    before = path.read_text()
    house.check(number, patients(900, people=650, treated=300))
    path.write_text(before)
    refused("exchange-check-changed", lambda: house.decide(number, Choice.RELEASE, "Ben"))


def test_decisions_about_an_earlier_check_do_not_count(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    house.check(number, patients(900, people=650, treated=300))
    assert state_of(house.folder, number) is State.CHECKED
    refused("exchange-undecided", lambda: house.answer(number))


def test_an_expired_request_is_not_released_but_can_be_refused(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    refused("exchange-request-expired", lambda: house.answer(number, today=date(2027, 1, 1)))
    late = house.checked()
    decide(house.folder, late, Choice.REFUSE, person=Decider("Ben"), today=date(2027, 1, 1))
    refused(
        "exchange-request-expired",
        lambda: decide(house.folder, house.checked(), Choice.RELEASE, person=Decider("Ben"), today=date(2027, 1, 1)),
    )
    house.answer(late, "refusal", today=date(2027, 1, 1))


def test_what_was_answered_since_the_check_counts(house: House) -> None:
    """Two drafts that are each fine are both checked before one of them is sent."""
    first = house.checked()
    fewer = TABLE.filter(pl.col("patient") != "P0000503")
    second = house.checked(table=fewer)
    for number in (first, second):
        house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    house.answer(first)
    refused("disclosure-refused", lambda: house.answer(second, "second"), PrivacyViolation)
    assert not (house.path / "second").exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_age", ["93"] + ["20"] * 29),
        ("zip", ["10101"] * 30),
        ("birth_date", ["1980-05-17"] * 30),
        ("city", ["Linz"] * 30),
        ("email", ["x"] * 30),
        ("note", ["call +43 660 1234567"] + ["-"] * 29),
        ("key", [f"{number:08}x" for number in range(30)]),
    ],
)
def test_an_answer_with_an_identifier_is_refused_whatever_people_decided(name: str, values: list[str]) -> None:
    frame = pl.DataFrame({"age": ["20-39"] * 30, name: values})
    policy, verdicts = CheckPolicy.named("default"), [let_through("age"), let_through(name)]
    refused("exchange-identifiers", lambda: refuse_identifiers(frame, policy, verdicts, NOTHING), PrivacyViolation)
    refuse_identifiers(frame.select("age"), policy, verdicts, NOTHING)


NOTHING = Statistics(())


def let_through(name: str, **content: str | None) -> dict[str, Any]:
    told = {"statistics": None, "contents": "words"} | content
    return {"attribute": name, "treatment": "pass", "level": 0, "content": told}


def test_a_value_that_nothing_tells_to_be_harmless_is_refused_although_a_verdict_let_it_through() -> None:
    policy = CheckPolicy.named("default")
    villages = pl.DataFrame({"field_7": ["Gries am Brenner", "Kaunerberg"] * 15, "field_8": ["moderate", "n/a"] * 15})
    both = [let_through("field_7"), let_through("field_8")]
    refused("exchange-identifiers", lambda: refuse_identifiers(villages, policy, both, NOTHING), PrivacyViolation)
    refuse_identifiers(villages.select("field_8"), policy, both, NOTHING)
    refused(
        "exchange-identifiers",
        lambda: refuse_identifiers(villages.select("field_8"), policy, [], NOTHING),
        PrivacyViolation,
    )
    weights = pl.DataFrame({"field_7": ["71", "80"] * 15})
    refused("exchange-identifiers", lambda: refuse_identifiers(weights, policy, both, NOTHING), PrivacyViolation)
    refuse_identifiers(weights, policy, [let_through("field_7", contents="kg")], NOTHING)


def test_labels_above_the_values_and_columns_with_statistics_are_looked_at_cell_by_cell() -> None:
    policy, known = CheckPolicy.named("default"), shipped_statistics()
    levels = pl.DataFrame({"field_7": ["{mild, severe}"] * 29 + ["Kranewitter"], "field_8": ["[40, 60["] * 30})
    both = [{**let_through(name), "level": 1} for name in levels.columns]
    refused("exchange-identifiers", lambda: refuse_identifiers(levels, policy, both, known), PrivacyViolation)
    refuse_identifiers(levels.head(29), policy, both, known)
    jobs = pl.DataFrame({"job": ["bus driver"] * 29 + ["Kranewitter"]})
    said = [let_through("job", statistics="occupation")]
    refused("exchange-identifiers", lambda: refuse_identifiers(jobs, policy, said, known), PrivacyViolation)
    refuse_identifiers(jobs.head(29), policy, said, known)


def test_a_date_that_the_check_recognised_is_limited_although_its_label_is_only_a_number() -> None:
    policy, frame = CheckPolicy.named("default"), pl.DataFrame({"field_7": ["2024", "2025"] * 15})
    verdict = {**let_through("field_7"), "level": 2}
    refused("exchange-identifiers", lambda: refuse_identifiers(frame, policy, [verdict], NOTHING), PrivacyViolation)
    refuse_identifiers(frame, policy, [{**verdict, "forms": ["date"]}], NOTHING)


def test_nothing_is_sent_if_the_statistics_are_gone_or_too_old_by_then(house: House) -> None:
    number = house.checked(ASKED)
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    [ages] = [one for one in shipped_statistics().tables if one.origin.name == "ages"]
    house.statistics.add(replace(ages, origin=replace(ages.origin, date="2010-12-31")))
    refused("exchange-statistics-stale", lambda: house.answer(number))
    shutil.rmtree(house.statistics.path)
    refused("exchange-statistics-missing", lambda: house.answer(number))
    assert not (house.path / "answer").exists()
    assert not house.ledger.releases()


def test_an_identifier_that_got_into_a_draft_is_found_before_it_leaves(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the verdicts failed, the written file is looked at again."""
    monkeypatch.setattr("kohorte.exchange.checking.verdicts.forms_of", lambda column, rows: _nothing())
    monkeypatch.setattr(
        "kohorte.exchange.checking.known_values.KnownValues.unknown_rows",
        lambda _, shown, known=None: np.zeros(len(shown), dtype=bool),
    )
    table = TABLE.with_columns(telephone=pl.lit("+43 660 1234567"))
    house_holding = holding()
    plan = house_holding.plan

    from kohorte.plans.parts import Attribute

    wide = replace(plan, attributes={**plan.attributes, "telephone": Attribute("insensitive")})  # type: ignore[arg-type]
    asked = request({"attribute": "drug", "is": "ibuprofen"}, ("age", "sex", "telephone"))
    number = house.folder.receive(asked)
    found = check_request(
        asked, table, replace(house_holding, plan=wide), shipped_statistics(), house.ledger, today=TODAY
    )
    assert found.draft is not None
    house.folder.keep(number, found)
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    refused("exchange-identifiers", lambda: house.answer(number), PrivacyViolation)
    assert not (house.path / "answer").exists()
    assert house.ledger.releases() == []


def _nothing() -> object:
    from kohorte.exchange.checking.forms import Found

    return Found((), ())


def test_unknown_and_unchecked_requests_are_refused(house: House) -> None:
    refused("exchange-request-unknown", lambda: house.folder.request(7), InputError)
    number = house.folder.receive(ASKED)
    assert state_of(house.folder, number) is State.RECEIVED
    refused("exchange-unchecked", lambda: house.folder.record(number), InputError)
    assert house.folder.numbers() == [1]


def test_an_existing_output_is_not_touched(house: House) -> None:
    number = house.checked()
    house.decide(number, Choice.RELEASE, "Ben", "Cleo")
    (house.path / "answer").mkdir()
    refused("output-exists", lambda: house.answer(number))
    assert house.ledger.releases() == []


def test_a_list_of_many_requests_reads_the_log_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.checked()
    house.decide(1, Choice.REFUSE, "Ben")
    house.answer(1)
    for _ in range(20):
        house.folder.receive(ASKED)
    read, verified = [], Log.verified_entries

    def counted(log: Log) -> Iterator[Mapping[str, Any]]:
        read.append(log)
        return verified(log)

    monkeypatch.setattr(Log, "verified_entries", counted)
    folder = house.folder.at_once()
    listed = {number: (folder.request(number), state_of(folder, number)) for number in folder.numbers()}
    assert len(read) == 1
    assert listed == {number: (house.folder.request(number), state_of(house.folder, number)) for number in range(1, 22)}
    assert {state for _, state in listed.values()} == {State.ANSWERED, State.RECEIVED}


def test_inbox_reads_the_log_no_more_often_for_more_requests(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, verified = [], Log.verified_entries

    def counted(log: Log) -> Iterator[Mapping[str, Any]]:
        read.append(log)
        return verified(log)

    monkeypatch.setattr(Log, "verified_entries", counted)
    times = []
    for _ in range(2):
        house.folder.receive(ASKED)
        read.clear()
        assert main(["exchange", "inbox", "--folder", str(house.path / "house"), "--json"]) == 0
        times.append(len(read))
    assert capsys.readouterr().out.count('"received"') == 3
    assert times[0] == times[1]
