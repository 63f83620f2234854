"""The entries of reference lists in the database: sealed, and found by blind indexes.

A row has the index of the text, the index of the pseudonym, and both sealed together, bound to the index of the text.
Each row has the version of the key that it was made with; a look-up tries all versions, so that a rotation changes
nothing for people who have a pseudonym already. All rows of a batch are stored in one transaction, and one process
writes to a list at a time: a process that is killed leaves whole batches, and the next run finds them.

The log knows the version of the list, and fingerprints of the entries that were forgotten (`trust.ties`): an older
database, and forgotten rows that somebody put back, are refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date
from typing import Any

from sqlalchemy import Column, Connection, Select, delete, func, insert, select, update

from kohorte.errors import AccessDenied, InputError
from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.lists.rows import ROOM, Entry, Version, changed, check_rows, entries, lists
from kohorte.pseudonyms.made import Made
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Keys
from kohorte.trust.log import account
from kohorte.trust.records.facts import COUNTED, FORGET_BEGINS
from kohorte.trust.sealing import exchanged
from kohorte.trust.ties import MARKS_AT_ONCE, Tie, back

ASKED_AT_ONCE = 5000
ADDED_AT_ONCE = 20_000
"""Entries of one transaction: other processes wait for its end."""
FULL = 2
"""A random list is full when one in so many pseudonyms is taken: new ones would be hard to find, and easy to guess."""
OPEN_REST = 10
"""People who must not learn who is in a list are sent away when between one and two tenths of it are left."""


class Entries:
    """The list of one domain; with `unchecked` an older database is not refused, for those who repair or end it."""

    def __init__(self, folder: TrustFolder, definition: Definition, keys: Keys, *, unchecked: bool = False) -> None:
        self._log = folder.log
        self._store = folder.store(ROOM)
        self._definition, self._shape = definition, definition.shape
        self._versions = [Version(key) for key in reversed(keys.versions)]
        self._name = f"{definition.name} {keys.versions[0].fingerprint}"
        self._list = self._found_or_made()
        self._tie = Tie(
            folder,
            self._name,
            f"the list {definition.name!r}",
            lock=lambda connection: connection.execute(self._locked),
        )
        if not unchecked:
            self._tie.check(self._store, self._forget_again)
            self._refuse_emptied()

    def count(self) -> int:
        """How many entries the list has."""
        with self._store.reading() as connection:
            return int(connection.execute(_of(self._list, func.count())).scalar_one())

    def verify(self) -> None:
        """Refuse a list that lacks entries that nobody forgot, or has others; it reads all, and so takes a while."""
        taken, present = self._counts()
        facts = self._log.checked()  # after the database: it knows all that is not there any more
        gone = len(facts.forgotten[self._name]) + facts.lacking.get(self._name, 0)
        if present + gone < taken:
            raise changed(self._definition.name)
        every = _of(self._list, *entries.c).execution_options(yield_per=ASKED_AT_ONCE)
        with self._store.reading() as connection, connection.execute(every) as rows:
            check_rows(rows, self._versions)

    def pseudonyms(self, originals: Sequence[str]) -> Made:
        """Look texts up, and add those that are missing, in transactions that let others in between."""
        parts = [
            self._part(originals[start : start + ADDED_AT_ONCE]) for start in range(0, len(originals), ADDED_AT_ONCE)
        ]
        return Made(
            [one for part in parts for one in part.pseudonyms],
            [one for part in parts for one in part.versions],
            sum(part.new for part in parts),
        )

    def _part(self, originals: Sequence[str]) -> Made:
        with self._store.reading() as connection:
            known = self._by_original(connection, originals)
            missing = [original for original in originals if original not in known]
            before = int(connection.execute(self._taken).scalar_one()) if missing else 0
        if missing:
            with self._store.writing() as connection:
                taken = self._locked_taken(connection)
                if taken != before:  # another process has added some meanwhile
                    known |= self._by_original(connection, missing)
                    missing = [original for original in missing if original not in known]
                known |= self._added(connection, missing, taken)
                version = self._tie.next(connection) if missing else 0
            if version:
                self._note_added(version, len(missing), taken + len(missing))
        found = [known[original] for original in originals]
        return Made([one.pseudonym for one in found], [one.version for one in found], len(missing))

    def even_out(self, originals: Sequence[str], *, new: int) -> None:
        """Do, after so many of the texts were added, the work that adding the others would have been.

        If none was added, a transaction is committed that changes nothing, and the log gets an entry about nobody: to
        wait for the disk takes longest.
        """
        others = originals[new:]
        if not others:
            return
        version = 0
        with self._store.reading() if new else self._store.writing() as connection:
            taken = 0 if new else self._locked_taken(connection)
            self._rows(others, self._drawn(connection, len(others)))
            if not new:
                self._take(connection, taken)
                version = self._tie.next(connection)
        if version:
            self._note_added(version, 0, taken)

    def refuse_nearly_full(self, texts: int, day: date) -> None:
        """Refuse people who must not learn who is in the list, long before it is full.

        An error only for new people would tell who is new. The list is therefore closed for them, known and new, when
        a share of it is taken that the key draws for each day: nobody can tell whose entry was the last before. How
        many texts are asked for at once does not count, as long as they fit into the rest in any case.
        """
        most = most_entries(self._definition, self._shape.space)
        rest = most // OPEN_REST
        drawn = int.from_bytes(self._versions[0].day_index(day.isoformat())) % max(rest, 1)
        with self._store.reading() as connection:
            taken = int(connection.execute(self._taken).scalar_one())
        if texts > rest or taken >= most - rest - drawn:
            raise AccessDenied(
                f"the list of the domain {self._definition.name!r} is nearly full, or too short for so many texts at "
                "once, and answers trustees only; a trustee makes a domain with longer pseudonyms",
                code="pseudonym-list-closed",
            )

    @property
    def share_taken(self) -> float:
        """How much of the list is taken, from 0 to 1."""
        with self._store.reading() as connection:
            return int(connection.execute(self._taken).scalar_one()) / most_entries(self._definition, self._shape.space)

    def known(self, originals: Sequence[str]) -> list[str | None]:
        """Look texts up; None for one that is not in the list."""
        with self._store.reading() as connection:
            found = self._by_original(connection, originals)
        return [found[one].pseudonym if one in found else None for one in originals]

    def originals(self, pseudonyms: Sequence[str]) -> list[str | None]:
        """Look pseudonyms up; None for one that is not in the list."""
        with self._store.reading() as connection:
            known = self._by_pseudonym(connection, pseudonyms)
        return [known[one].original if one in known else None for one in pseudonyms]

    def forget(self, pseudonyms: Sequence[str]) -> int:
        """Delete the entries of these pseudonyms, and what the database remembers of them; return how many there were.

        The log has fingerprints of what is deleted before it is deleted: if the process is killed, the next one that
        opens the list ends it.
        """
        with self._store.writing() as connection:
            connection.execute(self._locked)
            chosen = self._indexes(connection, list(dict.fromkeys(pseudonyms)))
            if chosen:
                details = self._tie.details(self._tie.next(connection))
                marks = sorted(map(self._mark, chosen))
                for start in range(0, len(marks), MARKS_AT_ONCE):
                    part = marks[start : start + MARKS_AT_ONCE]
                    self._note(FORGET_BEGINS, **details, entries=len(part), marks=" ".join(part))
                self._delete(connection, chosen)
        self._store.purge(entries.name)
        return len(chosen)

    def forget_all(self) -> int:
        """Delete all entries; return how many there were."""
        with self._store.writing() as connection:
            connection.execute(self._locked)
            found = connection.execute(delete(entries).where(entries.c.list == self._list)).rowcount
        self._store.purge(entries.name)
        return found

    def complete(self) -> int:
        """Forget in an older database what was forgotten since, and give no number twice; return how many there were.

        The database counts as the present one from then on.
        """
        found = self._tie.complete(self._store, self._forget_again)
        self._store.purge(entries.name)
        self._note_lacking()
        return found

    def _note_lacking(self) -> None:
        """Note how many entries an older database lacks that nobody forgot: those that were added after it was made."""
        taken, present = self._counts()
        facts = self._log.checked()
        lacking = max(taken - present - len(facts.forgotten[self._name]), 0)
        if lacking != facts.lacking.get(self._name, 0):
            with self._store.reading() as connection:
                version = self._tie.version(connection)
            self._note(COUNTED, **self._tie.details(version), lacking=lacking)

    def _counts(self) -> tuple[int, int]:
        """How many entries were ever made, and how many are there, at one moment."""
        present = _of(self._list, func.count()).scalar_subquery()
        with self._store.reading() as connection:
            row = connection.execute(select(lists.c.taken, present).where(lists.c.id == self._list)).one()
        return int(row[0]), int(row[1])

    def _locked_taken(self, connection: Connection) -> int:
        """How many entries were ever made, while other processes may not write to this list."""
        taken = int(connection.execute(self._locked).scalar_one())
        if taken < self._log.checked().taken.get(self._name, 0):
            raise changed(self._definition.name)
        return taken

    def _refuse_emptied(self) -> None:
        """Refuse a list that had more entries once, by the log, than its row in the database says."""
        logged = self._log.checked().taken.get(self._name, 0)  # before the database, which may change meanwhile
        with self._store.reading() as connection:
            taken = int(connection.execute(self._taken).scalar_one())
        if taken < logged:
            raise changed(self._definition.name)

    def _forget_again(self, connection: Connection, marks: Set[str]) -> int:
        marks = marks | self._tie.forgotten()
        rows = connection.execute(_of(self._list, entries.c.pseudonym)) if marks else ()
        chosen = [bytes(row[0]) for row in rows if self._mark(bytes(row[0])) in marks]
        self._delete(connection, chosen)
        taken = self._log.checked().taken.get(self._name, 0)
        behind = (lists.c.id == self._list) & (lists.c.taken < taken)
        connection.execute(update(lists).where(behind).values(taken=taken))
        return len(chosen)

    def _indexes(self, connection: Connection, pseudonyms: Sequence[str]) -> list[bytes]:
        """The indexes of the rows of pseudonyms; a row that belongs to another pseudonym is refused."""
        found: list[bytes] = []
        for version in self._versions:
            wanted = {version.pseudonym_index(one): one for one in pseudonyms}
            indexes = sorted(wanted)
            for start in range(0, len(indexes), ASKED_AT_ONCE):
                some = entries.c.pseudonym.in_(indexes[start : start + ASKED_AT_ONCE])
                for row in connection.execute(_of(self._list, *entries.c).where(some)):
                    index = bytes(row.pseudonym)
                    if version.opened(row.sealed, bytes(row.original)).pseudonym != wanted[index]:
                        raise exchanged()
                    found.append(index)
        return found

    def _delete(self, connection: Connection, indexes: Sequence[bytes]) -> None:
        for start in range(0, len(indexes), ASKED_AT_ONCE):
            some = entries.c.pseudonym.in_(indexes[start : start + ASKED_AT_ONCE])
            connection.execute(delete(entries).where(entries.c.list == self._list, some))

    def _mark(self, index: bytes) -> str:
        """What stands for a row in the log."""
        return self._log.fingerprint(f"{self._name} {index.hex()}")

    def _note_added(self, version: int, added: int, taken: int) -> None:
        self._note("add entries", **self._tie.details(version), entries=added, taken=taken)

    def _note(self, action: str, **details: str | int | float | bool | None) -> None:
        self._log.append(action, f"domain {self._definition.name}", actor=account(), **details)

    def _found_or_made(self) -> int:
        by_name = select(lists.c.id).where(lists.c.name == self._name)
        with self._store.reading() as connection:
            found = connection.execute(by_name).scalar()
        if found is None:
            with self._store.writing() as connection:
                if not self._store.is_sqlite:  # where two processes could make it at the same time
                    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(self._name))))
                found = connection.execute(by_name).scalar()
                if found is None:
                    connection.execute(insert(lists), {"name": self._name, "taken": 0})
                    found = connection.execute(by_name).scalar_one()
        return int(found)

    @property
    def _taken(self) -> Select[Any]:
        """How many entries were ever made; locked, it keeps other processes from writing to this list."""
        return select(lists.c.taken).where(lists.c.id == self._list)

    @property
    def _locked(self) -> Select[Any]:
        return self._taken.with_for_update()

    def _by_original(self, connection: Connection, originals: Sequence[str]) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for version in self._versions:
            index = version.original_index
            wanted = [index(original) for original in originals if original not in found]
            for entry in self._entries(connection, entries.c.original, wanted, version):
                found[entry.original] = entry
        return found

    def _by_pseudonym(self, connection: Connection, pseudonyms: Sequence[str]) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for version in self._versions:
            index = version.pseudonym_index
            wanted = [index(pseudonym) for pseudonym in pseudonyms if pseudonym not in found]
            for entry in self._entries(connection, entries.c.pseudonym, wanted, version):
                found[entry.pseudonym] = entry
        return found

    def _entries(
        self, connection: Connection, column: Column[bytes], wanted: list[bytes], version: Version
    ) -> Iterator[Entry]:
        wanted.sort()  # neighbours in the index are read together
        forgotten = self._tie.forgotten()
        for start in range(0, len(wanted), ASKED_AT_ONCE):
            chosen = column.in_(wanted[start : start + ASKED_AT_ONCE])
            for original, index, sealed in connection.execute(
                _of(self._list, entries.c.original, entries.c.pseudonym, entries.c.sealed).where(chosen)
            ):
                if forgotten and self._mark(bytes(index)) in forgotten:
                    raise back()
                entry = version.opened(sealed, bytes(original))
                if version.pseudonym_index(entry.pseudonym) != bytes(index):
                    raise exchanged()
                yield entry

    def _added(self, connection: Connection, originals: Sequence[str], taken: int) -> Mapping[str, Entry]:
        if not originals:
            return {}
        self._refuse_full(taken + len(originals))
        drawn = (
            self._numbered(taken, len(originals))
            if self._definition.numbered
            else self._drawn(connection, len(originals))
        )
        connection.execute(insert(entries), self._rows(originals, drawn))
        self._take(connection, taken + len(drawn))
        return {
            original: Entry(original, pseudonym, self._versions[0].number)
            for original, pseudonym in zip(originals, drawn, strict=True)
        }

    def _rows(self, originals: Sequence[str], drawn: Sequence[str]) -> list[dict[str, Any]]:
        current = self._versions[0]
        rows: list[dict[str, Any]] = []
        for original, pseudonym in zip(originals, drawn, strict=True):
            index = current.original_index(original)
            rows.append(
                {
                    "list": self._list,
                    "original": index,
                    "pseudonym": current.pseudonym_index(pseudonym),
                    "version": current.number,
                    "sealed": current.sealed(original, pseudonym, index),
                }
            )
        secrets.SystemRandom().shuffle(rows)  # their order in the database says nothing about numbers or tables
        return rows

    def _take(self, connection: Connection, taken: int) -> None:
        connection.execute(update(lists).where(lists.c.id == self._list).values(taken=taken))

    def _numbered(self, taken: int, count: int) -> list[str]:
        return [self._shape.text(number) for number in range(taken + 1, taken + count + 1)]

    def _drawn(self, connection: Connection, count: int) -> list[str]:
        """Random pseudonyms that differ from each other, from all in the list, and from all that were forgotten."""
        drawn: dict[str, None] = {}
        forgotten = self._tie.forgotten()
        while len(drawn) < count:
            more = {self._shape.text(secrets.randbelow(self._shape.space)): None for _ in range(count - len(drawn))}
            fresh = [one for one in more if one not in drawn and not (forgotten and self._was_any(one, forgotten))]
            taken = self._by_pseudonym(connection, fresh)
            drawn |= {one: None for one in fresh if one not in taken}
        return list(drawn)

    def _was_any(self, pseudonym: str, marks: Set[str]) -> bool:
        """Whether one of these marks stands for a pseudonym, under any version of the key."""
        return any(self._mark(version.pseudonym_index(pseudonym)) in marks for version in self._versions)

    def _refuse_full(self, wanted: int) -> None:
        most = most_entries(self._definition, self._shape.space)
        if wanted > most:
            raise InputError(
                f"the list of the domain {self._definition.name!r} is full: it has room for {most:,} pseudonyms of "
                "this length, and these would be more; make a domain with longer ones",
                code="pseudonym-list-full",
            )


def most_entries(definition: Definition, space: int) -> int:
    """How many entries a list can have."""
    return space - 1 if definition.numbered else space // FULL


def _of(number: int, *columns: Any) -> Select[Any]:
    """A question about one list."""
    return select(*columns).where(entries.c.list == number)
