"""An attacker has everything of one house, and the research table: the join with the other half is impossible.

Everything is the whole disk with keys, backups, notices, logs and temporary files, and every text that the house has
ever sealed under any key: whatever its keys could open, wherever it lies.
"""

from __future__ import annotations

import base64
import csv
import io
import logging
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.envelopes.keys import make_keys, read_private
from kohorte.envelopes.tables import seal_table
from kohorte.service.backup import make_backup
from kohorte.service.vault import LockedWriter, Vault
from kohorte.sources.batches import TableBatches
from kohorte.trust import notices
from kohorte.trust.sealing import Sealer
from support.trusting import House, house_in

PEOPLE = [
    {
        "first_names": "Annegret",
        "last_name": "Eichhorst",
        "birth_date": "1960-12-30",
        "place": "Dresden",
        "insurance_number": "A123456789",
    },
    {
        "first_names": "Ottokar",
        "last_name": "Zwickelbach",
        "birth_date": "1971-03-04",
        "place": "Flensburg",
        "insurance_number": "B987654321",
    },
    {
        "first_names": "Rosamunde",
        "last_name": "Quendelwurz",
        "birth_date": "1988-02-03",
        "place": "Konstanz",
        "insurance_number": "C555666777",
    },
]
NAMES = [value for person in PEOPLE for value in person.values()]
MEDICAL = ["I21-infarct-canary", "E11-diabetes-canary", "J45-asthma-canary"]
VISITS = ["2024-05-17", "2024-06-18", "2024-07-19"]
UNTIL = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
TYPED_BY_MISTAKE = "Eichhorst-typed-as-a-pid"


