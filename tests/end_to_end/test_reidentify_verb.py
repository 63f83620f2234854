"""`kohorte reidentify`, as people use it: ask, approve twice, see once."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from nacl.pwhash import argon2id

from kohorte.trust import passwords
from kohorte.trust.folder import ENVIRONMENT
from kohorte.trust.store import ENVIRONMENT as DATABASE
from support.houses import password_of

Run = Callable[..., Any]
ROLES = {"Ada": "requester", "Ben": "approver", "Cleo": "approver", "Dora": "data-protection-officer"}
PATIENTS = ["canary1", "canary2", "canary3"]
PURPOSE = "an incidental finding for the treating physician"


@pytest.fixture(autouse=True)
def light_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PASSES", argon2id.OPSLIMIT_MIN)
    monkeypatch.setattr(passwords, "MEMORY", argon2id.MEMLIMIT_MIN)


@pytest.fixture
def act(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run an action of the verb with the password on standard input."""
    for name in (ENVIRONMENT, DATABASE):
        monkeypatch.delenv(name, raising=False)

    def acting(*words: object, password: str | None = None) -> Any:
        name = words[words.index("--as") + 1] if "--as" in words else words[1]
        typed = password_of(str(name)) if password is None else password
        monkeypatch.setattr("sys.stdin", io.StringIO(typed + "\n"))
        return run("reidentify", *words, "--folder", "trust", "--password-stdin")

    return acting


@pytest.fixture(params=["reversible", "list"])
def pseudonyms(folder: Path, run: Run, act: Run, request: pytest.FixtureRequest) -> list[str]:
    """Four people, and the pseudonyms of three patients in the domain `study`."""
    pl.DataFrame({"patient": PATIENTS}).write_csv(folder / "patients.csv")
    assert run("domain", "create", "study", "--kind", request.param, "--folder", "trust").code == 0
    where = ("--domain", "study", "--column", "patient", "--output", "out.csv", "--folder", "trust")
    assert run("pseudonymize", "patients.csv", *where).code == 0
    for name, role in ROLES.items():
        assert act("add-person", name, "--role", role).code == 0
    return pl.read_csv(folder / "out.csv")["patient"].to_list()


def ask(act: Run, *options: str, person: str = "Ada", days: int = 7, password: str | None = None) -> Any:
    until = f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"
    wish = ("--domain", "study", "--purpose", PURPOSE, "--until", until, "--as", person)
    return act("request", *wish, *options, password=password)


def test_from_the_request_to_the_people(folder: Path, act: Run, pseudonyms: list[str]) -> None:
    asked = ask(act, "--file", "out.csv", "--column", "patient")
    assert (asked.code, "approvals missing: 2" in asked.out) == (0, True)
    for person in ("Ben", "Cleo"):
        assert act("approve", 1, "--as", person).code == 0
    shown = act("show", 1, "--as", "Ada", "--output", "people.csv")
    assert shown.code == 0
    assert not any(patient in shown.out + shown.err for patient in PATIENTS)
    assert (folder / "people.csv").stat().st_mode & 0o777 == 0o600
    assert pl.read_csv(folder / "people.csv").rows() == list(zip(pseudonyms, PATIENTS, strict=True))
    again = act("show", 1, "--as", "Ada")
    assert (again.code, "way-back-shown" in again.err) == (1, True)


def test_a_mistyped_pseudonym_is_named_by_its_row_and_not_shown(folder: Path, act: Run, pseudonyms: list[str]) -> None:
    mistyped = pseudonyms[2][:-1] + ("0" if pseudonyms[2][-1] != "0" else "1")
    pl.DataFrame({"psn": [pseudonyms[0], None, mistyped], "note": ["", "x", ""]}).write_csv(folder / "found.csv")
    refused = ask(act, "--file", "found.csv", "--column", "psn")
    assert refused.code == 2
    assert "found.csv, row 3: this is not a pseudonym of the domain: its check characters do not fit: " in refused.err
    assert f"{len(mistyped)}" in refused.err
    assert mistyped not in refused.err
    refused = ask(act, "--pseudonym", pseudonyms[0], "--pseudonym", mistyped)
    assert "--pseudonym 2: this is not a pseudonym" in refused.err


def test_pseudonyms_come_from_standard_input_after_the_password(act: Run, pseudonyms: list[str]) -> None:
    asked = ask(act, "--pseudonym", "-", password="\n".join([password_of("Ada"), *pseudonyms[:2], ""]))
    assert asked.code == 0
    for person in ("Ben", "Cleo"):
        act("approve", 1, "--as", person)
    shown = act("show", 1, "--as", "Ada", "--json").json["found"]
    assert [one["pseudonym"] for one in shown] == pseudonyms[:2]


