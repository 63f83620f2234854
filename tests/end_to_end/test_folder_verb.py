"""Folders of keys and lists are verified, and older copies are refused or taken with a reason, with the command."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kohorte.trust import log
from kohorte.trust.folder import ENVIRONMENT
from kohorte.trust.store import ENVIRONMENT as DATABASE

Run = Callable[..., Any]
TABLE = "id,first_name,last_name,birth_date\n1,Anna,Sommer,1961-04-03\n2,Bruno,Winter,1972-08-21\n"


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (ENVIRONMENT, DATABASE):
        monkeypatch.delenv(name, raising=False)
    (folder / "table.csv").write_text(TABLE)
    return folder


def in_a_new_process() -> None:
    log._FOLLOWED.clear()


def make_domain(run: Run) -> None:
    assert run("domain", "create", "study", "--kind", "list", "--folder", "trust").code == 0
    pseudonymized(run, "made.csv")


def pseudonymized(run: Run, output: str) -> Any:
    in_a_new_process()
    return run("pseudonymize", "table.csv", "--domain", "study", "--column", "id", "--output", output, "--folder",
               "trust", "--drop", "first_name", "--drop", "last_name", "--drop", "birth_date")  # fmt: skip


def make_patients(run: Run) -> None:
    assert run("patients", "register", "table.csv", "--output", "pids.csv", "--folder", "trust").code == 0


def make_ledger(run: Run) -> None:
    assert run("disclosures", "init", "trust").code == 0
    assert run("disclosures", "withdraw", "trust", "table.csv", "--person", "id").code == 0


@pytest.mark.parametrize("make", [make_domain, make_patients, make_ledger])
def test_a_folder_of_any_kind_is_verified_and_a_noted_head_shows_that_it_went_back(
    here: Path, run: Run, make: Callable[[Run], None]
) -> None:
    make(run)
    shutil.copytree(here / "trust", here / "older")
    assert run("domain", "create", "later", "--kind", "one-way", "--folder", "trust").code == 0
    found = run("folder", "verify", "--folder", "trust")
    assert found.code == 0
    head = found.out.splitlines()[-1].removeprefix("head ")
    facts = json.loads(run("folder", "verify", "--folder", "trust", "--json", "--head", head).out)
    assert (facts["whole"], facts["head"], facts["problems"]) == (True, head, [])
    assert facts["entries"] == int(head.partition(":")[0])
    assert facts["first_at"] < facts["last_at"]
    shutil.rmtree(here / "trust")
    (here / "older").rename(here / "trust")
    in_a_new_process()
    assert run("folder", "verify", "--folder", "trust").code == 0  # the whole folder: nothing inside it shows that
    gone = run("folder", "verify", "--folder", "trust", "--head", head)
    assert gone.code == 1
    assert "THE LOG IS NOT WHOLE" in gone.out


def test_every_verb_refuses_a_log_whose_last_lines_are_missing(here: Path, run: Run) -> None:
    make_domain(run)
    make_patients(run)
    path = here / "trust" / "log.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    in_a_new_process()
    for words in (
        ("domain", "list"),
        ("domain", "create", "other", "--kind", "one-way"),
        ("patients", "match"),
        ("reidentify", "people"),
        ("pseudonymize", "table.csv", "--domain", "study", "--column", "id", "--output", "out.csv"),
        ("patients", "register", "table.csv", "--output", "out.csv"),
    ):
        refused = run(*words, "--folder", "trust")
        assert (refused.code, "[trust-log-cut]" in refused.err) == (3, True), words
    assert not (here / "out.csv").exists()
    verified = json.loads(run("folder", "verify", "--folder", "trust", "--json").out)
    assert (verified["whole"], verified["first_wrong"]) == (False, verified["entries"] + 1)
    assert run("folder", "confirm", "--folder", "trust", "--reason", "").code == 2
    assert run("folder", "confirm", "--folder", "trust", "--reason", "the disk was full").code == 0
    assert run("folder", "verify", "--folder", "trust").code == 0
    assert run("domain", "list", "--folder", "trust").code == 0


def test_an_older_database_is_refused_and_confirming_it_forgets_again(here: Path, run: Run) -> None:
    make_domain(run)
    first = (here / "made.csv").read_text().splitlines()[1].partition(",")[0]
    copy = {path: path.read_bytes() for path in (here / "trust").glob("pseudonyms.db*")}
    assert run("domain", "forget", "study", "--pseudonym", first, "--folder", "trust", "--yes").code == 0
    assert pseudonymized(run, "again.csv").code == 0
    for path in (here / "trust").glob("pseudonyms.db*"):
        path.unlink()
    for path, content in copy.items():
        path.write_bytes(content)
        path.chmod(0o600)
    refused = pseudonymized(run, "refused.csv")
    assert (refused.code, "[trust-database-older]" in refused.err) == (3, True)
    verified = run("folder", "verify", "--folder", "trust")
    assert (verified.code, "NOT AS THE LOG SAYS" in verified.out) == (1, True)
    done = json.loads(run("folder", "confirm", "--folder", "trust", "--reason", "lost", "--json").out)
    assert (done["forgotten_entries"], done["forgotten_pids"]) == (1, 0)
    assert pseudonymized(run, "third.csv").code == 0
    assert first not in (here / "third.csv").read_text()
    assert run("folder", "verify", "--folder", "trust").code == 0


@pytest.mark.parametrize("head", ["", "x", "3", "3:abc", "1.5:" + "0" * 64])
def test_a_head_that_is_none_is_bad_input(here: Path, run: Run, head: str) -> None:
    make_ledger(run)
    refused = run("folder", "verify", "--folder", "trust", "--head", head)
    assert (refused.code, "[trust-head]" in refused.err) == (2, True)


def test_a_record_that_was_moved_in_the_database_is_a_problem(here: Path, run: Run) -> None:
    make_patients(run)
    assert run("folder", "verify", "--folder", "trust").code == 0
    with closing(sqlite3.connect(here / "trust" / "patients.db")) as connection, connection:
        connection.execute("UPDATE patients_records SET person = 1")
    checked = run("folder", "verify", "--folder", "trust")
    assert checked.code == 1
    assert "[trust-damaged]" in checked.out
