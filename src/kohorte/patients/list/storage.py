"""The database of the patient list with its keys: opening, transactions, settings, and a new key.

The key that seals can be rotated. Blind indexes of PIDs and tables stay under the first version of the key, because
the PIDs of forgotten people are not known any more and could not be indexed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager

from sqlalchemy import Connection, delete, insert, select, update

from kohorte.errors import EngineError
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.record import Record
from kohorte.patients.list import cases
from kohorte.patients.list import secrets as sealed
from kohorte.patients.list.case_rows import decided_in_short, digest_of_open, mark_again
from kohorte.patients.list.database import pids_of, update_many, write_many
from kohorte.patients.list.event_rows import mark_events_again
from kohorte.patients.list.history import FREQUENCIES, forget_only
from kohorte.patients.list.placements import Reader, place_all, remove_of_nobody
from kohorte.patients.list.secrets import Secrets, Unplaced
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
from kohorte.trust.keys import Key, Keys
from kohorte.trust.log import Detail, account
from kohorte.trust.private_files import locked
from kohorte.trust.records.facts import CASES_MARKED, HISTORY_MARKED, PLACEMENTS_SEALED, ROTATED, Begun
from kohorte.trust.ties import Tie

SEALED_WITH = "sealed with"
"""The setting that says which version of the key seals, with its fingerprint and that of the first version.

