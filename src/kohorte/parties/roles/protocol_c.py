"""Protocol C: as B, with dummy rows and encrypted counters; nobody knows both the classes and their sizes.

Learns
    The helper learns the number of rows of each party with dummy rows, the distribution of encrypted values with dummy
    rows, the shape of the hierarchies, which cells are missing, which combinations of levels were tried, and which
    classes of the released one are not shown; not how many people are in a class. The party that opens the release
    learns, besides the release, how often single values occur in all tables together (without knowing which value is
    which, but it may guess by frequency), and for every combination that was tried the sizes of its classes without
    their values; with a sensitive attribute also how often its values occur in each class; with the metric loss also
    how much of the domain the labels of each class cover. A party learns the number of rows of the others, how long
    their longest labels are, and, when it helps to decrypt, sizes of classes without knowing which classes they are.
Leaves open
    A helper that colludes with a party learns all rows. Classes that are equal at two combinations have equal
    counters, so the party that decrypts them can follow a class. The helper knows the plan: if nothing may be
    suppressed, a class of the released combination that has fewer rows than the models ask for can only be dummy rows.
    Dummy rows blur how often values and combinations occur. They are no perfect disguise: a helper that compares all
    columns of a row with all others can guess better than by chance which rows are dummy rows, above all if rows are
    joined.
    With the metric loss, the shares of labels are not encrypted, and a label with a share of its own is known.
Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, section 4.4.5. Additive ElGamal on ristretto255, or Paillier with 3072 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.kernels.arrays import Counts
from kohorte.parties.ciphers.counters import COUNTERS, PrivateCounters
from kohorte.parties.counting.asking import answer
from kohorte.parties.counting.counted_table import CountedTable
from kohorte.parties.counting.leading import Lead, Remembering
from kohorte.parties.dummies import (
    number_of,
    shuffled,
    with_joined_dummies,
    with_local_dummies,
)
from kohorte.parties.integration import permuted
from kohorte.parties.own_table import OwnTable
from kohorte.parties.roles.integrating import integrate
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.protocol_b import prepared, sealed
from kohorte.parties.roles.secrets import Secrets, agree
from kohorte.parties.roles.timing import Timing
from kohorte.parties.sealed import Cells, SealedTable, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import HELPER, Study
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback

WORTH_SHARING = 256
"""Fewer counters than this are not worth a message to another party; a message costs about as much time."""


def party(
    channel: Channel, study: Study, name: str, frame: pl.DataFrame, progress: ProgressCallback | None = None
) -> tuple[Secrets, OpenedRelease | None]:
    """Take part as an institution that holds data; return the release if this party opens it."""
    timing = Timing(channel)
    with timing("encrypt"):
        secrets = agree(channel, study, name)
        private = _agreed_counters(channel, study, secrets)
        own, ciphers = prepared(channel, study, secrets, frame)
        mixed, counts, most = mixed_with_dummies(channel, own, study, secrets)
        table = sealed(mixed, ciphers)
        counted = SealedTable(table.columns, table.identifiers, None if counts is None else private.encrypt(counts))
        channel.send(HELPER, "table", permuted(counted).to_bytes())
    if name != study.finisher:
        decrypt_for_others(channel, study, private, most)
        return secrets, None
    decrypt = SharedDecryption(channel, study, private, most)
    lead = Lead(channel, study.plan, HELPER, Remembering(decrypt))
    with timing("anonymize"):
        found = lead.search(progress)
    with timing("decrypt"):
        message, counters, lost = lead.released(found)
        release = SealedRelease.from_bytes(message).repeated(decrypt(counters), most)
        decrypt.done()
        texts = {column: ciphers[column].decrypt(cells) for column, cells in release.cells.items()}
        opened = release.opened(texts, study.plan)
    return secrets, OpenedRelease(opened, {**found.figures(opened), "lost": lost, "seconds": {}}, timing.seconds)


def _agreed_counters(channel: Channel, study: Study, secrets: Secrets) -> PrivateCounters:
    """The private key of the counters, known to all parties; the helper gets the public one."""
    private = scheme_of(study).derived(secrets.group)
    if secrets.name == study.names[0]:
        channel.send(HELPER, "public-key", private.public.to_bytes())
    return private


def scheme_of(study: Study) -> type[PrivateCounters]:
    """The scheme of the counters that the study names."""
    return next(scheme for scheme in COUNTERS if scheme.name == study.counters)


def mixed_with_dummies(
    channel: Channel, own: OwnTable, study: Study, secrets: Secrets
) -> tuple[OwnTable, Counts | None, int]:
    """One's own rows and dummy rows in random order, the counter of each (1 for a real row), and the most people.

    If rows are joined, only the first party of a group counts them; counters of the others would all be 0.
    """
    told = secrets.exchange(channel, "rows", {"rows": own.rows})
    try:
        rows = {other: int(facts["rows"]) for other, facts in told.items()}
    except (KeyError, TypeError, ValueError):
        raise malformed("it does not say how many rows there are") from None
    if not study.joins:
        mixed, counting = with_local_dummies(own, study.dummies), True
    else:
        group, names = next((group, names) for group, names in study.groups().items() if secrets.name in names)
        most = max(rows[name] for name in names)
        mixed = with_joined_dummies(
            own,
            number_of(study.dummies, most),
            key=secrets.column_key("dummies", group),
            parties=names,
            name=secrets.name,
        )
        counting = secrets.name == names[0]
    counts = np.zeros(mixed.rows, dtype=np.int64)
    counts[: own.rows] = 1
    mixed, counts = shuffled(mixed, counts)
    return mixed, counts if counting else None, sum(rows.values())


def helper(channel: Channel, study: Study) -> None:
    """Take part as the helper: put the tables together, and add up counters for the party that decrypts them."""
    public = scheme_of(study).public_type.from_bytes(channel.receive(study.names[0], "public-key"))
    tables = {name: SealedTable.from_bytes(channel.receive(name, "table")) for name in study.names}
    whole, lost = integrate(study, tables)
    release, counters = answer(channel, study.finisher, CountedTable(permuted(whole), study.plan, public))
    message = np.frombuffer(release.to_bytes(), dtype=np.uint8)
    channel.send(study.finisher, "release", pack({"lost": lost}, {"release": message, "counters": counters}))


@dataclass(frozen=True, eq=False)
class SharedDecryption:
    """Decrypts counters; the other parties, who know the same key, help if there are many."""

    channel: Channel = field(repr=False)
    study: Study
    private: PrivateCounters = field(repr=False)
    most: int

    @property
    def _helping(self) -> list[str]:
        return [name for name in self.study.names if name != self.study.finisher]

    def __call__(self, counters: Cells) -> Counts:
        """Decrypt counters."""
        helping = self._helping if len(counters) >= WORTH_SHARING else []
        parts = np.array_split(np.arange(len(counters)), len(helping) + 1)
        for name, part in zip(helping, parts[1:], strict=True):
            self.channel.send(name, "decrypt", pack({}, {"counters": counters[part]}))
        found = [self.private.decrypt(counters[parts[0]], self.most)]
        for name, part in zip(helping, parts[1:], strict=True):
            _, arrays = unpack(self.channel.receive(name, "decrypted"))
            counts = arrays.get("counts")
            if counts is None or counts.shape != part.shape or counts.dtype != np.int64:
                raise malformed("it does not decrypt what was asked")
            found.append(counts)
        return np.concatenate(found)

    def done(self) -> None:
        """Tell the other parties that nothing more is to be decrypted."""
        for name in self._helping:
            self.channel.send(name, "decrypt", pack({"done": True}))


def decrypt_for_others(channel: Channel, study: Study, private: PrivateCounters, most: int) -> None:
    """Decrypt counters for the party that searches, until it has found the release."""
    while True:
        facts, arrays = unpack(channel.receive(study.finisher, "decrypt"))
        if facts.get("done"):
            return
        counters = arrays.get("counters")
        if counters is None:
            raise malformed("it has no counters")
        channel.send(study.finisher, "decrypted", pack({}, {"counts": private.decrypt(counters, most)}))
