"""No key of a run is in memory after it: every object that held one is empty, and its bytes were overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import KohorteError
from kohorte.parties.ciphers.secret import Secret
from kohorte.parties.joint import JointRelease
from kohorte.parties.study import Study
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study

PARTIES = ("clinic-a", "clinic-b")
PROTOCOLS: dict[str, dict[str, Any]] = {
    "A": {"protocol": "A"},
    "B": {"protocol": "B"},
    "C": {"protocol": "C"},
    "A with dummies": {"protocol": "A", "dummies": 0.3},
}
KEYS = {
    "A": {"KeyPair", "PairKey", "Secret", "CommutativeKey"},
    "B": {"KeyPair", "PairKey", "Secret"},
    "C": {"KeyPair", "PairKey", "Secret", "ElGamal"},
    "A with dummies": {"KeyPair", "PairKey", "Secret", "CommutativeKey", "ElGamal"},
}
"""The classes of the keys that each protocol uses; the secret of the group is a `Secret`."""


class Kept(bytearray):
    """Bytes that notice whether they were overwritten with zeros before they were given up."""

    zeros = False

    def clear(self) -> None:
        self.zeros = not any(self)
        super().clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Secret]:
    """All keys that are made in a test."""
    found: list[Secret] = []
    init = Secret.__init__

    def kept(self: Secret, data: bytes | bytearray) -> None:
        init(self, Kept(data))
        found.append(self)

    monkeypatch.setattr(Secret, "__init__", kept)
    return found


def ran(study: Study, *, fails: str | None) -> dict[str, JointRelease | None] | None:
    """The outcome of a run; `fails` is a party whose table lacks a column."""
    tables = {name: ZIP_ROWS[number::2] for number, name in enumerate(PARTIES)}
    try:
        return run_study(study, {name: table.drop("zip") if name == fails else table for name, table in tables.items()})
    except KohorteError:
        return None


@pytest.mark.parametrize("fails", [None, *PARTIES])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_key_is_overwritten_when_a_run_ends(
    protocol: str, fails: str | None, made: list[Secret], tmp_path: Path
) -> None:
    study = written_study(tmp_path, ZIP_PLAN, parties={name: {} for name in PARTIES}, **PROTOCOLS[protocol])
    outcome = ran(study, fails=fails)
    assert (outcome is None) == (fails is not None)
    assert {type(key).__name__ for key in made} == KEYS[protocol]
    assert all(not key._data and isinstance(key._data, Kept) and key._data.zeros for key in made)
