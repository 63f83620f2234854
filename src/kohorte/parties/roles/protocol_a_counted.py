"""Protocol A with dummy rows: commutative encryption and encrypted counters, against parties that collude.

The master puts the table together, as in protocol A, but knows neither how often values occur without dummy rows nor
how many people are in a class: the counters are encrypted with a key of which every party has a share, and all shares
are needed to decrypt. The party that opens the release searches, as in protocol C.

Learns
    The master learns what the helper of protocol C learns. The party that opens the release learns what it learns in
    protocol C. The other parties see tables and counters only encrypted.
Leaves open
    All parties together, without one, can neither decrypt the values of that one nor the counters. The master and the
    party that opens the release together know the sizes of all classes of encrypted values.
Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, section 4.7 (a combination of protocols A and C).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Counts
from kohorte.parties.ciphers.counters import ElGamal, ElGamalPublic
from kohorte.parties.counting.asking import answer
from kohorte.parties.counting.counted_table import CountedTable
from kohorte.parties.counting.leading import Lead, Remembering, read_release
from kohorte.parties.known import Known
from kohorte.parties.own_table import OwnTable
from kohorte.parties.roles.integrating import in_plan_order
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.part import Part
from kohorte.parties.roles.played import Played
from kohorte.parties.roles.protocol_a import (
    Keys,
    Parts,
    Ring,
    answer_decoding,
    decoded,
    encrypt_in_circle,
    hashed,
    integrate_in_circle,
)
from kohorte.parties.roles.protocol_c import counted_table, lost_rows, mixed_with_dummies
from kohorte.parties.roles.secrets import Secrets
from kohorte.parties.roles.timing import Timing
from kohorte.parties.sealed import Cells, SealedTable, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import Study
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback


def party(part: Part) -> Played:
    """Take part as an institution that holds data; the release is returned if this party opens it."""
    channel, study, name = part.channel, part.study, part.name
    timing, ring, keys = Timing(channel), Ring(study.names, name, study.finisher), Keys.random(study, part.keyring)
    with timing("encrypt"):
        secrets = part.agree()
        share = part.keyring.keep(ElGamal.random())
        public = _joint_key(channel, secrets, share)
        own = part.labelled(secrets)
        mixed, counts, rows = mixed_with_dummies(channel, own, study, secrets)
        table = hashed(mixed, secrets)
        counted = SealedTable(table.columns, table.identifiers, None if counts is None else public.encrypt(counts))
        held = encrypt_in_circle(channel, ring, keys, counted, public.refresh)
    with timing("integrate"):
        parts = integrate_in_circle(channel, study, ring, held)
    opening = Opening(channel, study, ring, share, rows)
    channel.phase = "anonymize"
    known = Known(rows=rows)
    if parts is not None:
        levels = _answer(channel, study, opening, keys, _whole(study, parts, public))
        known = Known({"levels": levels}, rows)
    elif name != study.finisher:
        opening.strip_for_others()
        _pass_on(channel, study, ring, keys, share)
    if name != study.finisher:
        answer_decoding(channel, study, secrets, own)
        return Played(secrets, known)
    return Played(secrets, known, _opened(channel, study, secrets, own, keys, opening, timing, part.progress))


def _joint_key(channel: Channel, secrets: Secrets, share: ElGamal) -> ElGamalPublic:
    """The public key of the counters: the sum of the public keys of all parties."""
    told = secrets.exchange(channel, "counter-key", {"key": share.public.to_bytes().hex()})
    try:
        keys = [ElGamalPublic.from_bytes(bytes.fromhex(str(facts["key"]))) for facts in told.values()]
    except (KeyError, ValueError):
        raise malformed("it has no key") from None
    return ElGamalPublic.joint(keys)


def _whole(study: Study, parts: Parts, public: ElGamalPublic) -> CountedTable:
    groups = study.groups() if study.joins else parts.tables
    return counted_table(study, [in_plan_order(parts.tables[group], study) for group in groups], public)


@dataclass(frozen=True, eq=False)
class Opening:
    """Takes the shares of all parties off counters: first that of the master, then of the others, the last decrypts."""

    channel: Channel = field(repr=False)
    study: Study
    ring: Ring
    share: ElGamal = field(repr=False)
    rows: Mapping[str, int]

    @property
    def most(self) -> int:
        """The most people that a counter can count."""
        return sum(self.rows.values())

    @property
    def _between(self) -> Sequence[str]:
        """The parties that are neither the master nor the one that decrypts."""
        return [name for name in self.study.names if name not in (self.ring.master, self.ring.finisher)]

    def __call__(self, counters: Cells) -> Counts:
        """Decrypt counters from which the master has already taken its share."""
        for name in self._between:
            self.channel.send(name, "strip", pack({}, {"counters": counters}))
            _, arrays = unpack(self.channel.receive(name, "stripped"))
            stripped = arrays.get("counters")
            if stripped is None or stripped.shape != counters.shape:
                raise malformed("it does not answer what was asked")
            counters = stripped
        return self.share.decrypt(counters, self.most)

    def done(self) -> None:
        """Tell the other parties that nothing more is to be decrypted."""
        for name in self._between:
            self.channel.send(name, "strip", pack({"done": True}))

    def strip_for_others(self) -> None:
        """Take one's own share off counters, until the release is found."""
        while True:
            facts, arrays = unpack(self.channel.receive(self.ring.finisher, "strip"))
            if facts.get("done"):
                return
            if (counters := arrays.get("counters")) is None:
                raise malformed("it has no counters")
            self.channel.send(self.ring.finisher, "stripped", pack({}, {"counters": self.share.strip(counters)}))


