"""`kohorte envelope` as people use it, with the pseudonym service in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT

Run = Callable[..., Any]
CANARY = "I21-canary"


@pytest.fixture(autouse=True)
def clinic(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    frame = pl.DataFrame(
        {"pid": ["patient-one", "patient-two", "patient-one"], "diagnosis": [CANARY, "E11", "J45"], "age": [50, 61, 50]}
    )
    frame.write_csv(folder / "visits.csv")
    for name in ("registry", "clinic"):
        assert run("envelope", "keys", name).code == 0


def test_a_service_in_between_pseudonymizes_rows_that_it_cannot_read(run: Run, folder: Path) -> None:
    sealed = run("envelope", "seal", "visits.csv", "--keep", "pid", "--for", "registry.pub", "--output", "sealed.csv")
    assert (sealed.code, "2 columns of 3 rows sealed" in sealed.out) == (0, True)
    trust = ("--folder", "trust")
    assert run("domain", "create", "study", "--kind", "one-way", *trust).code == 0
    passed = ("--domain", "study", "--column", "pid", "--output", "passed-on.csv", *trust)
    made = run("pseudonymize", "sealed.csv", *passed)
    assert (made.code, "note:" in made.out) == (0, False)
    text = Path("passed-on.csv").read_text() + made.out + made.err
    assert not any(word in text for word in (CANARY, "diagnosis", "patient-one"))
    opened = run("envelope", "open", "passed-on.csv", "--key", "registry.key", "--output", "out.csv", "--complete")
    assert (opened.code, "does not say who sealed" in opened.out) == (0, True)
    out = pl.read_csv("out.csv")
    assert out["diagnosis"].to_list() == [CANARY, "E11", "J45"]
    assert out["pid"][0] == out["pid"][2] != out["pid"][1]
    assert (folder / "out.csv").stat().st_mode & 0o777 == 0o600


def test_rows_that_did_not_come_are_told(run: Run) -> None:
    run("envelope", "seal", "visits.csv", "--keep", "pid", "--for", "registry.pub", "--output", "sealed.csv")
    pl.read_csv("sealed.csv")[:2].write_csv("some.csv")
    opened = run("envelope", "open", "some.csv", "--key", "registry.key", "--output", "out.csv", "--json").json
    assert opened == {"rows": 2, "columns": 2, "missing": 1, "senders": ["nobody"], "output": "out.csv"}
    refused = run("envelope", "open", "some.csv", "--key", "registry.key", "--output", "all.csv", "--complete")
    assert (refused.code, "envelope-rows-missing" in refused.err, Path("all.csv").exists()) == (2, True, False)


def test_a_file_is_sealed_with_a_sender_and_opened(run: Run) -> None:
    Path("report.pdf").write_bytes(b"%PDF canary")
    to, by = ("--for", "registry.pub", "--from", "clinic.key"), ("--key", "registry.key", "--output", "again.pdf")
    assert run("envelope", "seal", "report.pdf", *to, "--output", "report.sealed").code == 0
    assert b"canary" not in Path("report.sealed").read_bytes()
    opened = run("envelope", "open", "report.sealed", *by, "--from", "clinic.pub")
    assert (opened.code, "sealed by the given sender" in opened.out) == (0, True)
    assert Path("again.pdf").read_bytes() == b"%PDF canary"
    other = run("envelope", "open", "report.sealed", *by, "--force", "--from", "registry.pub")
    assert (other.code, "envelope-sender" in other.err) == (1, True)
    told = run("envelope", "open", "report.sealed", *by, "--force")
    assert "sealed by the key" in told.out


def test_a_cut_envelope_leaves_no_output_and_no_key_is_printed(run: Run) -> None:
    run("envelope", "seal", "visits.csv", "--for", "registry.pub", "--output", "v.sealed")
    Path("v.sealed").write_bytes(Path("v.sealed").read_bytes()[:-1])
    refused = run("envelope", "open", "v.sealed", "--key", "registry.key", "--output", "out.csv", "--json")
    assert (refused.code, refused.json["error"], Path("out.csv").exists()) == (2, "envelope-damaged", False)
    secret = Path("registry.key").read_text().split("\n")[1]
    everything = [
        refused,
        run("envelope", "keys", "other"),
        run("envelope", "keys", "other"),
        run("envelope", "--help"),
    ]
    assert not any(secret in ran.out + ran.err for ran in everything)


def test_the_private_key_is_refused_as_the_key_to_seal_for(run: Run) -> None:
    refused = run("envelope", "seal", "visits.csv", "--for", "registry.key", "--output", "x")
    assert (refused.code, "private key" in refused.err) == (2, True)
