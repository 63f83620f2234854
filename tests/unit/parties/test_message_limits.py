"""How large messages can be: every kind has a limit, and a run stays far below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.errors import InputError
from kohorte.parties import party
from kohorte.parties.message_limits import most_bytes, refuse_large
from kohorte.parties.own_table import LONGEST
from kohorte.parties.party import terms_of
from kohorte.parties.picture.kinds import KINDS
from kohorte.parties.taking_part import take_part
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https import Limits
from kohorte.parties.transport.local import LocalChannels
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, Signers, run_study, written_study

BY_ROWS = {"layer", "parts", "table", "domain", "ask", "counted", "decrypt", "decrypted", "strip", "stripped"}
BY_ROWS |= {"class-keys", "shares", "release", "unknown", "texts", "result"}
"""Kinds of messages that grow with the number of rows."""

LONG_NAMES = {
    "zip": "Postleitzahl des Wohnortes bei der ersten Aufnahme",
    "sex": "Geschlecht laut \u00c4rztin oder Arzt " + "\u00e4" * 200,
}


def test_every_kind_of_message_that_does_not_grow_with_the_rows_has_a_limit(tmp_path: Path) -> None:
    assert set(most_bytes(written_study(tmp_path, ZIP_PLAN))) == set(KINDS) - BY_ROWS


def test_the_limits_are_those_of_a_run(tmp_path: Path) -> None:
    parties = {
        name: {"address": f"{name}.example:8441", "certificate": f"sha256:{digit * 64}"}
        for name, digit in (("clinic-a", "1"), ("clinic-b", "2"))
    }
    study = written_study(tmp_path, ZIP_PLAN, protocol="A", parties=parties)
    limits = terms_of(study, "clinic-a").limits
    assert {kind: limits.of(kind) for kind in KINDS if kind not in BY_ROWS} == most_bytes(study)
    assert (limits.of("key"), limits.of("table")) == (4096, 1 << 30)


RUNS: dict[str, dict[str, Any]] = {
    "C, joined": {"protocol": "C", "distribution": "vertical", "identifier": "TID", "dummies": 0.5},
    "A with dummies": {"protocol": "A", "dummies": 0.3},
}


@pytest.mark.parametrize("name", RUNS)
def test_the_messages_of_a_run_are_far_below_the_limits(name: str, tmp_path: Path) -> None:
    names = {**{column: column for column in ZIP_PLAN["attributes"]}, **LONG_NAMES}
    plan = {**ZIP_PLAN, "attributes": {names[column]: entry for column, entry in ZIP_PLAN["attributes"].items()}}
    frame = ZIP_ROWS.rename(names).with_row_index("TID")
    tables = {"clinic-a": frame[::2].drop("TID"), "clinic-b": frame[1::2].drop("TID")}
    parties: dict[str, dict[str, list[str]]] = {"clinic-a": {}, "clinic-b": {}}
    if "identifier" in RUNS[name]:
        columns = list(names.values())
        parties = {"clinic-a": {"columns": columns[:1]}, "clinic-b": {"columns": columns[1:]}}
        tables = {party: frame.select("TID", *entry["columns"]) for party, entry in parties.items()}
    study = written_study(tmp_path, plan, parties=parties, **RUNS[name])
    signers, channels = Signers(list(study.members)), LocalChannels(list(study.members))
    channels.run(
        {
            member: lambda channel, member=member: take_part(
                channel, study, signers.of(member), name=member, frame=tables.get(member)
            )
            for member in study.members
        }
    )
    limits = most_bytes(study)
    assert {message.kind for message in channels.messages} & set(limits) >= {"key", "secret", "lengths", "certificate"}
    assert [message for message in channels.messages if message.size > limits.get(message.kind, 1 << 30) // 2] == []


@pytest.mark.parametrize("column", ["zip", "diagnosis"])
def test_a_value_that_is_too_long_is_refused_by_the_party_that_has_it(column: str, tmp_path: Path) -> None:
    attributes = {**ZIP_PLAN["attributes"], "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}}
    study = written_study(tmp_path, {**ZIP_PLAN, "attributes": attributes}, parties={"clinic-a": {}, "clinic-b": {}})
    long = ZIP_ROWS[:4].with_columns(pl.lit("9" * (LONGEST + 1)).alias(column))
    with pytest.raises(InputError, match=f"column '{column}': a value or label has a length of 4,097") as refused:
        run_study(study, {"clinic-a": long, "clinic-b": ZIP_ROWS[4:]})
    assert refused.value.code == "party-cell-too-long"


@pytest.mark.parametrize(
    ("study", "rows"),
    [
        ({"protocol": "B"}, 357_913_941),
        ({"protocol": "C", "dummies": 0.25}, 12_820_798),
        ({"protocol": "A", "distribution": "vertical", "identifier": "TID"}, 48_806_446),
    ],
    ids=["B", "C", "A, joined"],
)
def test_a_table_that_does_not_fit_into_a_message_is_refused_before_anything_is_sent(
    study: dict[str, Any], rows: int, tmp_path: Path
) -> None:
    parties: dict[str, Any] = {"clinic-a": {}, "clinic-b": {}}
    if "identifier" in study:
        parties = {"clinic-a": {"columns": ["zip"]}, "clinic-b": {"columns": ["sex", "diagnosis"]}}
    written = written_study(tmp_path, ZIP_PLAN, parties=parties, **study)
    refuse_large(written, "clinic-a", rows, 1 << 30)
    with pytest.raises(InputError, match="divide the study") as refused:
        refuse_large(written, "clinic-a", rows + 1, 1 << 30)
    assert refused.value.code == "party-table-too-large"


def test_a_party_refuses_its_own_large_table_when_it_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(party, "Limits", lambda: Limits(message=10))
    folder = PartyFolder.create(tmp_path / "clinic-a", "clinic-a")
    ZIP_ROWS.write_csv(folder.path / "rows.csv")
    settings = "name: clinic-a\ndata: rows.csv\nstudies: []\n"
    (folder.path / "party.yaml").write_text(settings, encoding="utf-8")
    written_study(tmp_path, ZIP_PLAN)
    with pytest.raises(InputError) as refused:
        party.Party.open(folder.path).check(tmp_path / "study.yaml")
    assert refused.value.code == "party-table-too-large"