def _answer(channel: Channel, study: Study, opening: Opening, keys: Keys, table: CountedTable) -> dict[str, int]:
    """Answer the party that searches, and send the release on its way; return its levels."""
    release, counters, levels = answer(channel, study.finisher, table, strip=opening.share.strip)
    channel.phase = "decrypt"
    _send_on(channel, opening.ring, keys.decrypted(release), opening.share.strip(counters))
    return levels


def _send_on(channel: Channel, ring: Ring, release: SealedRelease, counters: Cells) -> None:
    """Send the release to the right neighbour; rows and counters are in the same new order."""
    mixed, order = release.permuted_rows()
    message = np.frombuffer(mixed.to_bytes(), dtype=np.uint8)
    channel.send(ring.right, "release", pack({}, {"release": message, "counters": counters[order]}))


def _pass_on(channel: Channel, study: Study, ring: Ring, keys: Keys, share: ElGamal) -> None:
    channel.phase = "decrypt"
    message, counters = read_release(channel.receive(ring.left, "release"))
    release = SealedRelease.from_bytes(message, study.released_columns)
    if len(counters) != release.rows:
        raise malformed("its counters do not fit its rows")
    _send_on(channel, ring, keys.decrypted(release), share.strip(counters))


def _opened(
    channel: Channel,
    study: Study,
    secrets: Secrets,
    own: OwnTable,
    keys: Keys,
    opening: Opening,
    timing: Timing,
    progress: ProgressCallback | None,
) -> OpenedRelease:
    lead = Lead(channel, study.plan, opening.ring.master, Remembering(opening), opening.share.public)
    with timing("anonymize"):
        found = lead.search(progress)
    with timing("decrypt"):
        lead.choose(found)
        opening.done()
        message, counters = read_release(channel.receive(opening.ring.left, "release"))
        counts = opening.share.decrypt(counters, opening.most)
        release = keys.decrypted(
            SealedRelease.from_bytes(message, study.released_columns).repeated(counts, opening.most)
        )
        opened = release.opened(decoded(channel, study, secrets, own, release), study.plan)
    facts = {**found.figures(opened), "lost": lost_rows(study, opening.rows, found.domain.people), "seconds": {}}
    return OpenedRelease(opened, facts, timing.seconds)