The last word says that places are sealed, from the beginning or later; lists of earlier versions lack it.
"""
PLACED, PLACED_LATER = "placed", "placed-later"
OWNER = "the patient list"
NUMBERED = ("people", "records", "cases", "events")
LOCK = select(COUNTERS.c.name).with_for_update()


class Storage:
    """The tables of a list, and everything that needs its key."""

    def __init__(self, folder: TrustFolder, *, unchecked: bool = False) -> None:
        """Open the list; with `unchecked` a database that is older than the log is not refused, to repair it."""
        self.version = 0
        self._moved: dict[int, int] = {}
        self._gone: Set[str] = frozenset()
        self._log = folder.log
        self._tie = Tie(
            folder,
            NAME,
            OWNER,
            lock=lambda connection: connection.execute(LOCK).all(),
            undecided=digest_of_open,
            decided=decided_in_short,
            redo=self._decide_again,
        )
        self._key_file = folder.key_file(
            NAME, owner=OWNER, lost="no name, no PID and no link of the list can be read any more"
        )
        with locked(folder.path):
            self._store = folder.store(ROOM)
            with self._store.reading() as connection:
                noted = _setting(connection, SEALED_WITH)
            if noted is None:
                noted = self._begin()
            keys = self._key_file.read()
            version, fingerprint, first, *places = noted.decode().split()
            keys.check({keys.versions[0].version: first, int(version): fingerprint})
            self._noted = noted
            self.secrets = self._secrets(keys.version(int(version)), keys.versions[0])
            if places != [PLACED]:
                self._seal_places(Unplaced(keys.version(int(version))), sealed=bool(places), unchecked=unchecked)
        if not unchecked:
            self._tie.check(self._store, self._forget_again)
            self._mark_cases()
            self._mark_history()
            self._note_rotation()

    def close(self) -> None:
        """Close the connections to the database."""
        self._store.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose statements all see the same state."""
        moves, self._gone = self._tie.moves(), self._tie.forgotten()  # before the database, which may change meanwhile
        with self._store.reading() as connection:
            self._refuse_rotated(connection)
            self._moved = self._tie.moved(connection, moves)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are stored together; writers wait for each other, also in other processes."""
        before, moves, self._gone = self.version, self._tie.moves(), self._tie.forgotten()
        try:
            with self._store.writing() as connection:
                connection.execute(LOCK).all()
                self._refuse_rotated(connection)
                self._moved = self._tie.moved(connection, moves)
                self.version = self._tie.next(connection)
                self._take_numbers(connection)
                yield connection
                self._tie.seal(connection)
        except BaseException:
            self.version = before
            raise

    def begin(self, action: str, *, actor: str, **details: Detail) -> Begun:
        """Write a decision down in the log, at the end of its transaction and before the database has it."""
        return self._tie.begin(action, actor=actor, version=self.version, **details)

    def end(self, begun: Begun, **more: Detail) -> None:
        """Write down that the database has a decision."""
        self._tie.end(begun, **more)

    @property
    def noted(self) -> dict[str, Detail]:
        """What an entry of the log says about the last change that was made here."""
        return self._tie.details(self.version) if self.version else {}

    @property
    def numbers(self) -> str:
        """The last numbers that were given, for an entry of the log; they are not given again."""
        with self.reading() as connection:
            rows = connection.execute(select(COUNTERS).order_by(COUNTERS.c.name)).all()
        return " ".join(f"{row.name}={row.value}" for row in rows)

    def _take_numbers(self, connection: Connection) -> None:
        """Take the numbers that the log knows for given, whatever an older or changed database says."""
        for name, value in self._tie.numbers().items():
            behind = (COUNTERS.c.name == name) & (COUNTERS.c.value < value)
            connection.execute(update(COUNTERS).where(behind).values(value=value))

    def complete(self) -> int:
        """Forget in an older database the PIDs that were forgotten since; return how many there were.

        The database counts as the present one from then on. TempIDs in it may have been used, and end.
        """
        found = self._tie.complete(self._store, self._forget_again)
        with self.writing() as connection:
            connection.execute(delete(TEMP_IDS))
            remove_of_nobody(connection)
            place_all(connection, self._plain(), self.secrets, self.version)
            mark_again(connection, self.secrets)
            self._mark_events(connection)
        return found

    def _seal_places(self, reader: Reader, *, sealed: bool, unchecked: bool) -> None:
        """Seal the rows of an earlier version of the program together with their places, in one transaction.

        The log then has an entry: from now on rows without places are those of an older copy.
        """
        done = NAME in self._log.checked().placements
        if sealed and done:
            return
        if not sealed:
            if done and not unchecked:
                raise self._tie.older()
            with self._store.writing() as connection:
                connection.execute(LOCK).all()
                place_all(connection, reader, self._plain(), self._tie.version(connection))
                connection.execute(delete(TEMP_IDS))
                self._noted += f" {PLACED_LATER}".encode()
                _set(connection, SEALED_WITH, self._noted)
        with self._store.reading() as connection:
            details = self._tie.details(self._tie.version(connection))
        if not done:
            self._log.append(PLACEMENTS_SEALED, OWNER, actor=account(), **details)

    def _mark_cases(self) -> None:
        """Mark the cases of an earlier version of the program, once."""
        with self._store.reading() as connection:
            if self._tie.knows_decided(connection):
                return
        with self.writing() as connection:
            mark_again(connection, self.secrets)
        self._log.append(CASES_MARKED, OWNER, actor=account(), **self.noted)

    def _mark_history(self) -> None:
        """Mark the entries of the history of an earlier version of the program, once."""
        with self._store.reading() as connection:
            if self._tie.marked(connection):
                return
        with self.writing() as connection:
            self._mark_events(connection)
        self._log.append(HISTORY_MARKED, OWNER, actor=account(), **self.noted)

    def _mark_events(self, connection: Connection) -> None:
        mark_events_again(connection, self.secrets)
        self._tie.set_marked(connection)

    def _note_rotation(self) -> None:
        """Tell the log of a rotation whose process was killed after the database had it, with the database's version.

        Otherwise a database from before the rotation, sealed with the old key, could be put back unnoticed.
        """
        version = int(self._noted.split()[0])
        if version > self._log.checked().rotated.get(OWNER, 1):
            with self._store.reading() as connection:
                details = self._tie.details(self._tie.version(connection))
            self._log.append(ROTATED, OWNER, actor=account(), version=version, **details)

    def _decide_again(self, connection: Connection, begun: Begun) -> dict[str, Detail]:
        """Do a decision of a process that was killed, as the log has it; a PID that is drawn again is another one."""
        self._moved, self._gone = self._tie.moves().done, self._tie.forgotten()
        actor, version, details = begun.actor, begun.version, begun.details
        people = [int(number) for number in details["moved"].split()]
        if "case" in details:
            number, same = details["case"], details["same"]
            cases.decide(connection, self.secrets, number, same=same, actor=actor, version=version)
        elif "chosen" in details:
            chosen = [int(number) for number in details["chosen"].split()]
            target = cases.split(connection, self.secrets, people[0], chosen, actor=actor, version=version)
            return {"other": self._log.fingerprint(pids_of(connection, self.secrets, [target])[target])}
        else:
            kept, gone = people
            cases.join(connection, self.secrets, kept, gone, actor=actor, version=version)
        return {}

    def _forget_again(self, connection: Connection, marks: Set[str]) -> int:
        marks = marks | self._tie.forgotten()
        if not marks:
            return 0
        plain = self._plain()
        people = connection.execute(select(PEOPLE)).all()
        gone = {row.id for row in people if self._log.fingerprint(plain.pid(row)) in marks}
        forget_only(connection, plain, gone, self._tie.version(connection))
        return len(gone)

    def _secrets(self, key: Key, first: Key) -> Secrets:
        return Secrets(
            key,
            first,
            forgotten=lambda pid: bool(self._gone) and self._log.fingerprint(pid) in self._gone,
            moved=lambda person: self._moved.get(person, 0),
        )

    def _plain(self) -> Secrets:
        """The same keys, for rows that are not compared with the log."""
        keys = self._key_file.read()
        return Secrets(keys.version(int(self._noted.split()[0])), keys.versions[0])

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
            _seal_again(connection, old, new, self.version)
            connection.execute(delete(SETTINGS).where(SETTINGS.c.name == FREQUENCIES))
            noted = _noted(keys)
            _set(connection, SEALED_WITH, noted)
        self.secrets, self._noted = new, noted
        return keys.current.version

    def _begin(self) -> bytes:
        """Make the key, unless a process that was killed made it, and note it in the new database."""
        keys = self._key_file.read() if self._key_file.exists else self._key_file.create()
        noted = _noted(keys)
        with self._store.writing() as connection:
            connection.execute(insert(COUNTERS), [{"name": name, "value": 0} for name in NUMBERED])
            _set(connection, SEALED_WITH, noted)
        return noted


def _noted(keys: Keys) -> bytes:
    """What is noted of the key when everything is sealed with its current version."""
    return f"{keys.current.version} {keys.current.fingerprint} {keys.versions[0].fingerprint} {PLACED}".encode()


def _seal_again(connection: Connection, old: Secrets, new: Secrets, version: int) -> None:
    connection.execute(delete(BLOCKS))
    blocks = set()
    for row in connection.execute(select(RECORDS)).all():
        blocks |= {(new.block(key), row.id) for key in keys_of(Record.of(old.identity(row)))}
    write_many(connection, BLOCKS, sorted(blocks), "key", "record")
    place_all(connection, old, new, version)
    mark_again(connection, new, known=old)
    mark_events_again(connection, new, known=old)
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
        update_many(connection, table, ("details",), rows)


def _setting(connection: Connection, name: str) -> bytes | None:
    value = connection.execute(select(SETTINGS.c.value).where(SETTINGS.c.name == name)).scalar()
    return None if value is None else bytes(value)


def _set(connection: Connection, name: str, value: bytes) -> None:
    connection.execute(delete(SETTINGS).where(SETTINGS.c.name == name))
    connection.execute(insert(SETTINGS), {"name": name, "value": value})
