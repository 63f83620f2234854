"""Studies of several parties on one machine, in threads, and the same rows pooled."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from kohorte.parties.joint import JointRelease
from kohorte.parties.study import Study
from kohorte.parties.taking_part import take_part
from kohorte.parties.transport.local import LocalChannels

ZIP_PLAN: Mapping[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 2}],
    "suppression_limit": 0.2,
    "person": "none",
}
ZIP_ROWS = pl.DataFrame(
    {
        "zip": ["81667", "81667", "81675", "81675", "97070", "97070", "81669", "10115"],
        "sex": ["m", "m", "f", "f", "m", "m", "m", "d"],
        "diagnosis": ["a", "b", "c", "d", "e", "f", "g", "h"],
    }
)
"""A small plan and eight rows for it, for studies that start processes."""


class Signers:
    """A real key for each member, without certificates."""

    def __init__(self, names: Sequence[str]) -> None:
        self._keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in names}

    def of(self, name: str) -> Signer:
        """The signer of one member."""
        return Signer(name, self._keys)


@dataclass(frozen=True)
class Signer:
    """Signs for one member and checks the signatures of all."""

    name: str
    keys: Mapping[str, ec.EllipticCurvePrivateKey]

    def sign(self, message: bytes) -> str:
        return base64.b64encode(self.keys[self.name].sign(message, ec.ECDSA(SHA256()))).decode()

    @property
    def certificate(self) -> str:
        return f"certificate of {self.name}"

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        if certificate != f"certificate of {name}":
            return False
        try:
            self.keys[name].public_key().verify(base64.b64decode(signature), message, ec.ECDSA(SHA256()))
        except (InvalidSignature, ValueError):
            return False
        return True


def written_study(folder: Path, plan: Mapping[str, Any], **study: Any) -> Study:
    """Write a plan and a study of three parties, and read the study.

    Where rows are divided, protocol C gets imitated dummy rows, because plans of tests seldom list their values;
    `dummies=None` leaves it to the default.
    """
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "plan.yaml").write_text(yaml.safe_dump(dict(plan), sort_keys=False, allow_unicode=True), encoding="utf-8")
    entry = {
        "study": "heart",
        "protocol": "B",
        "distribution": "horizontal",
        "plan": "plan.yaml",
        "parties": {"clinic-a": {}, "clinic-b": {}, "clinic-c": {}},
        **study,
    }
    if entry["protocol"] != "A":
        entry.setdefault("helper", {})
    if entry["protocol"] == "C" and entry["distribution"] != "vertical":
        entry.setdefault("dummies", 0.25)
    entry = {key: value for key, value in entry.items() if key != "dummies" or value is not None}
    (folder / "study.yaml").write_text(yaml.safe_dump(entry, sort_keys=False), encoding="utf-8")
    return Study.from_yaml(folder / "study.yaml")


def run_study(
    study: Study, tables: Mapping[str, pl.DataFrame], *, record: Path | None = None
) -> dict[str, JointRelease | None]:
    """Run a study with one thread for each member."""
    signers = Signers(list(study.members))
    channels = LocalChannels(list(study.members), record=record)
    return channels.run(
        {
            name: lambda channel, name=name: take_part(
                channel, study, signers.of(name), name=name, frame=tables.get(name)
            )
            for name in study.members
        }
    )


def rows_of(frame: pl.DataFrame, columns: Sequence[str]) -> list[tuple[str | None, ...]]:
    """The rows as text, sorted, as a multiset."""
    texts = frame.select(pl.col(name).cast(pl.String) for name in columns)
    return sorted(texts.rows(), key=str)
