"""Patient list and pseudonym service in two houses: neither alone connects identity data with medical data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.patients.patient_list import PatientList
from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, OTTO, table

Run = Callable[..., Any]
DIAGNOSES = ["I21-infarct", "E11-diabetes"]


def everything_in(folder: Path) -> bytes:
    """The whole disk of a house."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture
def research(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """From a table with names to a research table under pseudonyms, through both houses."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    for house in ("patients-house", "pseudonyms-house"):
        (folder / house).mkdir()
    table(ANNA, OTTO).with_columns(pl.Series("diagnosis", DIAGNOSES)).write_csv("clinic.csv")
    trust = ("--folder", "patients-house/trust")
    assert run("patients", "register", "clinic.csv", *trust, "--output", "with-pids.csv").code == 0
    other = ("--folder", "pseudonyms-house/trust")
    assert run("domain", "create", "research", "--kind", "reversible", *other).code == 0
    made = run(
        "pseudonymize", "with-pids.csv", "--domain", "research", "--column", "pid", "--output", "research.csv", *other
    )
    assert made.code == 0, made.err
    return pl.read_csv("research.csv")


def test_the_patient_list_with_its_keys_knows_neither_diagnoses_nor_pseudonyms(
    research: pl.DataFrame, folder: Path
) -> None:
    disk = everything_in(folder / "patients-house")
    pseudonyms = research["pid"].to_list()
    assert len(set(pseudonyms)) == 2
    assert not any(text.encode() in disk for text in (*DIAGNOSES, *pseudonyms))
    listed = PatientList.opened(str(folder / "patients-house" / "trust"))
    pids = pl.read_csv(folder / "with-pids.csv")["pid"].to_list()
    assert listed.history(pids[0]).pid == pids[0]  # with the key it knows every PID,
    assert not set(pids) & set(pseudonyms)  # and no row of the research table has one
    listed.close()


def test_the_pseudonym_service_with_its_keys_knows_neither_names_nor_diagnoses(
    research: pl.DataFrame, folder: Path
) -> None:
    assert research.columns == ["pid", "registered", "diagnosis"]
    disk = everything_in(folder / "pseudonyms-house")
    known = [
        value for person in (ANNA, OTTO) for value in person.values() if len(value) > 6
    ]  # shorter ones occur in codes
    assert not any(text.encode() in disk for text in (*known, *DIAGNOSES))
    pids = pl.read_csv(folder / "with-pids.csv")["pid"].to_list()
    assert not any(pid.encode() in disk for pid in pids)
