"""What is refused on the command line is in the log, and neither message nor log says more than that."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, table

Run = Callable[..., Any]


def test_unknown_domains_and_wrong_pids_and_pseudonyms_are_refused_and_logged(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORTE_FOLDER", "trust")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    table(ANNA).write_csv("in.csv")
    assert run("patients", "register", "in.csv").code == 0
    assert run("domain", "create", "study", "--kind", "one-way").code == 0
    assert run("domain", "create", "export", "--kind", "list", "--parent", "study").code == 0
    Path("wrong.csv").write_text("pid\ncanary\n")
    refused = [
        run("pseudonymize", "wrong.csv", "--domain", "nothing", "--column", "pid", "--output", "out.csv"),
        run("pseudonymize", "wrong.csv", "--domain", "export", "--column", "pid", "--output", "out.csv"),
        run("patients", "history", "0003Y0WX"),
        run("patients", "history", "0003Y0WZ"),
    ]
    assert {ran.code for ran in refused} == {2}
    entries = [json.loads(line) for line in (folder / "trust" / "log.jsonl").read_text().splitlines()]
    noted = [(one["about"], one["details"]["reason"]) for one in entries if one["action"] == "refuse input"]
    assert noted == [
        ("pseudonymize", "pseudonym-domain-unknown"),
        ("pseudonymize", "pseudonym-wrong"),
        ("patients history", "trust-pid-wrong"),
        ("patients history", "patients-pid-unknown"),
    ]
    assert not any("canary" in ran.err for ran in refused)
    assert "canary" not in json.dumps(entries)
    assert "0003Y0W" not in json.dumps(entries)
