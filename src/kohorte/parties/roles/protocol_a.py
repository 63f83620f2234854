"""Protocol A: no helper; the parties encrypt each other's values, one layer each, and one of them anonymizes.

Learns
    Every party learns the number of rows of the others. A party sees the tables of others, one by one, under keys that
    it does not know: the distribution of encrypted values and combinations, the hierarchies, missing cells. The master
    sees the whole table under the keys of all parties: the distribution of encrypted values and combinations of values,
    the shape of the hierarchies, which cells are missing, and the figures of the release. The party that opens the
    release learns the release; when it asks the others for the texts of labels, each learns which of its own labels are
    in the release. When rows are divided by people, a party learns hashes of the labels that neither it nor the party
    that opens the release has, on which it can try plausible texts. The master learns which rows are flagged, if the
    plan releases a subset. The party that opens the release learns in this case how many people of the whole table look
    like each class of it.
Leaves open
    The master can recognize its own rows by how often their values occur, and then values of others that are equal to
    its own; with two parties this is easier, because nobody else's rows are mixed in. Frequencies can be guessed. All
    parties together, without one, cannot decrypt the values of that one.
    The shape of a hierarchy, which the plan shows, can tell a label: a branch unlike all others. With the metric
    loss, the shares of labels are not encrypted, and a label with a share of its own is known.
Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, sections 4.4.3 and 4.5.2. Pohlig-Hellman on ristretto255; a value is hashed with a key
    that the parties share, so that nobody else can try all values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.errors import ProtocolError
from kohorte.parties.blind import anonymize_blindly
from kohorte.parties.ciphers.commutative import CommutativeKey
from kohorte.parties.ciphers.ristretto import hash_to_group
from kohorte.parties.ciphers.secret import Keyring
from kohorte.parties.integration import append, join, permuted, refuse_lost, refuse_nobody
from kohorte.parties.known import Known
from kohorte.parties.own_table import OwnTable
from kohorte.parties.roles.integrating import in_plan_order
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.part import Part
from kohorte.parties.roles.played import Played
from kohorte.parties.roles.secrets import Secrets, as_facts
from kohorte.parties.roles.timing import Timing
from kohorte.parties.sealed import Cells, SealedColumn, SealedTable, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import Distribution, Study
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback

IDENTIFIER = "\0identifier"


@dataclass(frozen=True, eq=False)
class Ring:
    """The parties in a circle; the master anonymizes, and its left neighbour opens the release."""

    names: tuple[str, ...]
    own: str
    finisher: str

    def _at(self, steps: int, start: str) -> str:
        return self.names[(self.names.index(start) + steps) % len(self.names)]

    @property
    def left(self) -> str:
        """The neighbour from whom tables come."""
        return self._at(-1, self.own)

    @property
    def right(self) -> str:
        """The neighbour to whom tables go."""
        return self._at(1, self.own)

    @property
    def master(self) -> str:
        """The party that gets the whole encrypted table: the right neighbour of the one that opens the release."""
        return self._at(1, self.finisher)

    def owner(self, steps: int) -> str:
        """The party whose table arrives after so many steps to the right."""
        return self._at(-steps, self.own)


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of one party: one for each column, and one for identifiers."""

    columns: Mapping[str, CommutativeKey] = field(repr=False)

    @classmethod
    def random(cls, study: Study, keyring: Keyring) -> Keys:
        """Draw the keys of a run."""
        return cls({column: keyring.keep(CommutativeKey.random()) for column in (*study.plan.attributes, IDENTIFIER)})

    def encrypted(self, table: SealedTable) -> SealedTable:
        """The table under one more layer."""
        columns = {
            name: column.with_cells(self.columns[name].encrypt(column.cells)) for name, column in table.columns.items()
        }
        identifiers = None if table.identifiers is None else self.columns[IDENTIFIER].encrypt(table.identifiers)
        return SealedTable(columns, identifiers, table.counters)

    def decrypted(self, release: SealedRelease) -> SealedRelease:
        """The release without this party's layer."""
        return release.with_cells({name: self.columns[name].decrypt(cells) for name, cells in release.cells.items()})