def test_notices_are_files_that_a_mail_system_takes(
    folder: Path, act: Run, pseudonyms: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORTE_NOTICES", "mail")
    refused = ask(act, "--pseudonym", pseudonyms[0])
    assert (refused.code, "[trust-notices]" in refused.err) == (2, True)
    (folder / "mail").mkdir()
    assert ask(act, "--pseudonym", pseudonyms[0]).code == 0
    act("approve", 1, "--as", "Ada")
    act("approve", 1, "--as", "Ben", password="wrong")
    act("notices", "--as", "Dora")
    texts = [path.read_text() for path in (folder / "mail").iterdir()]
    kinds = sorted(text[25:].partition(".")[0] for text in texts)
    assert kinds == ["ask way back", "refuse way back", "wrong password"]
    assert not any(word in text for text in texts for word in (*pseudonyms, *PATIENTS, *ROLES, PURPOSE, "study"))


def test_an_unknown_pseudonym_is_told_only_at_the_end(act: Run, pseudonyms: list[str]) -> None:
    from kohorte.pseudonyms.domains import Domains
    from kohorte.trust.folder import TrustFolder

    shape = Domains(TrustFolder.opened("trust")).open("study").definition.shape
    unknown = shape.text(7, len(shape.body(pseudonyms[0], any_length=True)))
    assert ask(act, "--pseudonym", unknown, "--pseudonym", pseudonyms[1]).code == 0
    for person in ("Ben", "Cleo"):
        act("approve", 1, "--as", person)
    shown = act("show", 1, "--as", "Ada", "--json")
    found = json.loads(shown.out)
    assert found["unknown"] == 1
    assert [one["original"] for one in found["found"]] == [None, PATIENTS[1]]


@pytest.mark.parametrize(
    ("person", "action", "code"),
    [
        ("Ada", "approve", "trust-person-task"),
        ("Ben", "show", "trust-person-task"),
        ("Ada", "show", "way-back-open"),
        ("Dora", "approve", "trust-person-task"),
        ("Nobody", "approve", "trust-person-wrong"),
    ],
)
def test_who_may_not_is_refused(act: Run, pseudonyms: list[str], person: str, action: str, code: str) -> None:
    ask(act, "--pseudonym", pseudonyms[0])
    refused = act(action, 1, "--as", person)
    assert (refused.code, code in refused.err) == (1, True)
    assert not any(patient in refused.out + refused.err for patient in PATIENTS)


def test_a_wrong_password_is_refused_and_the_officer_is_told(act: Run, pseudonyms: list[str]) -> None:
    ask(act, "--pseudonym", pseudonyms[0])
    assert act("approve", 1, "--as", "Ben", password="not my password at all").code == 1
    told = act("notices", "--as", "Dora")
    assert "wrong password" in told.out
    assert "ask way back" in told.out
    assert pseudonyms[0] not in told.out
    assert "nothing has happened" in act("notices", "--as", "Dora").out


def test_a_mistyped_pseudonym_is_refused_by_its_place_and_not_shown(act: Run, pseudonyms: list[str]) -> None:
    wrong = pseudonyms[1][:-1] + ("0" if pseudonyms[1][-1] != "0" else "1")
    refused = ask(act, "--pseudonym", pseudonyms[0], "--pseudonym", wrong)
    assert refused.code == 2
    assert "pseudonym 2" in refused.err
    assert wrong not in refused.err
    assert json.loads(act("list", "--as", "Ada", "--json").out) == {"requests": []}


@pytest.mark.parametrize("output", [(), ("--output", "people.csv")])
def test_the_approval_of_somebody_who_was_removed_does_not_count(
    run: Run, act: Run, pseudonyms: list[str], output: tuple[str, ...]
) -> None:
    ask(act, "--pseudonym", pseudonyms[0])
    for person in ("Ben", "Cleo"):
        assert act("approve", 1, "--as", person).code == 0
    assert run("reidentify", "remove-person", "Cleo", "--folder", "trust").code == 0
    refused = act("show", 1, "--as", "Ada", *output)
    assert (refused.code, "[way-back-approver]" in refused.err) == (1, True)
    assert not any(patient in refused.out + refused.err for patient in PATIENTS)
    assert not Path("people.csv").exists()
    assert "way-back-approver" in act("notices", "--as", "Dora").out


def test_the_list_shows_state_and_purpose(act: Run, pseudonyms: list[str]) -> None:
    ask(act, "--pseudonym", pseudonyms[0])
    act("decline", 1, "--as", "Ben")
    listed = act("list", "--as", "Dora").out
    assert PURPOSE in listed
    assert "declined" in listed


def test_a_person_takes_back_their_own_request_and_no_other(act: Run, pseudonyms: list[str]) -> None:
    act("add-person", "Eve", "--role", "requester")
    ask(act, "--pseudonym", pseudonyms[0])
    refused = act("decline", 1, "--as", "Eve")
    assert (refused.code, "way-back-other" in refused.err) == (1, True)
    assert act("decline", 1, "--as", "Ada").code == 0


@pytest.mark.parametrize(
    ("options", "code"), [(("--file", "out.csv"), "way-back-pseudonyms"), ((), "way-back-pseudonyms")]
)
def test_a_request_without_pseudonyms_says_what_is_missing(
    act: Run, pseudonyms: list[str], options: tuple[str, ...], code: str
) -> None:
    refused = ask(act, *options)
    assert (refused.code, code in refused.err) == (2, True)


def test_a_one_way_domain_has_no_way_back(run: Run, act: Run, folder: Path) -> None:
    run("domain", "create", "study", "--kind", "one-way", "--folder", "trust")
    act("add-person", "Ada", "--role", "requester")
    refused = ask(act, "--pseudonym", "X")
    assert (refused.code, "pseudonym-one-way" in refused.err) == (2, True)


def test_an_output_that_exists_does_not_use_up_the_one_time(folder: Path, act: Run, pseudonyms: list[str]) -> None:
    ask(act, "--pseudonym", pseudonyms[0])
    for person in ("Ben", "Cleo"):
        act("approve", 1, "--as", person)
    assert act("show", 1, "--as", "Ada", "--output", "out.csv").code == 2
    assert PATIENTS[0] in act("show", 1, "--as", "Ada").out


# Findings for the treating physician


@pytest.fixture
def finding(folder: Path, run: Run, act: Run) -> list[str]:
    """Two people of a patient list, of whom one agreed to be told, and a finding sealed for the physician."""
    from support.identities import ANNA, OTTO, table

    table(ANNA, OTTO).write_csv("names.csv")
    assert run("patients", "register", "names.csv", "--output", "pids.csv", "--folder", "trust").code == 0
    pids: list[str] = pl.read_csv("pids.csv")["pid"].to_list()
    given = ("--purpose", "report-back", "--folder", "trust")
    assert run("patients", "consent", "give", pids[0], *given).code == 0
    for name, role in ROLES.items():
        assert act("add-person", name, "--role", role).code == 0
    run("envelope", "keys", "physician")
    pl.DataFrame({"pid": [*pids, pids[0]], "finding": ["canary-a", "canary-b", "canary-c"]}).write_csv("findings.csv")
    run("envelope", "seal", "findings.csv", "--keep", "pid", "--for", "physician.pub", "--output", "sealed.csv")
    return pids


def ask_for_people(act: Run, pids: list[str], *options: str) -> Any:
    until = f"{datetime.now(UTC) + timedelta(days=7):%Y-%m-%d}"
    named = [word for pid in pids for word in ("--pseudonym", pid)]
    return act("request", "--patients", *named, "--purpose", PURPOSE, "--until", until, "--as", "Ada", *options)


def test_a_finding_reaches_the_physician_and_the_person_who_asked_sees_no_name(
    folder: Path, run: Run, act: Run, finding: list[str]
) -> None:
    assert ask_for_people(act, finding).code == 0
    for person in ("Ben", "Cleo"):
        assert act("approve", 1, "--as", person).code == 0
    hand_over = ("--with", "sealed.csv", "--column", "pid", "--consent", "report-back", "--for", "physician.pub")
    shown = act("show", 1, "--as", "Ada", "--output", "out.sealed", *hand_over)
    assert (shown.code, "without consent: 1 of 2" in shown.err) == (0, True)
    everything = shown.out + shown.err + (folder / "out.sealed").read_text(encoding="latin-1")
    assert not any(word in everything for word in ("Eichhorst", "Zwickel", "canary", *finding))
    run("envelope", "open", "out.sealed", "--key", "physician.key", "--output", "half.csv")
    assert run("envelope", "open", "half.csv", "--key", "physician.key", "--output", "open.csv").code == 0
    found = pl.read_csv("open.csv", infer_schema=False)
    assert found["last_name"].to_list() == ["Eichhorst", "Eichhorst"]
    assert found["finding"].to_list() == ["canary-a", "canary-c"]
    assert "pid" not in found.columns


def test_without_two_approvals_nobody_learns_who_a_pid_is(act: Run, finding: list[str]) -> None:
    ask_for_people(act, finding)
    act("approve", 1, "--as", "Ben")
    refused = act("show", 1, "--as", "Ada")
    assert (refused.code, "way-back-open" in refused.err) == (1, True)
    assert "Eichhorst" not in refused.out + refused.err
    act("approve", 1, "--as", "Cleo")
    shown = act("show", 1, "--as", "Ada", "--json").json
    assert [one["last_name"] for one in shown["found"]] == ["Eichhorst", "Zwickel"]


def test_options_that_do_not_fit_do_not_use_the_one_time_up(act: Run, finding: list[str]) -> None:
    ask_for_people(act, finding)
    pl.DataFrame({"pid": finding, "last_name": ["x"] * len(finding)}).write_csv("taken.csv")
    for person in ("Ben", "Cleo"):
        act("approve", 1, "--as", person)
    for options in (
        ("--with", "sealed.csv"),
        ("--for", "physician.pub"),
        ("--with", "sealed.csv", "--column", "psn", "--output", "x"),
        ("--with", "findings.csv", "--column", "pid", "--for", "sealed.csv", "--output", "x"),
        ("--with", "taken.csv", "--column", "pid", "--output", "x"),
    ):
        assert act("show", 1, "--as", "Ada", *options).code == 2
    Path("weak.pub").write_text(f"kohorte envelope public key 1\n{'0' * 64}\n66687aadf862bd77\n")
    refused = act("show", 1, "--as", "Ada", "--for", "weak.pub", "--output", "x")
    assert (refused.code, "[envelope-key]" in refused.err, Path("x").exists()) == (2, True, False)
    assert act("show", 1, "--as", "Ada").code == 0
    wrong = ask_for_people(act, [finding[0], "12345678"])
    assert (wrong.code, "--pseudonym 2: " in wrong.err, "12345678" in wrong.err) == (2, True, False)


def test_a_result_for_one_key_is_handed_over_to_nobody_else(run: Run, act: Run, finding: list[str]) -> None:
    run("envelope", "keys", "thief")
    fingerprint = run("envelope", "keys", "other", "--json").json["fingerprint"]
    assert ask_for_people(act, finding, "--for", "other.pub").code == 0
    for person in ("Ben", "Cleo"):
        assert act("approve", 1, "--as", person).code == 0
    assert f"[only for the key {fingerprint}]" in act("list", "--as", "Ben").out
    for options in ((), ("--output", "x.csv"), ("--for", "thief.pub", "--output", "x.sealed")):
        refused = act("show", 1, "--as", "Ada", *options)
        assert (refused.code, "way-back-recipient" in refused.err) == (1, True)
        assert "Eichhorst" not in refused.out
    told = act("notices", "--as", "Dora", "--json").json["notices"]
    assert [one["details"].get("reason") for one in told].count("way-back-recipient") == 3
    assert act("show", 1, "--as", "Ada", "--for", "other.pub", "--output", "y.sealed").code == 0


def test_one_person_with_two_accounts_and_one_password_does_not_approve_twice(act: Run, pseudonyms: list[str]) -> None:
    """Neither a second approval nor that of one's own request."""
    for name, whose in (("Benno", "Ben"), ("Adam", "Ada")):
        assert act("add-person", name, "--role", "approver", password=password_of(whose)).code == 0
    assert ask(act, "--pseudonym", pseudonyms[0]).code == 0
    assert act("approve", 1, "--as", "Ben").code == 0
    for name, whose in (("Benno", "Ben"), ("Adam", "Ada")):
        refused = act("approve", 1, "--as", name, password=password_of(whose))
        assert (refused.code, "[way-back-dependent]" in refused.err) == (1, True)
    reasons = [one["details"].get("reason") for one in act("notices", "--as", "Dora", "--json").json["notices"]]
    assert reasons.count("way-back-dependent") == 2
    assert act("show", 1, "--as", "Ada").code == 1
    assert act("approve", 1, "--as", "Cleo").code == 0
    assert act("show", 1, "--as", "Ada", "--json").json["found"][0]["original"] == PATIENTS[0]


def test_the_last_day_of_a_request_is_the_31st_from_today(act: Run, pseudonyms: list[str]) -> None:
    assert ask(act, "--pseudonym", pseudonyms[0], days=31).code == 0
    refused = ask(act, "--pseudonym", pseudonyms[0], days=32)
    assert (refused.code, "[way-back-until]" in refused.err) == (2, True)