@dataclass
class Taken:
    """What an attacker takes from a house."""

    house: House
    folder: Path
    sealed: list[bytes] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)

    def everything(self) -> bytes:
        """The disk of the house, what its keys could open, and what it logged; sealed texts also without Base64."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        parts = [path.read_bytes() for path in files] + self.sealed + [line.encode() for line in self.logged]
        return b"\0".join([*parts, *(path.name.encode() for path in files)])

    def knows(self, *texts: str) -> list[str]:
        """Which texts the attacker finds, in any of the spellings in which they could be kept."""
        whole = self.everything()
        lowered = whole.lower()
        return [
            text
            for text in texts
            if text.lower().encode() in lowered
            or text.encode().hex().encode() in lowered
            or base64.b64encode(text.encode()).rstrip(b"=")[:-1] in whole
            or text.encode("utf-16-le") in whole
        ]

    @contextmanager
    def working(self) -> Iterator[House]:
        """Let the house work; what it seals, logs and writes into temporary files is taken."""
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        (self.folder / "notices").mkdir(exist_ok=True)
        seal, lock, push = Sealer.seal, Vault.seal, LockedWriter.write
        handler = logging.Handler()
        handler.emit = lambda record: self.logged.append(record.getMessage())  # type: ignore[method-assign]

        def sealing(sealer: Sealer, data: bytes, *, row: bytes) -> bytes:
            self.sealed += [data, row]
            return seal(sealer, data, row=row)

        def locking(vault: Vault, text: str | bytes, *, label: str) -> bytes:
            self.sealed += [text.encode() if isinstance(text, str) else text, label.encode()]
            return lock(vault, text, label=label)

        def pushing(writer: LockedWriter, data: bytes) -> None:
            self.sealed.append(data)
            push(writer, data)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Sealer, "seal", sealing)
            patch.setattr(Vault, "seal", locking)
            patch.setattr(LockedWriter, "write", pushing)
            patch.setattr(tempfile, "tempdir", str(self.folder / "tmp"))
            patch.setenv(notices.ENVIRONMENT, str(self.folder / "notices"))
            logger = logging.getLogger("kohorte")
            before = logger.level
            logger.setLevel(logging.DEBUG)
            logger.addHandler(handler)
            try:
                yield self.house
            finally:
                logger.removeHandler(handler)
                logger.setLevel(before)


@dataclass
class Stage:
    """Two houses after much has happened, and the table that research has."""

    patients: Taken
    pseudonyms: Taken
    research: pl.DataFrame
    pids: list[str]
    temp_ids: list[str]
    labels: list[str]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    root, elsewhere = tmp_path_factory.mktemp("neither"), tmp_path_factory.mktemp("elsewhere")
    two = {"two_people": ("forget_patient", "forget_pseudonyms")}
    with (
        house_in(root / "a" / "service", only=("patients",), **two) as one,
        house_in(root / "b" / "service", only=("pseudonyms",), **two) as other,
    ):
        yield _played(Taken(one, root / "a"), Taken(other, root / "b"), elsewhere)


def _played(patients: Taken, pseudonyms: Taken, elsewhere: Path) -> Stage:
    """Everything that the houses offer, with calls that are refused, and with requests that still wait."""
    for name in ("research", "physician"):
        make_keys(elsewhere / name)
    physician = (elsewhere / "physician.pub").read_text()
    with patients.working() as house:
        database = house.get("recipient", "/users/me")["user_id"]
        body = {"people": PEOPLE, "temp_ids_for": database}
        temp_ids = [one["temp_id"] for one in house.post("source", "/patients/registrations", body)["registrations"]]
        pids = house.post("recipient", "/patients/temp-ids/resolve", {"temp_ids": temp_ids})["pids"]
        house.post("recipient", "/patients/temp-ids/resolve", {"temp_ids": temp_ids}, status=403)
        waiting = house.post("trustee", "/patients/temp-ids", {"pids": pids[:1], "recipient": database})["temp_ids"]
        house.post("trustee", "/patients/consents", {"pids": pids, "purposes": ["research", "report-back"]})
        house.post("trustee", "/patients/exports", {"purpose": "research", "project": "p7"})
        house.post("trustee", "/patients/history", {"pid": TYPED_BY_MISTAKE}, status=400)
        house.post("trustee", "/patients/encodings", {"secret": "no secret"}, status=400)
        key = {"secret": f"1 {secrets.token_hex(32)}\n"}
        assert house.ask("trustee", "POST", "/patients/encodings", json=key).status_code == 200
        house.post("trustee", "/patients/forget", {"pid": pids[2]}, status=202)
    with pseudonyms.working() as house:
        for domain, kind in (("research", "reversible"), ("samples", "list"), ("hashed", "one-way")):
            house.post("trustee", "/domains", {"name": domain, "kind": kind}, status=201)
        asked = {"originals": pids, "dates": [[visit] for visit in VISITS]}
        told = house.post("recipient", "/domains/research/pseudonyms", asked)
        labels = house.post("recipient", "/domains/samples/pseudonyms", {"originals": pids})["pseudonyms"]
        labels += house.post("recipient", "/domains/hashed/pseudonyms", {"originals": pids})["pseudonyms"]
        house.post("researcher", "/domains/research/pseudonyms", {"originals": pids}, status=403)
        forget = {"pseudonyms": labels[2:3]}
        house.post("trustee", "/domains/samples/forget", forget, status=202)
    research = pl.DataFrame(
        {"pid": told["pseudonyms"], "visit": [one[0] for one in told["dates"]], "diagnosis": MEDICAL}
    )
    research.select("pid", "diagnosis").write_csv(elsewhere / "finding.csv")
    recipient = read_private(elsewhere / "physician.key").public
    seal_table(TableBatches(elsewhere / "finding.csv"), elsewhere / "sealed.csv", ["pid"], recipient)
    sealed = list(csv.DictReader(io.StringIO((elsewhere / "sealed.csv").read_text())))
    with pseudonyms.working() as house:
        psns = research["pid"].to_list()
        question = {"domain": "research", "pseudonyms": psns}
        shown = _way_back(house, "/way-back", question | {"recipient": physician})
        house.post("researcher", shown, status=403)
        house.post("researcher", shown, {"recipient": physician, "rows": sealed, "column": "pid"})
        _way_back(house, "/way-back", question)  # approved, and not shown yet
        make_backup(house.service, pseudonyms.folder / "backup")
    with patients.working() as house:
        rows = [
            {"pid": pid, **{name: row[name] for name in row if name != "pid"}}
            for pid, row in zip(pids, sealed, strict=True)
        ]
        shown = _way_back(house, "/patients/way-back", {"pids": pids, "recipient": physician})
        handing = {"recipient": physician, "rows": rows, "column": "pid", "consent": "report-back"}
        house.post("researcher", shown, handing)
        _way_back(house, "/patients/way-back", {"pids": pids})
        make_backup(house.service, patients.folder / "backup")
    return Stage(patients, pseudonyms, research, pids, [*temp_ids, *waiting], labels)


def _way_back(house: House, path: str, question: dict[str, Any]) -> str:
    purpose = "incidental finding, tell the treating physician"
    asked = house.post("researcher", path, {**question, "purpose": purpose, "until": UNTIL}, status=201)
    for name in ("approver", "approver 2"):
        house.post(name, f"{path}/{asked['request']}/approve")
    return f"{path}/{asked['request']}/show"


@pytest.mark.slow
def test_the_attacker_finds_what_a_house_does_know(stage: Stage) -> None:
    """Otherwise the searches below would prove nothing."""
    assert set(stage.patients.knows(*NAMES, *stage.pids)) == {*NAMES, *stage.pids}
    assert set(stage.pseudonyms.knows(*stage.pids)) == set(stage.pids)
    assert set(stage.pseudonyms.knows(*stage.labels[:3])) == set(stage.labels[:3])
    for taken in (stage.patients, stage.pseudonyms):
        assert list((taken.folder / "backup").rglob("*.db"))
        assert list((taken.folder / "notices").iterdir())
        assert any("/way-back" in line for line in taken.logged)


def test_the_patient_list_with_all_its_keys_has_nothing_in_common_with_the_research_table(stage: Stage) -> None:
    cells = [value for column in stage.research.iter_columns() for value in column.to_list()]
    assert stage.patients.knows(*cells, *MEDICAL, *VISITS, *stage.labels) == []
    assert stage.patients.knows(*stage.temp_ids) == []  # so that nobody learns from it which PID a clinic asked for


def test_the_pseudonym_service_with_all_its_keys_knows_no_person_and_no_diagnosis(stage: Stage) -> None:
    assert stage.pseudonyms.knows(*NAMES, *MEDICAL, *VISITS, *stage.temp_ids, TYPED_BY_MISTAKE) == []


def test_what_somebody_typed_by_mistake_is_kept_nowhere(stage: Stage) -> None:
    assert stage.patients.knows(TYPED_BY_MISTAKE) == []


def test_no_house_has_a_key_of_the_other(stage: Stage) -> None:
    for own, other in ((stage.patients, stage.pseudonyms), (stage.pseudonyms, stage.patients)):
        keys = [line.split()[-1] for path in own.folder.rglob("*.key") for line in path.read_bytes().splitlines()]
        long = [key for key in keys if len(key) >= 32]
        assert len(long) >= 3
        assert not [key for key in long if key in other.everything()]


def test_the_database_of_the_service_itself_has_neither_pids_nor_names_nor_pseudonyms(stage: Stage) -> None:
    """Its keys are other ones than those of the part: a database administrator with the master key learns nothing."""
    for taken in (stage.patients, stage.pseudonyms):
        files = [*(taken.folder / "service").glob("service.db*"), *(taken.folder / "backup").rglob("*.db")]
        content = b"".join(path.read_bytes() for path in files)
        texts = [*NAMES, *stage.pids, *stage.labels, *stage.research["pid"], *stage.temp_ids]
        assert not [text for text in texts if text.encode() in content]


def test_nothing_is_left_in_the_folder_for_temporary_files(stage: Stage) -> None:
    for taken in (stage.patients, stage.pseudonyms):
        assert list((taken.folder / "tmp").rglob("*")) == []