def party(part: Part) -> Played:
    """Take part as an institution that holds data; the release is returned if this party opens it."""
    channel, study, name = part.channel, part.study, part.name
    timing, ring, keys = Timing(channel), Ring(study.names, name, study.finisher), Keys.random(study, part.keyring)
    with timing("encrypt"):
        secrets = part.agree()
        own = part.labelled(secrets)
        held = encrypt_in_circle(channel, ring, keys, hashed(own, secrets))
    with timing("integrate"):
        parts = integrate_in_circle(channel, study, ring, held)
    known = Known(rows={name: own.rows})
    channel.phase = "anonymize"  # at the master
    if parts is not None:
        release = _anonymized(study, parts, timing, part.progress)
        known = Known.found(release.facts, parts.rows)
        channel.phase = "decrypt"
        channel.send(ring.right, "release", keys.decrypted(release).permuted().to_bytes())
    else:
        release = SealedRelease.from_bytes(channel.receive(ring.left, "release"), study.released_columns)
        with timing("decrypt"):
            release = keys.decrypted(release)
        if name != study.finisher:
            channel.send(ring.right, "release", release.permuted().to_bytes())
    if name != study.finisher:
        answer_decoding(channel, study, secrets, own)
        return Played(secrets, known)
    with timing("decrypt"):
        release = release.permuted()  # others sign the hash of the file, and must not know the order of its rows
        texts = decoded(channel, study, secrets, own, release)
        opened = OpenedRelease.of(release, texts, study.plan, timing.seconds)
    return Played(secrets, known, opened)


def hashed(own: OwnTable, secrets: Secrets) -> SealedTable:
    """The labels of a table as points, hashed with a key of all parties."""
    columns = {
        name: SealedColumn(column.codes, column.levels, _points(column.texts, name, secrets), column.shares)
        for name, column in own.columns.items()
    }
    identifiers = None if own.identifiers is None else _points(own.identifiers, IDENTIFIER, secrets)
    return SealedTable(columns, identifiers)


def _points(texts: Sequence[str], column: str, secrets: Secrets) -> Cells:
    return hash_to_group([text.encode() for text in texts], secrets.column_key("points", column))


def encrypt_in_circle(
    channel: Channel, ring: Ring, keys: Keys, own: SealedTable, refresh: Callable[[Cells], Cells] | None = None
) -> SealedTable:
    """Encrypt the table of every party with one's own keys; return that of the right neighbour, under all layers.

    Every party but the owner refreshes the counters, if there are any, so that the owner does not recognize them.
    """
    held = permuted(keys.encrypted(own))
    for _ in range(len(ring.names) - 1):
        channel.send(ring.right, "layer", held.to_bytes())
        layer = keys.encrypted(SealedTable.from_bytes(channel.receive(ring.left, "layer")))
        if refresh is not None and layer.counters is not None:
            layer = SealedTable(layer.columns, layer.identifiers, refresh(layer.counters))
        held = permuted(layer)
    return held


@dataclass(frozen=True, eq=False)
class Parts:
    """The tables put together so far, by group, and how many rows each party brought."""

    tables: Mapping[str, SealedTable]
    rows: Mapping[str, int]

    def to_bytes(self) -> bytes:
        """The parts as a message."""
        messages = {name: np.frombuffer(table.to_bytes(), dtype=np.uint8) for name, table in self.tables.items()}
        arrays = {str(number): message for number, message in enumerate(messages.values())}
        return pack({"groups": list(messages), "rows": dict(self.rows)}, arrays)

    @classmethod
    def from_bytes(cls, message: bytes) -> Parts:
        """Read a message."""
        facts, arrays = unpack(message)
        names, rows = facts.get("groups"), facts.get("rows")
        if not isinstance(names, list) or not isinstance(rows, dict) or len(arrays) != len(names):
            raise malformed("its parts do not fit together")
        counted = all(type(number) is int and number >= 0 for number in rows.values())
        if not all(isinstance(name, str) for name in names) or not counted:
            raise malformed("its parts have no names or no numbers of rows")
        tables = [SealedTable.from_bytes(array.tobytes()) for array in arrays.values()]
        return cls(dict(zip(names, tables, strict=True)), rows)

    def checked(self, study: Study) -> Parts:
        """Return the parts if they are the whole table of the study; refuse others."""
        groups = set(study.groups()) if study.joins else {""}
        if set(self.tables) != groups or set(self.rows) != set(study.names):
            raise malformed("its parts are not those of the study")
        if any(set(table.columns) != set(study.columns) for table in self.tables.values()):
            raise malformed("its parts do not have the columns of the study")
        if study.joins:
            refuse_nobody(list(self.tables.values()))
        return self

    def lost(self, study: Study) -> dict[str, int]:
        """How many rows of each party are left out, because other parties do not have these people."""
        groups = study.groups().items() if study.joins else ()
        return {name: self.rows[name] - self.tables[group].rows for group, names in groups for name in names}

    def with_table(self, study: Study, owner: str, table: SealedTable) -> Parts:
        """Join or append the table of one more party."""
        if set(table.columns) != set(study.columns_of(owner)) or (table.identifiers is not None) != study.joins:
            raise malformed(f"the table of {owner} does not have the columns of the study")
        group = "" if study.distribution is Distribution.HORIZONTAL else study.parties[owner].group or ""
        rows = {**self.rows, owner: table.rows}
        if group not in self.tables:
            return Parts({**self.tables, group: table}, rows)
        before = self.tables[group]
        if study.joins:
            joined, _ = join({"the parties before": before, owner: table})
            parts = Parts({**self.tables, group: joined}, rows)
            if study.all_people:
                names = [name for name in study.groups()[group] if name in rows]
                refuse_lost({n: rows[n] - joined.rows for n in names}, joined.rows, dummies=study.dummies > 0)
            return parts
        return Parts({**self.tables, group: permuted(append([before, table]))}, rows)


