"""Encrypted counters that can be added without the key, one file per scheme."""

from __future__ import annotations

from kohorte.parties.ciphers.counters.base import PrivateCounters, PublicCounters
from kohorte.parties.ciphers.counters.elgamal import ElGamal, ElGamalPublic
from kohorte.parties.ciphers.counters.paillier import Paillier, PaillierPublic

COUNTERS: tuple[type[PrivateCounters], ...] = (ElGamal, Paillier)

__all__ = [
    "COUNTERS",
    "ElGamal",
    "ElGamalPublic",
    "Paillier",
    "PaillierPublic",
    "PrivateCounters",
    "PublicCounters",
]
