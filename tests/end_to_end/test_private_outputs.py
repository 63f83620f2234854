"""Outputs with PIDs, pseudonyms, TempIDs or sealed data belong to one account; public ones keep the usual rights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, OTTO, table

Run = Callable[..., Any]
COMMANDS = """
patients register clinic.csv --output data.csv
patients register clinic.csv --temp-ids-for database --output tokens.csv
patients temp-id resolve tokens.csv --for database --output resolved.csv
patients consent give --file data.csv --purpose research
patients consent filter data.csv --purpose research --project p7 --output agreed.csv
patients consent list --purpose research --project p7 --output covered.parquet
patients encode --secret shared.key --output encoded.csv --keep ids.csv
patients compare encoded.csv encoded.csv --output pairs.csv
domain create p7 --kind one-way
pseudonymize data.csv --domain p7 --column pid --output p7.csv
pseudonymize line.ndjson --rules rules.yaml --output out.ndjson
envelope keys research
envelope seal data.csv --keep pid --for research.pub --output rows.csv
envelope seal data.csv --for research.pub --output data.sealed
envelope open rows.csv --key research.key --output opened.csv
"""
PUBLIC = {"research.pub", "clinic.csv", "line.ndjson", "rules.yaml"}


@pytest.fixture(autouse=True)
def usual_rights() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_only_its_owner_reads_what_leads_to_people(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOHORTE_FOLDER", "trust")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    table(ANNA, OTTO).with_columns(pl.Series("diagnosis", ["I21", "E11"])).write_csv("clinic.csv")
    Path("line.ndjson").write_text('{"resourceType": "Patient", "id": "1"}\n')
    Path("rules.yaml").write_text("kohorte: 1\nresources: {Patient: {id: {pseudonymize: p7}, other: remove}}\n")
    for line in COMMANDS.strip().splitlines():
        ran = run(*line.split())
        assert ran.code == 0, (line, ran.err)
    rights = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}
    assert {name for name, mode in rights.items() if mode == 0o644} == PUBLIC
    assert {mode for name, mode in rights.items() if name not in PUBLIC} == {0o600}
    assert len(rights) == len(PUBLIC) + 15
