"""The secrets that the parties of a run share, and that a helper never learns."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kohorte.parties.ciphers import agreement
from kohorte.parties.ciphers.agreement import KeyPair, PairKey
from kohorte.parties.ciphers.secret import Keyring, Secret
from kohorte.parties.own_table import LONGEST
from kohorte.parties.sealed import malformed
from kohorte.parties.study import Study
from kohorte.parties.transport.channel import Channel

LARGEST = 1 << 30
"""The most bytes of a message when it is unpacked."""


@dataclass(frozen=True, eq=False)
class Secrets:
    """One secret of all parties, and one key for each pair; the repr shows none of them."""

    name: str
    others: tuple[str, ...]
    group: Secret = field(repr=False)
    pairs: Mapping[str, PairKey] = field(repr=False)

    def column_key(self, purpose: str, column: str) -> bytes:
        """The key of a column for one purpose."""
        return agreement.column_key(self.group.data, f"{purpose} {column}")

    def exchange(self, channel: Channel, kind: str, facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Tell all other parties some facts, unreadable for anybody else; return what each party told, oneself too."""
        for other in self.others:
            channel.send(other, kind, self.pairs[other].seal(json.dumps(dict(facts)).encode(), about=kind))
        told = {self.name: dict(facts)}
        for other in self.others:
            told[other] = as_facts(self.pairs[other].open(channel.receive(other, kind), about=kind))
        return told

    def seal(self, message: bytes, *, about: str) -> bytes:
        """A message that only the parties of the run can read."""
        with self._of_all() as key:
            return key.seal(zlib.compress(message, 1), about=about)

    def open(self, message: bytes, *, about: str) -> bytes:
        """Open a message that another party sealed."""
        with self._of_all() as key:
            packed = key.open(message, about=about)
        unpack = zlib.decompressobj()
        try:
            opened = unpack.decompress(packed, LARGEST)
        except zlib.error:
            raise malformed("it cannot be unpacked") from None
        if not unpack.eof:
            raise malformed("it is larger than a release can be")
        return opened

    def _of_all(self) -> PairKey:
        return PairKey(agreement.derived(self.group.data, "messages"))


def agree(channel: Channel, study: Study, name: str, keyring: Keyring) -> Secrets:
    """Agree on the secrets of a run: X25519 for each pair, then one secret, drawn by the first party, for all.

    Learns
        The helper takes no part and learns nothing. Somebody who records the messages learns nothing, even with the
        private keys of the certificates: the keys are drawn for this run and forgotten afterwards.
    """
    others = tuple(other for other in study.names if other != name)
    with KeyPair.random() as own:
        for other in others:
            channel.send(other, "key", own.public)
        pairs = {
            other: keyring.keep(
                own.shared(
                    channel.receive(other, "key"), study=study.fingerprint(), run=study.name, names=(name, other)
                )
            )
            for other in others
        }
    first = study.names[0]
    if name == first:
        group = keyring.keep(Secret(agreement.random_group_secret()))
        for other in others:
            channel.send(other, "secret", pairs[other].seal(group.data, about="group secret"))
    else:
        group = keyring.keep(Secret(pairs[first].open(channel.receive(first, "secret"), about="group secret")))
    return Secrets(name, others, group, pairs)


def as_facts(message: bytes) -> dict[str, Any]:
    """Read a message that is one JSON object."""
    try:
        facts = json.loads(message)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise malformed("it has no facts")
    return facts


def agreed_lengths(told: Mapping[str, Mapping[str, Any]], columns: Mapping[str, int]) -> dict[str, int]:
    """The largest number that any party told, for each column."""
    found = dict(columns)
    for facts in told.values():
        for column, length in facts.items():
            if type(length) is not int or not 0 <= length <= LONGEST:
                raise malformed("a length is not a number, or too large")
            found[column] = max(length, found.get(column, 0))
    return found
