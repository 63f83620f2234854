"""Protocol C: as B, with dummy rows and encrypted counters; nobody knows both the classes and their sizes.

Learns
    The helper learns the number of rows of each party with dummy rows, the distribution of encrypted values with dummy
    rows, the shape of the hierarchies, which cells are missing, which combinations of levels were tried (the order of
    the search may tell which of them satisfy the plan), and, if dummy rows are imitated, which classes of the released
    one are not shown; how many people are in a class only where no dummy row is in it, without knowing that none is.
    The party that opens the release learns, besides the release,
    how often single values occur in all tables together (without knowing which value is which, but it may guess by
    frequency), how many people lack a value of each column, and for every combination that was tried the sizes of its
    classes, with and without dummy rows, without their values; with a sensitive attribute also how often its values
    occur in each class; with the metric loss also how much of the domain the labels of each class cover; and how many
    rows and people are about equally rare. A party learns the number of rows of the others, how long their longest
    labels are, and, when it helps to decrypt, sizes of classes without knowing which classes they are. A party learns,
    if rows are joined, how likely two rows of each other party are alike, which columns of the parties determine each
    other, and for two parties how many of 4,000 pairs of people agree in a column of the other one, alone and together
    with a column of its own; none of this if dummy rows are mirrored.
Leaves open
    A helper that colludes with a party learns all rows. Classes that are equal at two combinations have equal
    counters, so the party that decrypts them can follow a class. The helper knows the plan: if nothing may be
    suppressed, a class of the released combination that has fewer rows than the models ask for can only be dummy rows.
    The certificate says how many rows this concerns; on the public tables there were none.
    Dummy rows blur how often values and combinations occur; common values remain common. A helper that counts how
    often rows, values, pairs and triples of values occur can hardly tell dummy rows from real ones if parties have
    whole rows. If rows are joined, it can where columns of different parties depend on each other, unless one of them
    determines the other and has few values. The certificate says how well any single count told dummy rows in this
    run. Counts together tell more to somebody who knows the answer for some rows. Mirrored dummy rows are told only by
    chance, whatever is counted; but of a row and its mirror image one is real, so that answers about some rows tell
    about others. Where nobody has the mirror image of a value or of a class, the helper sees its size, but not whether
    it or the mirror image is real; the certificate says of how many values and classes this is so, and leaves it open
    if it is so of most. If rows may be suppressed, all parties together could open suppressed rows among mirrored ones.
    With the metric loss, the shares of labels are not encrypted, and a label with a share of its own is known.
Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, section 4.4.5. Additive ElGamal on ristretto255, or Paillier with 3072 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Counts
from kohorte.parties.ciphers.counters import COUNTERS, ElGamal, PrivateCounters, PublicCounters
from kohorte.parties.ciphers.counters.base import MOST
from kohorte.parties.ciphers.secret import Keyring
from kohorte.parties.counting.asking import chosen
from kohorte.parties.counting.counted_table import CountedTable
from kohorte.parties.counting.leading import Found, Lead, Remembering
from kohorte.parties.counting.veiled import KEY_BYTES, STARRED, ClassKeys, KeyShares, Layout, Veiled, left_over
from kohorte.parties.dummy_rows.joined import Group, chance_alike, with_joined_dummies
from kohorte.parties.dummy_rows.mirrored import known_to_all, with_mirrored_rows
from kohorte.parties.dummy_rows.ties import Agreeing
from kohorte.parties.dummy_rows.whole import shuffled, with_local_dummies
from kohorte.parties.integration import append, permuted
from kohorte.parties.known import Known
from kohorte.parties.own_table import OwnTable
from kohorte.parties.roles.integrating import integrated_groups
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.part import Part
from kohorte.parties.roles.played import Played
from kohorte.parties.roles.protocol_b import prepared, sealed
from kohorte.parties.roles.secrets import Secrets
from kohorte.parties.roles.timing import Timing
from kohorte.parties.sealed import Cells, SealedTable, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import HELPER, Study
from kohorte.parties.study import MOST as PARTIES
from kohorte.parties.transport.channel import Channel

WORTH_SHARING = 256
"""Fewer counters than this are not worth a message to another party; a message costs about as much time."""


def party(part: Part) -> Played:
    """Take part as an institution that holds data; the release is returned if this party opens it."""
    channel, study, name = part.channel, part.study, part.name
    timing = Timing(channel)
    with timing("encrypt"):
        secrets = part.agree()
        private = part.keyring.keep(_agreed_counters(channel, study, secrets))
        own, ciphers = prepared(part, secrets)
        mixed, counts, rows = mixed_with_dummies(channel, own, study, secrets)
        most = sum(rows.values())
        table = sealed(mixed, ciphers)
        counted = SealedTable(table.columns, table.identifiers, None if counts is None else private.encrypt(counts))
        channel.send(HELPER, "table", permuted(counted).to_bytes())
    if name != study.finisher:
        channel.phase = "anonymize"
        decrypt_for_others(channel, study, private, most, part.keyring)
        channel.phase = "decrypt"  # at the party that opens the release
        return Played(secrets, Known(rows=rows))
    decrypt = SharedDecryption(channel, study, private, most, part.keyring)
    lead = Lead(channel, study.plan, HELPER, Remembering(decrypt), private.public)
    with timing("anonymize"):
        found = lead.search(part.progress)
    with timing("decrypt"):
        if veils(study):
            layout = Layout({column: ciphers[column].bytes_per_cell for column in study.columns})
            release = _unveiled(lead, found, layout, decrypt, study)
        else:
            message, counters = lead.released(found)
            release = SealedRelease.from_bytes(message, study.released_columns).repeated(decrypt(counters), most)
        decrypt.done()
        texts = {column: ciphers[column].decrypt(cells) for column, cells in release.cells.items()}
        opened = release.opened(texts, study.plan)
    facts = {**found.figures(opened), "lost": lost_rows(study, rows, found.domain.people), "seconds": {}}
    return Played(secrets, Known(rows=rows), OpenedRelease(opened, facts, timing.seconds))


def veils(study: Study) -> bool:
    """Whether the helper must not learn which classes are suppressed, because this would tell mirrored rows."""
    return study.mirrored and study.plan.suppression_limit > 0


def _unveiled(lead: Lead, found: Found, layout: Layout, decrypt: SharedDecryption, study: Study) -> SealedRelease:
    """The rows of the classes that are kept, opened with the shares of all other parties, and the suppressed rows."""
    counter = decrypt.private.public.bytes_per_counter
    veiled, kept = Veiled.from_bytes(lead.veiled(found), layout, counter), np.flatnonzero(found.kept)
    records = veiled.opened(kept, decrypt.keys(kept), layout.width + counter)
    shown, counts = records[:, : layout.width], decrypt(np.ascontiguousarray(records[:, layout.width :]))
    starred = shown.copy()
    for name, place in layout.places().items():
        if name in study.plan.quasi_identifiers:
            starred[:, place] = 0
            starred[:, place.start] = STARRED
    suppressed = left_over(veiled.starred, decrypt(veiled.counters), starred, counts)
    whole = layout.release(np.concatenate([shown, veiled.starred]))
    return whole.repeated(np.concatenate([counts, suppressed]), decrypt.most)


def _agreed_counters(channel: Channel, study: Study, secrets: Secrets) -> PrivateCounters:
    """The private key of the counters, known to all parties; the helper gets the public one."""
    private = scheme_of(study).derived(secrets.group.data)
    if secrets.name == study.names[0]:
        channel.send(HELPER, "public-key", private.public.to_bytes())
    return private


def scheme_of(study: Study) -> type[PrivateCounters]:
    """The scheme of the counters that the study names."""
    return next(scheme for scheme in COUNTERS if scheme.name == study.counters)


def mixed_with_dummies(
    channel: Channel, own: OwnTable, study: Study, secrets: Secrets
) -> tuple[OwnTable, Counts | None, dict[str, int]]:
    """One's own rows and dummy rows in random order, the counter of each, and how many rows each party has.

    The counter of a real row is 1. If rows are joined, only the first party of a group counts them; counters of the
    others would all be 0.
    """
    facts = {"rows": own.rows, "alike": chance_alike(own) if study.joins and not study.mirrored else 0.0}
    told = secrets.exchange(channel, "rows", facts)
    if not all(_are_numbers(facts.get("rows"), facts.get("alike")) for facts in told.values()):
        raise malformed("it does not say how many rows there are")
    rows: dict[str, int] = {other: facts["rows"] for other, facts in told.items()}
    alike = {other: float(facts["alike"]) for other, facts in told.items()}
    name, names = next((name, names) for name, names in study.groups().items() if secrets.name in names)
    key = secrets.column_key("dummies", name)
    if study.mirrored:
        mixed = with_mirrored_rows(own, known_to_all(study), partial(secrets.column_key, "mirror"), key)
    elif not study.joins:
        mixed = with_local_dummies(own, study.dummies)
    else:
        fewest = min(rows[one] for one in names)
        tied = _tied_columns(channel, own, secrets, names, key=secrets.column_key("pairs", name), rows=fewest)
        free = [one for one in names if not tied.issuperset(study.columns_of(one))]
        group = Group({one: alike[one] for one in names}, fewest, tied, free)
        mixed = with_joined_dummies(own, study.dummies, key=key, group=group, name=secrets.name)
    counts = np.zeros(mixed.rows, dtype=np.int64)
    counts[: own.rows] = 1
    mixed, counts = shuffled(mixed, counts)
    return mixed, counts if secrets.name == names[0] else None, rows


def _are_numbers(rows: object, alike: object) -> bool:
    """Whether a party stated a number of rows that can be counted under encryption, and a chance."""
    countable = type(rows) is int and 0 <= rows <= MOST // PARTIES
    return countable and isinstance(alike, int | float) and 0 <= alike <= 1


def _tied_columns(
    channel: Channel, own: OwnTable, secrets: Secrets, names: Sequence[str], *, key: bytes, rows: int
) -> set[str]:
    """The columns of the parties of a group that determine each other; each two parties find theirs.

    All of them tell the result to all parties; those of other groups do not need it.
    """
    agreeing, found = Agreeing.of(own, key=key, rows=rows), set[str]()
    place = names.index(secrets.name)
    with ElGamal.random() as private:
        for later in names[place + 1 :]:
            channel.send(later, "pairs", agreeing.question(private))
        for earlier in names[:place]:
            channel.send(earlier, "agreeing", agreeing.answer(channel.receive(earlier, "pairs")))
        for later in names[place + 1 :]:
            found |= agreeing.tied(channel.receive(later, "agreeing"), private)
    told = secrets.exchange(channel, "tied", {"columns": sorted(found)})
    try:
        return {str(column) for name in names for column in told[name]["columns"]}
    except (KeyError, TypeError):
        raise malformed("it does not say which columns are tied") from None


def lost_rows(study: Study, rows: Mapping[str, int], people: Sequence[int]) -> dict[str, int]:
    """How many rows of each party are left out, because other parties do not have these people.

    `people` is how many people all parties of each group have. The member that joined the rows does not know it: some
    of the rows that found no partner are dummy rows.
    """
    if not study.joins:
        return {}
    if len(people) != len(study.groups()):
        raise malformed("it does not count the people of each group")
    joined = dict(zip(study.groups(), people, strict=True))
    return {name: rows[name] - joined[group] for group, names in study.groups().items() for name in names}


def helper(channel: Channel, study: Study, *, keyring: Keyring) -> Known:
    """Take part as the helper: put the tables together, and add up counters for the party that decrypts them.

    Returns what it knows about the release.
    """
    channel.phase = "encrypt"  # at the parties
    public = scheme_of(study).public_type.from_bytes(channel.receive(study.names[0], "public-key"))
    received = {name: SealedTable.from_bytes(channel.receive(name, "table")) for name in study.names}
    channel.phase = "integrate"
    tables, _ = integrated_groups(study, received)
    counted = counted_table(study, tables, public)
    channel.phase = "anonymize"
    node, kept = chosen(channel, study.finisher, counted)
    channel.phase = "decrypt"
    if kept is None and veils(study):
        message, shares = counted.veiled(node, len(study.names) - 1, keyring)
        others = [name for name in study.names if name != study.finisher]
        for name, share in zip(others, shares, strict=True):
            channel.send(name, "class-keys", pack({}, {"shares": share.matrix}))
    elif kept is not None and not veils(study):
        release, counters = counted.released(node, kept)
        rows = np.frombuffer(release.to_bytes(), dtype=np.uint8)
        message = pack({}, {"release": rows, "counters": counters})
    else:
        raise malformed("it does not ask for a release of this study")
    channel.send(study.finisher, "release", message)
    return Known({"levels": counted.levels(node)}, most_rows=counted.rows)


def counted_table(study: Study, tables: Sequence[SealedTable], public: PublicCounters) -> CountedTable:
    """The rows of all groups in one table, whose counters are added up."""
    if len(tables) == 1:
        return CountedTable(permuted(tables[0]), study.plan, public)
    whole = append(tables)
    if whole.counters is None:
        raise malformed("its rows have no counters")
    group_of = np.repeat(np.arange(len(tables), dtype=np.uint32), [table.rows for table in tables])
    people = public.refresh(public.sum_groups(whole.counters, group_of, len(tables)))
    return CountedTable(permuted(whole), study.plan, public, people)


@dataclass(frozen=True, eq=False)
class SharedDecryption:
    """Decrypts counters; the other parties, who know the same key, help if there are many."""

    channel: Channel = field(repr=False)
    study: Study
    private: PrivateCounters = field(repr=False)
    most: int
    keyring: Keyring

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

    def keys(self, classes: Counts) -> Cells:
        """The keys of classes whose rows are shown, from the shares of all other parties."""
        for name in self._helping:
            self.channel.send(name, "decrypt", pack({"open": True}, {"classes": classes}))
        shares = []
        for name in self._helping:
            _, arrays = unpack(self.channel.receive(name, "shares"))
            share = arrays.get("shares")
            if share is None or share.shape != (len(classes), KEY_BYTES) or share.dtype != np.uint8:
                raise malformed("it does not open what was asked")
            shares.append(share)
        return self.keyring.keep(ClassKeys.joined(shares)).matrix if len(classes) else shares[0]

    def done(self) -> None:
        """Tell the other parties that nothing more is to be decrypted."""
        for name in self._helping:
            self.channel.send(name, "decrypt", pack({"done": True}))


def decrypt_for_others(channel: Channel, study: Study, private: PrivateCounters, most: int, keyring: Keyring) -> None:
    """Decrypt counters for the party that searches, until it has found the release."""
    while True:
        facts, arrays = unpack(channel.receive(study.finisher, "decrypt"))
        if facts.get("done"):
            return
        if facts.get("open") and veils(study):
            _hand_over(channel, study, arrays.get("classes"), keyring)
            continue
        counters = arrays.get("counters")
        if counters is None:
            raise malformed("it has no counters")
        channel.send(study.finisher, "decrypted", pack({}, {"counts": private.decrypt(counters, most)}))


def _hand_over(channel: Channel, study: Study, classes: NDArray[Any] | None, keyring: Keyring) -> None:
    """Give the party that opens the release one's own shares of the keys of some classes."""
    _, arrays = unpack(channel.receive(HELPER, "class-keys"))
    shares = arrays.get("shares")
    if (
        shares is None
        or shares.ndim != 2
        or shares.shape[1] != KEY_BYTES
        or shares.dtype != np.uint8
        or not len(shares)
    ):
        raise malformed("there are no keys of classes")
    own = keyring.keep(KeyShares(shares.tobytes()))
    if classes is None or classes.ndim != 1 or classes.dtype != np.int64:
        raise malformed("it does not ask for classes")
    if len(classes) and not 0 <= int(classes.min()) <= int(classes.max()) < len(shares):
        raise malformed("it asks for a class that is not there")
    channel.send(study.finisher, "shares", pack({}, {"shares": own.matrix[classes]}))
