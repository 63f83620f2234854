"""`kohorte patients consent` and `temp-id` as people use them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, OTTO, table

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def pids(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Anna and Otto are registered; data.csv has their diagnoses."""
    monkeypatch.setenv("KOHORTE_FOLDER", "trust")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    table(ANNA, OTTO).with_columns(pl.Series("diagnosis", ["I21", "E11"])).write_csv("clinic.csv")
    assert run("patients", "register", "clinic.csv", "--output", "data.csv").code == 0
    return pl.read_csv("data.csv")["pid"].to_list()


def export(run: Run, output: str, *options: str) -> Any:
    wish = ("--purpose", "research", "--project", "p7", "--output", output)
    return run("patients", "consent", "filter", "data.csv", *wish, *options)


def test_from_consent_to_withdrawal(run: Run, pids: list[str]) -> None:
    anna, otto = pids
    given = run("patients", "consent", "give", "--file", "data.csv", "--purpose", "research", "--until", "2099-12-31")
    assert "consent of 2 people noted for research" in given.out
    first = export(run, "p7.csv")
    assert "2 of 2 rows exported; noted as export 1: p7.csv" in first.out
    withdrawn = run("patients", "consent", "withdraw", anna)
    assert withdrawn.code == 0
    assert "from now on no export has this person" in withdrawn.out
    assert "1       p7       research" in withdrawn.out
    assert export(run, "again.csv", "--json").json == {
        "rows": 2,
        "exported": 1,
        "left_out": 1,
        "people": 1,
        "cells_removed": 0,
        "contradicted": 0,
        "export": 2,
        "output": "again.csv",
    }
    assert pl.read_csv("again.csv")["pid"].to_list() == [otto]
    refused = run("patients", "consent", "confirm", 1)
    assert (refused.code, "consent-changed" in refused.err) == (1, True)
    assert "all still covered" in run("patients", "consent", "confirm", 2).out
    assert [one["export"] for one in run("patients", "consent", "released", otto, "--json").json["exports"]] == [1, 2]
    assert "inactive: research until 2099-12-31" in run("patients", "consent", "show", anna).out
    everything = [given, first, withdrawn, refused]
    assert not any(text in ran.out + ran.err for ran in everything for text in ("Anna", "I21", anna))


def test_a_temp_id_that_is_refused_is_named_by_its_row_and_may_come_with_a_byte_order_mark(
    run: Run, pids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pid.txt").write_text(pids[0])
    token = run("patients", "temp-id", "issue", "@pid.txt", "--for", "database").out.strip()
    pl.DataFrame({"temp_id": [token, None, "unknown"], "x": [1, 2, 3]}).write_csv("tokens.csv")
    refused = run("patients", "temp-id", "resolve", "tokens.csv", "--for", "database", "--output", "out.csv")
    assert (refused.code, "row 3: the TempID is not valid" in refused.err, token in refused.err) == (1, True, False)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"\ufeff{token}\r\n"))
    assert run("patients", "temp-id", "resolve", "--for", "database").out.strip() == pids[0]


def test_a_list_of_people_who_agreed_and_their_consents_as_fhir(run: Run, pids: list[str]) -> None:
    run("patients", "consent", "give", pids[1], "--purpose", "research", "--category", "lab")
    wish = ("--purpose", "research", "--project", "p8", "--output")
    assert "0 people covered" in run("patients", "consent", "list", *wish, "all.csv").out
    assert "1 person covered" in run("patients", "consent", "list", *wish, "lab.csv", "--category", "lab").out
    assert pl.read_csv("lab.csv")["pid"].to_list() == [pids[1]]
    bundle = run("patients", "consent", "show", pids[1], "--fhir").json
    assert bundle["entry"][0]["resource"]["provision"]["purpose"][0]["code"] == "research"
    assert run("patients", "consent", "show", pids[0]).out == "no consent\n"
    none = export(run, "none.csv", "--category", "lab=diagnosis", "--json").json
    assert (none["exported"], none["cells_removed"]) == (1, 1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("give", "--purpose", "research"), "consent-people"),
        (("give", "--file", "data.csv", "--column", "psn", "--purpose", "research"), "consent-column"),
        (("give", "--file", "data.csv", "--purpose", "Research"), "consent-word"),
        (("give", "--file", "data.csv", "--purpose", "research", "--until", "2020-01-01"), "consent-date"),
        (("filter", "data.csv", "--purpose", "p", "--project", "x", "--output", "data.csv"), "output-exists"),
        (("confirm", "9"), "consent-export-unknown"),
    ],
)
def test_wrong_use_is_refused(run: Run, words: tuple[str, ...], code: str) -> None:
    refused = run("patients", "consent", *words)
    assert (refused.code, code in refused.err) == (2, True)


def test_a_table_with_temp_ids_is_resolved_once(run: Run, pids: list[str]) -> None:
    options = ("--temp-ids-for", "database", "--output", "tokens.csv")
    assert run("patients", "register", "clinic.csv", *options).code == 0
    text = Path("tokens.csv").read_text()
    assert not any(pid in text for pid in pids)
    resolve = ("patients", "temp-id", "resolve", "tokens.csv", "--for")
    other = run(*resolve, "biobank", "--output", "x.csv")
    assert (other.code, "temp-id-refused" in other.err, Path("x.csv").exists()) == (1, True, False)
    assert run(*resolve, "database", "--output", "resolved.csv").code == 0
    assert pl.read_csv("resolved.csv")["pid"].to_list() == pids
    again = run(*resolve, "database", "--output", "y.csv")
    assert (again.code, Path("y.csv").exists()) == (1, False)
    assert again.err == other.err


def test_one_temp_id_is_read_from_standard_input(run: Run, pids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    token = run("patients", "temp-id", "issue", pids[0], "--for", "database").out
    monkeypatch.setattr("sys.stdin", io.StringIO(token))
    assert run("patients", "temp-id", "resolve", "--for", "database").out == pids[0] + "\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(token))
    assert run("patients", "temp-id", "resolve", "--for", "database").code == 1
    wrong = run("patients", "temp-id", "resolve", "data.csv", "--for", "database")
    assert (wrong.code, "temp-id-table" in wrong.err) == (2, True)
    alone = run("patients", "register", "clinic.csv", "--temp-ids-for", "database")
    assert (alone.code, "temp-id-target" in alone.err) == (2, True)
