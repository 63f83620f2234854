"""Key pairs for the tests of envelopes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kohorte.envelopes.keys import PrivateKey, PublicKey, make_keys, read_private


@dataclass(frozen=True)
class Pair:
    """Both keys of somebody."""

    private: PrivateKey
    public: PublicKey


def pair(folder: Path, name: str) -> Pair:
    """Make a key pair in a folder."""
    public = make_keys(folder / name)
    return Pair(read_private(folder / f"{name}.key"), public)
