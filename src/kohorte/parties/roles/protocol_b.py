"""Protocol B: a helper without data anonymizes what the parties encrypted with common keys.

Learns
    A party learns the release, if it gets it, and how long the longest labels of the others are. The helper learns the
    number of rows of each party, the distribution of encrypted values and combinations of values (equal values have
    equal ciphertexts), the shape of the hierarchies, which cells are missing, and the figures of the release; no value.
    The helper learns which rows are flagged, if the plan releases a subset. The party that opens the release learns in
    this case how many people of the whole table look like each class of the release.
Leaves open
    A helper that knows how often values occur can guess them by their frequency. A helper that colludes with a party
    learns all rows.
    The shape of a hierarchy, which the plan shows, can tell a label: a branch unlike all others. With the metric
    loss, the shares of labels are not encrypted, and a label with a share of its own is known.
Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, section 4.4.4. AES-SIV instead of AES-CBC with a fixed initialization vector.
"""

from __future__ import annotations

from kohorte.parties.blind import anonymize_blindly
from kohorte.parties.ciphers.deterministic import ColumnCipher
from kohorte.parties.dummy_rows.mirrored import known_to_all
from kohorte.parties.dummy_rows.whole import LONGEST_TEXT
from kohorte.parties.integration import permuted
from kohorte.parties.known import Known
from kohorte.parties.own_table import OwnTable
from kohorte.parties.roles.integrating import integrate
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.part import Part
from kohorte.parties.roles.played import Played
from kohorte.parties.roles.secrets import Secrets, agreed_lengths
from kohorte.parties.roles.timing import Timing
from kohorte.parties.sealed import SealedColumn, SealedTable
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import HELPER, Study
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback

IDENTIFIER = "\0identifier"


def party(part: Part) -> Played:
    """Take part as an institution that holds data; the release is returned if this party opens it."""
    channel, study, name = part.channel, part.study, part.name
    timing = Timing(channel)
    with timing("encrypt"):
        secrets = part.agree()
        own, ciphers = prepared(part, secrets)
        channel.send(HELPER, "table", permuted(sealed(own, ciphers)).to_bytes())
    channel.phase = "anonymize"  # at the helper
    known = Known(rows={name: own.rows})
    if name != study.finisher:
        return Played(secrets, known)
    release = SealedRelease.from_bytes(channel.receive(HELPER, "release"), study.released_columns)
    release = release.permuted()  # the helper signs the hash of the file, and must not know the order of its rows
    with timing("decrypt"):
        texts = {column: ciphers[column].decrypt(cells) for column, cells in release.cells.items()}
        opened = OpenedRelease.of(release, texts, study.plan, timing.seconds)
    return Played(secrets, known, opened)


def helper(channel: Channel, study: Study, progress: ProgressCallback | None = None) -> Known:
    """Take part as the helper: integrate and anonymize what the parties sent; return what it knows of the release."""
    timing = Timing(channel)
    channel.phase = "encrypt"  # at the parties
    tables = {name: SealedTable.from_bytes(channel.receive(name, "table")) for name in study.names}
    rows = {name: table.rows for name, table in tables.items()}
    with timing("integrate"):
        whole, lost = integrate(study, tables)
        del tables  # large, and no longer needed
        table = permuted(whole)
        del whole
    with timing("anonymize"):
        found = anonymize_blindly(table, study.plan, progress=progress)
    release = found.sealed(table, study.plan, {"lost": lost, "seconds": timing.seconds})
    channel.phase = "decrypt"
    channel.send(study.finisher, "release", release.permuted().to_bytes())
    return Known.found(found.figures.to_dict(), rows)


def prepared(part: Part, secrets: Secrets) -> tuple[OwnTable, dict[str, ColumnCipher]]:
    """Label one's own table and agree on the length of cells, so that no length tells a value."""
    study, own = part.study, part.labelled(secrets)
    longest = {column: labelled.longest for column, labelled in own.columns.items()}
    if own.identifiers is not None:
        longest[IDENTIFIER] = max((len(text.encode()) for text in own.identifiers), default=0)
    if study.mirrored:
        known = known_to_all(study) or {}
        longest |= {column: max(longest[column], known[column].longest) for column in own.columns if column in known}
    if study.dummies:
        longest = {column: max(length, LONGEST_TEXT) for column, length in longest.items()}
    told = secrets.exchange(part.channel, "labels", longest)
    lengths = agreed_lengths(told, {})
    return own, {
        column: ColumnCipher(secrets.column_key("cells", column), length) for column, length in lengths.items()
    }


def sealed(own: OwnTable, ciphers: dict[str, ColumnCipher]) -> SealedTable:
    """Encrypt the labels of a table, and its identifiers."""
    columns = {
        name: SealedColumn(column.codes, column.levels, ciphers[name].encrypt(column.texts), column.shares)
        for name, column in own.columns.items()
    }
    identifiers = None if own.identifiers is None else ciphers[IDENTIFIER].encrypt(own.identifiers)
    return SealedTable(columns, identifiers)
