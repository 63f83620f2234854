"""Pseudonyms beyond tables: in a release, in resources of FHIR, and their end, as people use the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.data import read_table
from kohorte.trust.folder import ENVIRONMENT
from kohorte.trust.store import ENVIRONMENT as DATABASE

Run = Callable[..., Any]
PLAN = """\
kohorte: 1
attributes:
  patient: {role: identifying, pseudonym: samples}
  ward: {role: quasi-identifying}
  value: {role: sensitive}
models: [{model: k-anonymity, k: 2}]
person: patient
suppression_limit: 0.5
"""
RULES = """\
kohorte: 1
resources:
  Patient: {id: {pseudonymize: samples}, other: keep}
"""


@pytest.fixture
def here(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (ENVIRONMENT, DATABASE):
        monkeypatch.delenv(name, raising=False)
    rows = {
        "patient": ["canary1", "canary1", "canary2", "canary2", "canary3"],
        "ward": ["a", "b", "a", "b", "c"],
        "value": ["1", "2", "3", "4", "5"],
    }
    pl.DataFrame(rows).write_csv(folder / "stays.csv")
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "rules.yaml").write_text(RULES)
    assert run("domain", "create", "samples", "--kind", "list", "--folder", "trust").code == 0
    return folder


def anonymize(run: Run, *options: str) -> Any:
    return run("anonymize", "stays.csv", "--plan", "plan.yaml", "--folder", "trust", *options)


def entries(folder: Path) -> int:
    log = (folder / "trust" / "log.jsonl").read_text().splitlines()
    return sum(json.loads(line)["details"].get("new", 0) for line in log)


def test_a_release_with_pseudonyms_is_made_verified_and_resolvable(here: Path, run: Run) -> None:
    tried = anonymize(run, "--dry-run")
    assert tried.code == 0, tried.err
    assert entries(here) == 0  # a dry run adds nobody
    made = anonymize(run, "--output", "release.csv")
    assert made.code == 0, made.err
    assert "'patient' stays as a pseudonym of the domain 'samples'" in made.out
    assert "verdict: amber" in made.out
    assert entries(here) == 3
    assert (here / "release.csv").stat().st_mode & 0o777 == 0o600  # it leads to people, as other outputs do
    assert (here / "release.certificate.json").stat().st_mode & 0o077
    release = read_table(here / "release.csv").frame
    assert release["patient"].value_counts().height == 3
    assert (release["patient"] == "*").sum() == 1
    text = "".join(file.read_text() for file in here.glob("release*"))
    assert "canary" not in text
    assert "pseudonyms of the domain 'samples'" in (here / "release.certificate.txt").read_text()
    checked = run("verify", "release.csv", "--plan", "plan.yaml", "--population", "stays.csv")
    assert checked.code == 0, checked.out
    assert "verdict: amber" in checked.out
    again = run("pseudonymize", "stays.csv", "--domain", "samples", "--column", "patient", "--output", "same.csv",
                "--folder", "trust", "--json")  # fmt: skip
    assert again.json["new"] == 0
    same = set(read_table(here / "same.csv").frame["patient"])
    assert set(release["patient"]) - {"*"} < same


@pytest.mark.parametrize(
    ("options", "plan", "code"),
    [
        (["--folder", "trust"], PLAN.replace("samples", "nowhere"), "pseudonym-domain-unknown"),
        ([], PLAN, "trust-folder-missing"),
    ],
)
def test_a_domain_that_is_not_there_is_refused_before_the_search(
    here: Path, run: Run, options: list[str], plan: str, code: str
) -> None:
    (here / "plan.yaml").write_text(plan)
    made = run("anonymize", "stays.csv", "--plan", "plan.yaml", "--output", "release.csv", *options)
    assert made.code == 2
    assert code in made.err
    assert not (here / "release.csv").exists()


def test_resources_are_pseudonymized_and_forgotten(here: Path, run: Run) -> None:
    (here / "in.ndjson").write_text('{"resourceType":"Patient","id":"canary1"}\n{"resourceType":"Patient","id":"x2"}\n')
    fhir = ("--rules", "rules.yaml", "--output", "out.ndjson", "--folder", "trust")
    made = run("pseudonymize", "in.ndjson", *fhir)
    assert made.code == 0, made.err
    assert "2 resources (2 Patient)" in made.out
    told = run("pseudonymize", "in.ndjson", *fhir, "--force", "--json").json
    assert (told["resources"], told["domains"]["samples"]["new"]) == ({"Patient": 2}, 0)
    ids = [json.loads(line)["id"] for line in (here / "out.ndjson").read_text().splitlines()]
    pl.DataFrame({"label": ids[:1]}).write_csv(here / "gone.csv")
    which = ("forget", "samples", "--file", "gone.csv", "--column", "label", "--folder", "trust")
    refused = run("domain", *which)
    assert (refused.code, "not-confirmed" in refused.err) == (2, True)
    assert "1 entry of the list would be destroyed; nothing was" in run("domain", *which, "--dry-run").out
    assert run("domain", *which, "--yes", "--json").json == {"domain": "samples", "asked_for": 1, "entries": 1}
    assert "0 entries" in run("domain", *which, "--yes").out
    assert "give --pseudonym" in run("domain", "forget", "samples", "--folder", "trust", "--yes").err
    assert run("pseudonymize", "in.ndjson", *fhir, "--force", "--json").json["domains"]["samples"]["new"] == 1
    would = run("domain", "destroy-key", "samples", "--folder", "trust", "--dry-run", "--json").json
    assert would == {"domain": "samples", "destroyed": [1], "dry_run": True}
    assert "destroyed" in run("domain", "destroy-key", "samples", "--folder", "trust", "--yes").out
    assert "pseudonym-key-destroyed" in run("pseudonymize", "in.ndjson", *fhir, "--force").err
    assert run("domain", "list", "--folder", "trust").out.rstrip().endswith("destroyed")
    [listed] = run("domain", "list", "--folder", "trust", "--json").json["domains"]
    assert listed["key_version"] is None
    assert "canary" not in (here / "trust" / "log.jsonl").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rules", "rules.yaml", "--column", "patient"], "--column is for tables"),
        (["--rules", "rules.yaml", "--shift-dates", "x"], "--shift-dates is for tables"),
        (["--column", "patient"], "give --domain and --column"),
        ([], "give --domain and --column"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(here: Path, run: Run, options: list[str], words: str) -> None:
    ran = run("pseudonymize", "stays.csv", *options, "--output", "out.csv", "--folder", "trust")
    assert ran.code == 2
    assert words in ran.err
    assert not (here / "out.csv").exists()