def integrate_in_circle(channel: Channel, study: Study, ring: Ring, held: SealedTable) -> Parts | None:
    """Put all tables together, one after another to the left; only the master gets the whole."""
    owner = ring.right
    begins = owner == ring.master  # the left neighbour of the master
    before = Parts({}, {}) if begins else Parts.from_bytes(channel.receive(ring.right, "parts"))
    parts = before.with_table(study, owner, held)
    if ring.own == ring.master:
        return parts.checked(study)
    channel.send(ring.left, "parts", parts.to_bytes())
    return None


def _anonymized(study: Study, parts: Parts, timing: Timing, progress: ProgressCallback | None) -> SealedRelease:
    with timing("integrate"):
        tables = [in_plan_order(table, study) for table in parts.tables.values()]
        table = permuted(tables[0] if len(tables) == 1 else append(tables))
        lost = parts.lost(study)
    with timing("anonymize"):
        found = anonymize_blindly(table, study.plan, progress=progress)
    return found.sealed(table, study.plan, {"lost": lost, "seconds": timing.seconds})


# From points back to texts: each party knows the texts of its own labels


def decoded(
    channel: Channel, study: Study, secrets: Secrets, own: OwnTable, release: SealedRelease
) -> dict[str, list[str | None]]:
    """The texts of all points of a release; the other parties are asked for those that one does not know oneself.

    A party is asked only about columns that it brings: all parties can try plausible texts on a point.
    """
    texts = {name: _known(cells, name, own, secrets) for name, cells in release.cells.items()}
    for other in secrets.others:
        brought = study.columns_of(other)
        unknown = {
            name: [i for i, text in enumerate(found) if text is None]
            for name, found in texts.items()
            if name in brought
        }
        arrays = {str(number): release.cells[name][places] for number, (name, places) in enumerate(unknown.items())}
        channel.send(other, "unknown", pack({"columns": list(unknown)}, arrays))
        told = as_facts(secrets.open(channel.receive(other, "texts"), about="texts"))
        for name, places in unknown.items():
            answers = told.get(name)
            if not isinstance(answers, list) or len(answers) != len(places):
                raise malformed("it does not answer what was asked")
            for place, text in zip(places, answers, strict=True):
                texts[name][place] = None if text is None else str(text)
    if any(text is None for found in texts.values() for text in found):
        raise ProtocolError("a value of the release belongs to the table of no party", code="party-value-unknown")
    return texts


def answer_decoding(channel: Channel, study: Study, secrets: Secrets, own: OwnTable) -> None:
    """Tell the party that opens the release the texts of one's own labels that are in it."""
    facts, arrays = unpack(channel.receive(study.finisher, "unknown"))
    names = facts.get("columns")
    if not isinstance(names, list) or len(arrays) != len(names):
        raise malformed("it does not ask for points")
    asked = {str(name): points for name, points in zip(names, arrays.values(), strict=True)}
    answers = {name: _known(points, name, own, secrets) for name, points in asked.items()}
    channel.send(study.finisher, "texts", secrets.seal(json.dumps(answers).encode(), about="texts"))


def _known(points: Cells, name: str, own: OwnTable, secrets: Secrets) -> list[str | None]:
    """The text of each point, as far as it is a label of one's own table."""
    if name not in own.columns:
        return [None] * len(points)
    texts = own.columns[name].texts
    known = dict(zip((point.tobytes() for point in _points(texts, name, secrets)), texts, strict=True))
    return [known.get(point.tobytes()) for point in points]
