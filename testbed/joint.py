"""The public tables divided between parties as published, and studies about them.

Source: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation,
Technische Universität München, 2015, section 4.6.1 with table 4.2. How columns are divided between two parties is not
published; here both get about half of them, in the order of table 4.2.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import kohorte as ko
from kohorte.parties.joint import JointRelease
from kohorte.parties.study import Study
from kohorte.parties.taking_part import take_part
from kohorte.parties.transport.channel import Channel
from kohorte.parties.transport.local import LocalChannels
from kohorte.parties.transport.messages import Message
from testbed import tables

COLUMNS: Mapping[tuple[str, int], Sequence[Sequence[str]]] = {
    ("adult", 3): (
        ("age", "race", "sex"),
        ("education", "marital-status", "native-country"),
        ("occupation", "salary-class", "workclass"),
    ),
    ("adult", 2): (
        ("age", "race", "sex", "education", "marital-status"),
        ("native-country", "occupation", "salary-class", "workclass"),
    ),
    ("cup", 3): (("AGE", "GENDER", "ZIP"), ("INCOME", "RAMNTALL", "STATE"), ("MINRAMNT", "NGIFTALL")),
    ("cup", 2): (("AGE", "GENDER", "ZIP", "INCOME"), ("RAMNTALL", "STATE", "MINRAMNT", "NGIFTALL")),
}
IDENTIFIER = "TID"
HOURS = 6 * 3600.0


def divided_rows(frame: pl.DataFrame, parties: int) -> dict[str, pl.DataFrame]:
    """Equal parts of the rows, one after another; the last party gets those that are left over."""
    each = frame.height // parties
    return {
        f"P{number + 1}": frame.slice(number * each, each if number < parties - 1 else None)
        for number in range(parties)
    }


def divided_columns(frame: pl.DataFrame, columns: Sequence[Sequence[str]]) -> dict[str, pl.DataFrame]:
    """These columns for each party, with an identifier of the rows, each in another order of rows."""
    numbered = frame.with_row_index(IDENTIFIER).with_columns(pl.format("person {}", IDENTIFIER).alias(IDENTIFIER))
    return {
        f"P{number}": numbered.select(IDENTIFIER, *own).sample(fraction=1, shuffle=True, seed=number)
        for number, own in enumerate(columns, start=1)
    }


def study_file(
    folder: Path,
    plan: ko.Plan,
    *,
    protocol: str,
    parties: Mapping[str, Sequence[str]],
    vertical: bool,
    dummies: float | str | None = None,
) -> Path:
    """Write a study and its plan; files of the plan are found where the public tables are.

    `parties` names the columns of each party, which matter vertically only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = plan.to_yaml().replace("csv: hierarchies/", f"csv: {tables.DATA}/hierarchies/")
    (folder / "plan.yaml").write_text(text, encoding="utf-8")
    entry: dict[str, object] = {
        "study": "benchmark",
        "protocol": protocol,
        "distribution": "vertical" if vertical else "horizontal",
        "plan": "plan.yaml",
        "parties": {name: {"columns": list(own)} if vertical else {} for name, own in parties.items()},
    }
    entry |= {"identifier": IDENTIFIER} if vertical else {}
    entry |= {"helper": {}} if protocol != "A" else {}
    entry |= {} if dummies is None else {"dummies": dummies}
    (folder / "study.yaml").write_text(json.dumps(entry), encoding="utf-8")  # JSON is YAML
    return folder / "study.yaml"


@dataclass(frozen=True)
class Believing:
    """Signs with a hash, and believes it: for runs in one process, where nobody else can sign."""

    name: str

    @property
    def certificate(self) -> str:
        """A text in the place of a certificate."""
        return f"certificate of {self.name}"

    def sign(self, message: bytes) -> str:
        """The hash of the message and the name."""
        return _hash(self.name, message)

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        """Tell whether it is that hash."""
        return certificate == f"certificate of {name}" and signature == _hash(name, message)


def _hash(name: str, message: bytes) -> str:
    return hashlib.sha256(name.encode() + b"\0" + message).hexdigest()


def in_threads(study_path: Path, parts: Mapping[str, pl.DataFrame]) -> tuple[JointRelease, tuple[Message, ...]]:
    """Run a study in this process, with a thread for each member; return the release and the messages."""
    study = Study.from_yaml(study_path)
    channels = LocalChannels(list(study.members), wait=HOURS)

    def part_of(name: str) -> Callable[[Channel], JointRelease | None]:
        return lambda channel: take_part(channel, study, Believing(name), name=name, frame=parts.get(name))

    releases = channels.run({name: part_of(name) for name in study.members})
    release = releases[study.finisher]
    assert release is not None, "the party that opens the release gets it"
    return release, channels.messages
