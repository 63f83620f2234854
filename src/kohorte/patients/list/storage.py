"""The database of the patient list with its keys: opening, transactions, settings, and a new key.

The key that seals can be rotated. Blind indexes of PIDs and tables stay under the first version of the key, because
the PIDs of forgotten people are not known any more and could not be indexed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager

from sqlalchemy import Connection, delete, insert, select

from kohorte.errors import EngineError
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.record import Record
from kohorte.patients.list import secrets as sealed
from kohorte.patients.list.database import update_many, write_many
from kohorte.patients.list.history import FREQUENCIES, forget_only
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import (
    BLOCKS,
    CONSENTS,
    COUNTERS,
    EXPORTS,
    NAME,
    PEOPLE,
    RECORDS,
    ROOM,
    SETTINGS,
    TEMP_IDS,
)
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Key
from kohorte.trust.log import Detail
from kohorte.trust.private_files import locked
from kohorte.trust.ties import Tie

SEALED_WITH = "sealed with"
"""The setting that says which version of the key seals; the fingerprint of each version is a setting, too."""
LOCK = select(COUNTERS.c.name).with_for_update()


class Storage:
    """The tables of a list, and everything that needs its key."""

    def __init__(self, folder: TrustFolder, *, unchecked: bool = False) -> None:
        """Open the list; with `unchecked` a database that is older than the log is not refused, to repair it."""
        self.version = 0
        self._log = folder.log
        self._tie = Tie(folder, NAME, "the patient list", lock=lambda connection: connection.execute(LOCK).all())
        self._key_file = folder.key_file(
            NAME, owner="the patient list", lost="no name, no PID and no link of the list can be read any more"
        )
        with locked(folder.path):
            self._store = folder.store(ROOM)
            with self._store.reading() as connection:
                noted = _setting(connection, SEALED_WITH)
            if noted is None:
                noted = self._begin()
            keys = self._key_file.read()
        version, fingerprint, first = noted.decode().split()
        keys.check({keys.versions[0].version: first, int(version): fingerprint})
        self._noted = noted
        self.secrets = self._secrets(keys.version(int(version)), keys.versions[0])
        if not unchecked:
            self._tie.check(self._store, self._forget_again)

    def close(self) -> None:
        """Close the connections to the database."""
        self._store.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose statements all see the same state."""
        with self._store.reading() as connection:
            self._refuse_rotated(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are stored together; writers wait for each other, also in other processes."""
        before = self.version
        try:
            with self._store.writing() as connection:
                connection.execute(LOCK).all()
                self._refuse_rotated(connection)
                self.version = self._tie.next(connection)
                yield connection
        except BaseException:
            self.version = before
            raise

    @property
    def noted(self) -> dict[str, Detail]:
        """What an entry of the log says about the last change that was made here."""
        return self._tie.details(self.version) if self.version else {}

    def complete(self) -> int:
        """Forget in an older database the PIDs that were forgotten since; return how many there were.

        The database counts as the present one from then on. TempIDs in it may have been used, and end.
        """
        found = self._tie.complete(self._store, self._forget_again)
        with self.writing() as connection:
            connection.execute(delete(TEMP_IDS))
        return found

    def _forget_again(self, connection: Connection, marks: Set[str]) -> int:
        marks = marks | self._tie.forgotten()
        if not marks:
            return 0
        keys = self._key_file.read()
        plain = Secrets(keys.version(int(self._noted.split()[0])), keys.versions[0])
        people = connection.execute(select(PEOPLE.c.id, PEOPLE.c.pid)).all()
        gone = {row.id for row in people if self._log.fingerprint(plain.pid(row.pid, row.id)) in marks}
        forget_only(connection, plain, gone)
        return len(gone)

    def _secrets(self, key: Key, first: Key) -> Secrets:
        return Secrets(
            key, first, forgotten=lambda pid: bool(gone := self._tie.forgotten()) and self._log.fingerprint(pid) in gone
        )

    def _refuse_rotated(self, connection: Connection) -> None:
        if _setting(connection, SEALED_WITH) != self._noted:
            raise EngineError(
                "the key of the patient list was rotated meanwhile; run the command again", code="patients-key-rotated"
            )

    def setting(self, name: str) -> bytes | None:
        """The sealed value of a setting."""
        with self.reading() as connection:
            sealed = _setting(connection, name)
        return None if sealed is None else self.secrets.setting(sealed, name)

    def set(self, name: str, value: bytes) -> None:
        """Seal and store a setting."""
        with self.writing() as connection:
            _set(connection, name, self.secrets.seal_setting(value, name))

    def rotate(self) -> int:
        """Seal everything with a new version of the key, in one transaction; returns its number.

        A process that is killed leaves a list that is sealed with the old version, or one with the new. The old version
        stays in the key file, because backups need it.
        """
        keys = self._key_file.rotate()
        old, new = self.secrets, self._secrets(keys.current, keys.versions[0])
        with self.writing() as connection:
            _seal_again(connection, old, new)
            connection.execute(delete(SETTINGS).where(SETTINGS.c.name == FREQUENCIES))
            noted = f"{keys.current.version} {keys.current.fingerprint} {keys.versions[0].fingerprint}".encode()
            _set(connection, SEALED_WITH, noted)
        self.secrets, self._noted = new, noted
        return keys.current.version

    def _begin(self) -> bytes:
        """Make the key, unless a process that was killed made it, and note it in the new database."""
        keys = self._key_file.read() if self._key_file.exists else self._key_file.create()
        noted = f"{keys.current.version} {keys.current.fingerprint} {keys.versions[0].fingerprint}".encode()
        with self._store.writing() as connection:
            connection.execute(insert(COUNTERS), [{"name": "people", "value": 0}, {"name": "records", "value": 0}])
            _set(connection, SEALED_WITH, noted)
        return noted


def _seal_again(connection: Connection, old: Secrets, new: Secrets) -> None:
    people = connection.execute(select(PEOPLE.c.id, PEOPLE.c.pid)).all()
    pids = [(new.seal_pid(old.pid(row.pid, row.id), row.id), row.id) for row in people]
    update_many(connection, PEOPLE, "pid", pids)
    connection.execute(delete(BLOCKS))
    identities, blocks = [], []
    for row in connection.execute(select(RECORDS.c.id, RECORDS.c.identity)).all():
        identity = old.identity(row.identity, row.id)
        identities.append((new.seal_identity(identity, row.id), row.id))
        blocks += [(new.block(key), row.id) for key in keys_of(Record.of(identity))]
    update_many(connection, RECORDS, "identity", identities)
    write_many(connection, BLOCKS, sorted(set(blocks)), "key", "record")
    _seal_details_again(connection, old, new)


def consent_row(number: int, person: int) -> str:
    """What the details of a consent are bound to: they cannot be moved to another person."""
    return f"{number} {person}"


def _seal_details_again(connection: Connection, old: Secrets, new: Secrets) -> None:
    connection.execute(delete(TEMP_IDS))  # they live for minutes; people ask for new ones
    for table, name in ((CONSENTS, sealed.CONSENTS), (EXPORTS, sealed.EXPORTS)):
        rows = []
        for row in connection.execute(select(table)).all():
            place = consent_row(row.id, row.person) if table is CONSENTS else str(row.id)
            rows.append((new.seal_details(old.details(row.details, name, place), name, place), row.id))
        update_many(connection, table, "details", rows)


def _setting(connection: Connection, name: str) -> bytes | None:
    value = connection.execute(select(SETTINGS.c.value).where(SETTINGS.c.name == name)).scalar()
    return None if value is None else bytes(value)


def _set(connection: Connection, name: str, value: bytes) -> None:
    connection.execute(delete(SETTINGS).where(SETTINGS.c.name == name))
    connection.execute(insert(SETTINGS), {"name": name, "value": value})
