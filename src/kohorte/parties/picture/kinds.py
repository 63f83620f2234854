"""The kinds of messages in words, and the phases of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from kohorte.parties.transport.messages import Message

PHASES: Mapping[str, str] = {
    "encrypt": "Agree on keys and encrypt",
    "integrate": "Integrate",
    "anonymize": "Anonymize",
    "decrypt": "Decrypt",
    "sign": "Sign and hand over",
}
"""The phases of a run in their order, each with its title."""


class Content(Enum):
    """What a message carries: the tone in which it is drawn, and the words for it."""

    AGREEMENT = (5, "keys and lengths")
    TABLES = (0, "encrypted rows")
    COUNTERS = (3, "questions and counters")
    OUTCOME = (2, "certificate and release")

    @property
    def tone(self) -> int:
        """The number of the tone."""
        return self.value[0]

    @property
    def words(self) -> str:
        """The words for a legend."""
        return self.value[1]


@dataclass(frozen=True)
class Kind:
    """What a kind of message is.

    A message belongs to the phase that its sender is in, but not to one before `phase`. If it answers a message of the
    kind `answers`, it belongs to the phase of that message, because its sender only helps.
    """

    content: Content
    meaning: str
    phase: str = "encrypt"
    answers: str = ""


KINDS: Mapping[str, Kind] = {
    "key": Kind(
        Content.AGREEMENT, "a public key, drawn for this run; each pair of parties derives a common key from two"
    ),
    "secret": Kind(Content.AGREEMENT, "the secret that all parties of the run share, sealed for one party"),
    "lengths": Kind(Content.AGREEMENT, "how long the longest values are, sealed for one party"),
    "labels": Kind(Content.AGREEMENT, "how long the longest labels are, sealed for one party"),
    "rows": Kind(Content.AGREEMENT, "how many rows a party has and how much they are alike, sealed for one party"),
    "pairs": Kind(Content.AGREEMENT, "for pairs of people, encrypted, whether they agree in a column, to find ties"),
    "agreeing": Kind(Content.AGREEMENT, "how many pairs agree in columns of both parties, encrypted", answers="pairs"),
    "tied": Kind(Content.AGREEMENT, "which columns of different parties determine each other, sealed for one party"),
    "counter-key": Kind(Content.AGREEMENT, "one party's part of the public key of the counters, sealed for one party"),
    "public-key": Kind(Content.AGREEMENT, "the public key of the counters, with which the helper adds them up"),
    "layer": Kind(Content.TABLES, "a table under the keys of one or more parties, on its way round the circle"),
    "parts": Kind(
        Content.TABLES, "the tables that were put together so far, under the keys of all parties", "integrate"
    ),
    "table": Kind(Content.TABLES, "an encrypted table with its encrypted hierarchies, and counters if there are any"),
    "domain": Kind(
        Content.COUNTERS, "the hierarchies as numbers, and encrypted counters of single values", "anonymize"
    ),
    "ask": Kind(Content.COUNTERS, "which combination of levels the helper shall count", "anonymize"),
    "counted": Kind(
        Content.COUNTERS,
        "encrypted counters of the classes of one combination, in random order",
        "anonymize",
        answers="ask",
    ),
    "decrypt": Kind(
        Content.COUNTERS, "encrypted counters that another party shall decrypt, to share the work", "anonymize"
    ),
    "decrypted": Kind(Content.COUNTERS, "the numbers in these counters", "anonymize", answers="decrypt"),
    "strip": Kind(
        Content.COUNTERS, "encrypted counters from which a party shall take its share of the key", "anonymize"
    ),
    "stripped": Kind(Content.COUNTERS, "the counters without that share", "anonymize", answers="strip"),
    "class-keys": Kind(
        Content.COUNTERS, "one party's shares of the keys with which the rows of each class are sealed", "decrypt"
    ),
    "shares": Kind(
        Content.COUNTERS, "these shares, of the classes that the release shows", "decrypt", answers="decrypt"
    ),
    "release": Kind(Content.TABLES, "the rows and cells that the release shows, still encrypted", "decrypt"),
    "unknown": Kind(
        Content.TABLES, "encrypted labels of the release whose text the asking party does not know", "decrypt"
    ),
    "texts": Kind(
        Content.TABLES, "the texts of these labels, as far as the party has them, sealed", "decrypt", answers="unknown"
    ),
    "certificate": Kind(Content.OUTCOME, "the certificate that every member signs; it contains no row", "sign"),
    "signature": Kind(
        Content.OUTCOME, "the signature of a member under the certificate", "sign", answers="certificate"
    ),
    "result": Kind(Content.OUTCOME, "the release, sealed for the parties, who verify it before they sign", "sign"),
    "signed": Kind(Content.OUTCOME, "the certificate with the signatures of all members, sealed", "sign"),
}
"""The kinds of messages that roles send."""

UNKNOWN = Kind(Content.AGREEMENT, "a message of the transport")


def kind_of(message: Message) -> Kind:
    """What the kind of a message is."""
    return KINDS.get(message.kind, UNKNOWN)
