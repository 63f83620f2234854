"""Deciding cases, joining, splitting, history, forgetting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import InputError
from kohorte.patients.list.storage import Storage
from kohorte.patients.patient_list import PatientList
from kohorte.trust.folder import TrustFolder
from kohorte.trust.records.facts import Begun
from support.identities import ANNA, MARRIED, MISSPELT, OTTO, outcomes, pids, register


def two(listed: PatientList) -> tuple[str, str, int]:
    """Anna, Anna after her marriage, and their case."""
    found = register(listed, ANNA, MARRIED)
    anna, married = (str(pid) for pid in pids(found))
    return anna, married, listed.cases()[0].number


def test_the_same_person_keeps_the_older_pid_and_the_other_stands_for_her(anywhere: PatientList) -> None:
    anna, married, case = two(anywhere)
    assert anywhere.decide(case, same=True) == (anna, married)
    assert (anywhere.people, anywhere.cases()) == (1, [])
    again = register(anywhere, MARRIED, ANNA)
    assert outcomes(again) == ["known", "known"]
    assert pids(again) == [anna, anna]
    assert anywhere.history(married).pid == anna
    assert anywhere.history(anna).joined == (married,)


def test_different_people_keep_their_pids_and_are_not_asked_about_again(anywhere: PatientList) -> None:
    anna, married, case = two(anywhere)
    anywhere.decide(case, same=False)
    assert (anywhere.people, anywhere.cases()) == (2, [])
    assert pids(register(anywhere, MARRIED, ANNA)) == [married, anna]
    assert anywhere.cases() == []


def test_a_wrong_same_is_undone_and_the_old_pid_comes_back(anywhere: PatientList) -> None:
    anna, married, case = two(anywhere)
    anywhere.decide(case, same=True)
    assert anywhere.split(anna, [2]) == (anna, married)
    assert anywhere.people == 2
    assert pids(register(anywhere, ANNA, MARRIED)) == [anna, married]
    assert anywhere.cases() == []


def test_a_wrong_different_is_undone_by_a_merge(anywhere: PatientList) -> None:
    anna, married, case = two(anywhere)
    anywhere.decide(case, same=False)
    assert anywhere.merge(anna, married) == (anna, married)
    assert pids(register(anywhere, MARRIED)) == [anna]


def test_a_wrong_automatic_match_is_split_off_with_a_new_pid(listed: PatientList) -> None:
    (anna, same) = pids(register(listed, ANNA, MISSPELT))
    assert anna == same
    stays, new = listed.split(str(anna), [2])
    assert stays == anna
    assert new != anna
    assert pids(register(listed, MISSPELT, ANNA)) == [new, anna]


def test_cases_follow_people_who_are_joined(listed: PatientList) -> None:
    other = MARRIED | {"nachname": "Koch"}
    found = register(listed, ANNA, MARRIED, other)
    anna, married, third = (str(pid) for pid in pids(found))
    listed.merge(anna, married)
    assert {frozenset((case.pid, case.other_pid)) for case in listed.cases()} == {frozenset((anna, third))}
    listed.decide(listed.cases()[0].number, same=True)
    assert listed.people == 1
    assert listed.cases() == []


def test_the_history_says_what_happened_without_names(anywhere: PatientList) -> None:
    anna, married, case = two(anywhere)
    anywhere.decide(case, same=True)
    anywhere.split(anna, [2])
    told = anywhere.history(anna)
    assert [line["what"] for line in told.events] == [
        "registered as new",
        "joined with another PID",
        "records split off",
    ]
    assert {line["actor"] for line in told.events} == {"tester"}
    assert told.events[1]["other_pid"] == married
    assert len(told.records) == 1
    assert "Eichhorst" not in str(told.to_dict())


def test_decisions_that_cannot_be_made_are_refused(listed: PatientList) -> None:
    anna, married, case = two(listed)
    wrong = anna[:-1] + ("0" if anna[-1] != "0" else "1")
    listed.decide(case, same=True)
    refused = {
        "patients-case": lambda: listed.decide(999, same=True),
        "patients-case-decided": lambda: listed.decide(case, same=False),
        "patients-same-person": lambda: listed.merge(anna, married),
        "patients-record": lambda: listed.split(anna, [1, 2]),
        "trust-pid-wrong": lambda: listed.history(wrong),
        "patients-pid-unknown": lambda: listed.history("00000000"),
    }
    for code, action in refused.items():
        with pytest.raises(InputError) as caught:
            action()
        assert caught.value.code == code
    for number in (0, 3, -1):
        with pytest.raises(InputError) as caught:
            listed.split(anna, [number])
        assert caught.value.code == "patients-record"


def test_forgetting_destroys_identity_and_link_and_proves_it(anywhere: PatientList, trust: str) -> None:
    anna, married, case = two(anywhere)
    anywhere.decide(case, same=True)
    register(anywhere, OTTO)
    assert anywhere.forget(anna, dry_run=True) == 2
    assert anywhere.people == 2
    assert anywhere.forget(married) == 2
    assert anywhere.people == 1
    for pid in (anna, married):
        with pytest.raises(InputError) as caught:
            anywhere.history(pid)
        assert caught.value.code == "patients-pid-forgotten"
    log = TrustFolder.opened(trust).log
    assert log.verify().whole
    last = list(log.entries())[-4:]
    assert [entry["action"] for entry in last] == ["forget begins", "forget begins", "forget", "forget"]
    assert {entry["details"]["pid"] for entry in last} == {log.fingerprint(anna), log.fingerprint(married)}
    assert {entry["details"].get("kind") for entry in last[2:]} == {"identity data and link destroyed"}
    back = register(anywhere, ANNA)
    assert outcomes(back) == ["new"]
    assert back.rows[0].pid not in (anna, married)


def test_nothing_of_a_forgotten_person_stays_in_the_file(listed: PatientList, trust: str) -> None:
    register(listed, OTTO)
    (pid,) = pids(register(listed, ANNA))
    import sqlite3

    path = Path(trust) / "patients.db"
    with sqlite3.connect(path) as database:
        sealed = [row[0] for row in database.execute("SELECT identity FROM patients_records WHERE id = 2")]
        sealed += [row[0] for row in database.execute("SELECT pid FROM patients_people WHERE id = 2")]
    database.close()
    assert all(secret in path.read_bytes() for secret in sealed)
    listed.forget(str(pid))
    listed.close()
    left = b"".join(file.read_bytes() for file in Path(trust).iterdir())
    assert not any(secret in left for secret in sealed)


@pytest.mark.parametrize("first", [True, False], ids=["into the invented one", "into the victim"])
def test_a_case_about_invented_people_does_not_show_who_was_merged_with_one(listed: PatientList, first: bool) -> None:
    (victim,) = pids(register(listed, OTTO))
    invented, _, _ = two(listed)
    listed.merge(*((invented, str(victim)) if first else (str(victim), invented)))
    register(listed, MARRIED | {"nachname": "Zacher"})
    shown = [identity for case in listed.cases() for identity in listed.identities(case.number)[1]]
    assert len(listed.cases()) > 1
    assert any(ANNA["nachname"] in one.values for one in shown)
    assert not any(OTTO["nachname"] in one.values for one in shown)


def test_the_log_has_no_pid_and_no_name(listed: PatientList, trust: str) -> None:
    anna, married, case = two(listed)
    listed.identities(case)
    listed.decide(case, same=True)
    listed.split(anna, [2])
    listed.merge(anna, married)
    listed.forget(anna)
    text = (Path(trust) / "log.jsonl").read_text()
    assert [word for word in (anna, married, *filter(None, ANNA.values())) if len(word) > 1 and word in text] == []
    actions = [entry["action"] for entry in TrustFolder.opened(trust).log.entries()]
    assert {"register", "show case", "decide", "split", "merge", "forget"} <= set(actions)


def test_who_reads_while_a_merge_is_written_sees_the_people_before_it(
    listed: PatientList, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has the merge already, and the database not yet."""
    anna, otto = (str(pid) for pid in pids(register(listed, ANNA, OTTO)))
    reader, begin, seen = PatientList(listed.folder, actor="reader"), Storage.begin, []

    def begun(storage: Storage, *words: Any, **details: Any) -> Begun:
        entry = begin(storage, *words, **details)
        seen.append([one and one.last_name for one in reader.described([anna, otto])])
        return entry

    monkeypatch.setattr(Storage, "begin", begun)
    listed.merge(anna, otto)
    seen.append([one and one.last_name for one in reader.described([anna, otto])])
    assert seen == [["Eichhorst", "Zwickel"], ["Zwickel", "Zwickel"]]
    reader.close()
