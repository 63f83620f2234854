"""Each party records a joint release about its own people, in its own ledger, before it signs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from kohorte.disclosures.exits.joint import JointMemory
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError
from kohorte.parties.memory import RememberingSigner, remembering
from kohorte.parties.transport.folder import PartyFolder
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, written_study


class Signs:
    """A signer that notes what it signs."""

    certificate = "a certificate"

    def __init__(self) -> None:
        self.signed: list[bytes] = []

    def sign(self, message: bytes) -> str:
        self.signed.append(message)
        return "a signature"

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        return bool(name and certificate and message and signature)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(tmp_path / "ledger", create=True)
    yield opened
    opened.close()


def rows() -> pl.DataFrame:
    return ZIP_ROWS.with_columns(patient=pl.Series([f"p{at}" for at in range(ZIP_ROWS.height)]))


def test_a_release_is_recorded_for_every_other_receiver_before_it_is_signed(tmp_path: Path, ledger: Ledger) -> None:
    study = written_study(tmp_path, ZIP_PLAN, parties={"clinic-a": {}, "clinic-b": {}})
    signer, memory = Signs(), JointMemory(ledger, "patient")
    wrapped = remembering(signer, memory, study, "clinic-a", rows())
    assert isinstance(wrapped, RememberingSigner)
    levels = ", ".join(f'"{name}": 1' for name in study.plan.quasi_identifiers)
    assert wrapped.sign(f'{{"release": {{"levels": {{{levels}}}}}}}'.encode()) == "a signature"
    others = [name for name in study.receivers if name != "clinic-a"]
    assert [facts["recipient"] for facts in ledger.releases()] == others
    assert {facts["people"] for facts in ledger.releases()} == {rows().height}
    assert all(facts["kind"] == "joint" and study.fingerprint() in facts["about"] for facts in ledger.releases())


def test_what_cannot_be_remembered_is_not_signed(tmp_path: Path, ledger: Ledger) -> None:
    study = written_study(tmp_path, ZIP_PLAN, parties={"clinic-a": {}, "clinic-b": {}})
    signer = Signs()
    wrapped = remembering(signer, JointMemory(ledger, "nobody"), study, "clinic-a", rows())
    with pytest.raises(InputError, match="no column"):
        wrapped.sign(b'{"release": {"levels": {}}}')
    assert signer.signed == []


def test_who_has_withdrawn_is_not_in_the_table_of_the_party(ledger: Ledger) -> None:
    ledger.withdraw(["P1"])
    left = JointMemory(ledger, "patient").without_withdrawn(rows())
    assert left.height == rows().height - 1
    assert "p1" not in left["patient"].to_list()


def test_a_ledger_without_a_person_is_refused(tmp_path: Path) -> None:
    PartyFolder.create(tmp_path / "a", "clinic-a")
    settings = tmp_path / "a" / "party.yaml"
    settings.write_text(settings.read_text() + "ledger: ../ledger\n")
    with pytest.raises(InputError, match="ledger needs person"):
        PartyFolder.open(tmp_path / "a")
    settings.write_text(settings.read_text() + "person: patient\n")
    assert PartyFolder.open(tmp_path / "a").person == "patient"
