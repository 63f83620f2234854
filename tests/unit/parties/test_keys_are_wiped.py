"""No key of a run is in memory after it: every object that held one is empty, and its bytes were overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.errors import KohorteError, ProtocolError
from kohorte.parties import joint
from kohorte.parties.ciphers.secret import Secret
from kohorte.parties.counting.veiled import ClassKeys, Veiled
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
    assert all(map(is_overwritten, made))


VEILED = {"clinic-a": ["zip"], "clinic-b": ["sex"], "clinic-c": ["diagnosis"]}
ENDS: dict[str, tuple[Any, str, int]] = {
    "well": (None, "", 6),
    "when the helper seals the classes": (Veiled, "of", 1),
    "when the classes are opened": (Veiled, "opened", 6),
    "when the release is certified": (joint, "joint_candidate", 6),
}
"""How a run with veiled classes ends, and how many keys and shares there are: the keys at the helper and at the party
that opens the release, and two shares, each at the helper and at a party."""


@pytest.mark.parametrize("end", ENDS)
def test_the_keys_of_veiled_classes_and_their_shares_are_overwritten(
    end: str, made: list[Secret], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parties = {name: {"columns": columns} for name, columns in VEILED.items()}
    study = written_study(tmp_path, ZIP_PLAN, protocol="C", distribution="vertical", identifier="TID", parties=parties)
    rows = ZIP_ROWS.with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
    tables = {name: rows.select("TID", *columns) for name, columns in VEILED.items()}
    part, name, keys = ENDS[end]
    if part is None:
        assert run_study(study, tables)["clinic-a"] is not None
    else:
        monkeypatch.setattr(part, name, broken)
        with pytest.raises(ProtocolError, match="broken"):
            run_study(study, tables)
    assert sum(isinstance(key, ClassKeys) for key in made) == keys
    assert all(map(is_overwritten, made))


def is_overwritten(key: Secret) -> bool:
    """Whether zeros were written over the bytes of a key before they were given up."""
    return not key._data and isinstance(key._data, Kept) and key._data.zeros


def broken(*_: object, **__: object) -> None:
    raise ProtocolError("broken off", code="party-message-malformed")
