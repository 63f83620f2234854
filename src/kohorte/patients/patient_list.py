"""The patient list of a folder: one PID per person, linkage, decisions, forgetting.

Guarantee
    One registered person has one PID, and two people never share one without a decision: descriptions are taken for the
    same person only above a threshold, doubtful ones become a case for a person to decide, and people of the list are
    joined only by a person. Identity data and PIDs are sealed in the database, together with whose they are
    (`list.placements`). A batch is stored as a whole or not at all; a run that was killed continues with the same PIDs.
Leaves open
    Two people whose descriptions are equal in everything that was registered are taken for one, unless that is little
    and both are in one table. Copies and backups of the database keep what was forgotten until they are destroyed. A
    database administrator sees how many people and cases there are, when they were added, and which records share a key
    of the comparison.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import polars as pl
from sqlalchemy import Connection, func, select

from kohorte.patients.encodings.exchange import encoded
from kohorte.patients.identity import Identity
from kohorte.patients.linkage.frequencies import Frequencies
from kohorte.patients.linkage.record import Record, counted_of
from kohorte.patients.linkage.weights import Weighing
from kohorte.patients.list import cases
from kohorte.patients.list.cases import Case
from kohorte.patients.list.database import every_pid, found, holders_of, person_of, pids_of
from kohorte.patients.list.garbage import no_garbage_collection
from kohorte.patients.list.history import FREQUENCIES, History, forget, history_of
from kohorte.patients.list.placements import check_all, refuse_of_nobody
from kohorte.patients.list.registration import Registration, Registrations
from kohorte.patients.list.rows import Row, rows_of
from kohorte.patients.list.storage import Storage
from kohorte.patients.list.tables import PEOPLE, RECORDS
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Key
from kohorte.trust.log import account
from kohorte.trust.records.facts import FORGET_BEGINS, Begun

BATCH = 5_000
SAMPLE = 20_000
"""So many records of the list are unsealed to count how common names are."""
GROWTH = 1.2
"""The names are counted again when the list has grown by this factor."""
SHOWN_ROWS = 10
"""So many row numbers are named in a note."""


class _DryRun(Exception):
    """Ends the transaction of a dry run."""


class PatientList:
    """A patient list in a folder of keys and lists; `actor` is named in log and history."""

    def __init__(self, folder: TrustFolder, *, actor: str | None = None) -> None:
        self._folder = folder
        self._actor = actor or account()
        self._storage = Storage(folder)

    @classmethod
    def opened(cls, folder: TrustFolder | str, *, create: bool = False, actor: str | None = None) -> Self:
        """Open the list of a folder; with `create` a missing folder is made."""
        return cls(TrustFolder.opened(folder, create=create) if isinstance(folder, str) else folder, actor=actor)

    def __repr__(self) -> str:
        return "<PatientList>"

    @property
    def folder(self) -> TrustFolder:
        """The folder of the list."""
        return self._folder

    @property
    def storage(self) -> Storage:
        """The database of the list with its keys, for what is kept beside identity data: TempIDs and consents."""
        return self._storage

    @property
    def actor(self) -> str:
        """Who is named in log and history."""
        return self._actor

    def close(self) -> None:
        """Close the connections to the database."""
        self._storage.close()

    def register(
        self,
        table: pl.DataFrame,
        columns: Mapping[str, str],
        *,
        source: str | None = None,
        dry_run: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Registrations:
        """Register the rows of a table: `columns` names the column of each field (`columns_of`).

        `source` identifies the table, for example by its hash: rows that an earlier run registered keep their PIDs.
        A dry run compares everything and stores nothing.
        """
        started = time.perf_counter()
        with no_garbage_collection():
            rows = rows_of(table, columns)
            tell(progress, Stage.COUNTING, "names")
            weighing = self._weighing(rows, store=not dry_run)
        index = (
            None if source is None else self._storage.secrets.source("\x1f".join((source, *sorted(columns.values()))))
        )
        run = Registration(self._storage.secrets, weighing, source=index, actor=self._actor)
        result = Registrations(dry_run=dry_run)
        result.dates_not_understood = [row.number for row in rows if row.date_not_understood]
        if not dry_run:
            self._log("register begins", rows=len(rows))
        with self._transactions(dry_run=dry_run) as transaction:
            for start in range(0, len(rows), BATCH):
                tell(progress, Stage.COMPARING, "with the patient list", done=start, of=len(rows), unit="rows")
                with transaction() as connection:
                    batch = rows[start : start + BATCH]
                    result.rows += run.register(connection, batch, version=self._storage.version)
        result.people, result.cases = self.people, self._open_cases
        result.seconds = time.perf_counter() - started
        if not dry_run:
            counts = {str(name): value for name, value in result.counts.items()}
            self._log("register", **counts, before=result.before, numbers=self._storage.numbers)
        return result

    @property
    def people(self) -> int:
        """How many people are in the list."""
        with self._storage.reading() as connection:
            statement = select(func.count()).select_from(PEOPLE).where(PEOPLE.c.joined.is_(None))
            return int(connection.execute(statement).scalar_one())

    @property
    def _open_cases(self) -> int:
        with self._storage.reading() as connection:
            return cases.count_open(connection)

    def cases(self) -> list[Case]:
        """The open cases, those that agree most first."""
        with self._storage.reading() as connection:
            return list(cases.open_cases(connection, self._storage.secrets))

    def case(self, number: int) -> Case:
        """One open case."""
        with self._storage.reading() as connection:
            cases.open_case(connection, self._storage.secrets, number)
            return next(case for case in cases.open_cases(connection, self._storage.secrets) if case.number == number)

    def identities(self, number: int) -> tuple[Identity, list[Identity]]:
        """The identity data of a case, for the eyes of the person who decides; it is logged that it was shown."""
        with self._storage.reading() as connection:
            row = cases.open_case(connection, self._storage.secrets, number)
            shown = cases.identities_of(connection, self._storage.secrets, row)
            pids = pids_of(connection, self._storage.secrets, (row.person, row.other))
        self._log("show case", case=number, pid=self._mark(pids[row.person]), other=self._mark(pids[row.other]))
        return shown

    def described(self, pids: Sequence[str]) -> list[Identity | None]:
        """The latest description of each person, for somebody whose way back was approved; None for an unknown PID."""
        secrets = self._storage.secrets
        with self._storage.reading() as connection:
            known = holders_of(connection, secrets, pids)
            latest = {
                row.person: row
                for row in sorted(
                    found(connection, RECORDS.c.person, {person for _, person in known.values()}, *RECORDS.c),
                    key=lambda row: row.id,
                )
            }
        self._log("show people", people=len(latest))
        rows = [latest.get(known[pid][1]) if pid in known else None for pid in pids]
        return [None if row is None else secrets.identity(row) for row in rows]

    def decide(self, number: int, *, same: bool) -> tuple[str, str]:
        """Decide a case; returns the PID that stays for the person and the other PID."""
        with self._storage.writing() as connection:
            decided = cases.decide(
                connection,
                self._storage.secrets,
                number,
                same=same,
                actor=self._actor,
                version=self._storage.version,
            )
            pids = self._pids(connection, *decided)
            moved = _numbers(decided) if same else ""
            begun = self._begin("decide begins", pids, moved, case=number, same=same)
        self._storage.end(begun)
        return pids

    def merge(self, pid: str, other_pid: str) -> tuple[str, str]:
        """Make two people one: the first PID stays, and the second stands for the same person from now on."""
        with self._storage.writing() as connection:
            secrets = self._storage.secrets
            people = [person_of(connection, secrets, text) for text in (pid, other_pid)]
            joined = cases.join(connection, secrets, *people, actor=self._actor, version=self._storage.version)
            pids = self._pids(connection, *joined)
            begun = self._begin("merge begins", pids, _numbers(joined))
        self._storage.end(begun)
        return pids

    def split(self, pid: str, records: Sequence[int]) -> tuple[str, str]:
        """Give records of a person, by their numbers in `history`, to a person of their own; returns both PIDs."""
        chosen = sorted(set(records))
        with self._storage.writing() as connection:
            person = person_of(connection, self._storage.secrets, pid)
            target = cases.split(
                connection, self._storage.secrets, person, chosen, actor=self._actor, version=self._storage.version
            )
            pids = self._pids(connection, person, target)
            moved = _numbers((person, target))
            begun = self._begin("split begins", pids, moved, records=len(chosen), chosen=_numbers(chosen))
        self._storage.end(begun, numbers=self._storage.numbers)
        return pids

    def history(self, pid: str) -> History:
        """What happened to a PID, without identity data."""
        with self._storage.reading() as connection:
            return history_of(connection, self._storage.secrets, person_of(connection, self._storage.secrets, pid))

    def forget(self, pid: str, *, dry_run: bool = False) -> int:
        """Destroy identity data and link of a person for good; returns how many records there were.

        The log has two entries with the fingerprints of the PIDs: before and after. They prove when it was done.
        """
        if dry_run:
            with self._storage.reading() as connection:
                person = person_of(connection, self._storage.secrets, pid)
                return len(history_of(connection, self._storage.secrets, person).records)
        with self._storage.writing() as connection:
            secrets = self._storage.secrets
            person = person_of(connection, secrets, pid)
            found = history_of(connection, secrets, person)
            pids = (found.pid, *found.joined)
            for one in pids:  # first: a process that is killed leaves somebody forgotten
                self._log(FORGET_BEGINS, pid=self._mark(one))
            records = forget(connection, secrets, person)
        for one in pids:
            self._log("forget", pid=self._mark(one), kind="identity data and link destroyed", records=records)
        return records

    def verify(self) -> None:
        """Refuse a list in which any row was changed, moved or put back from an older copy."""
        with self._storage.reading() as connection:
            check_all(connection, self._storage.secrets)

    @staticmethod
    def complete(folder: TrustFolder) -> int:
        """Forget again who came back with an older database; returns how many PIDs that were."""
        storage = Storage(folder, unchecked=True)
        try:
            return storage.complete()
        finally:
            storage.close()

    def rotate_key(self) -> int:
        """Seal the whole list with a new version of its key; returns the number of the version."""
        version = self._storage.rotate()
        self._log("rotate key", version=version)
        return version

    def encoded(self, secret: Key) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Encode all records for a comparison with another list, under a secret that both houses share.

        The first table is for the third party who compares. The second one stays here: the PID of each identifier,
        which is another one under every secret.
        """
        with self._storage.reading() as connection:
            rows = connection.execute(select(RECORDS)).all()
            people = {row.person for row in rows}
            refuse_of_nobody(connection, people)
            pids = pids_of(connection, self._storage.secrets, people)
        names = {person: self._storage.secrets.exchange_id(pid, secret.fingerprint) for person, pid in pids.items()}
        records = ((names[row.person], Record.of(self._storage.secrets.identity(row))) for row in rows)
        table = encoded(records, secret)
        kept = pl.DataFrame({"id": [names[person] for person in pids], "pid": list(pids.values())})
        self._log("encode", people=len(pids), records=len(rows), secret=secret.fingerprint)
        return table, kept.sort("id")

    def behind(self, secret: Key, ids: Sequence[str]) -> list[str | None]:
        """The PIDs behind identifiers of an encoded list; None for one that is not of this list and secret."""
        with self._storage.reading() as connection:
            pids = every_pid(connection, self._storage.secrets)
        known = {self._storage.secrets.exchange_id(pid, secret.fingerprint): pid for pid in pids}
        found = [known.get(one) for one in ids]
        self._log("look up encoded", ids=len(ids), found=len(ids) - found.count(None), secret=secret.fingerprint)
        return found

    def _weighing(self, rows: Sequence[Row], *, store: bool) -> Weighing:
        """How common names are in the list and in the table, and how many people there are."""
        people = self.people
        counted = self._frequencies(people, store=store)
        table = Frequencies()
        table.add(row.record.counted for row in rows)
        return Weighing(counted.together_with(table), people + len(rows))

    def _frequencies(self, people: int, *, store: bool) -> Frequencies:
        stored = self._storage.setting(FREQUENCIES)
        if stored is not None:
            counted = Frequencies.from_json(stored)
            if min(people, SAMPLE) <= GROWTH * counted.records:
                return counted
        counted = Frequencies()
        with self._storage.reading() as connection:
            every = max(people // SAMPLE, 1)
            sample = select(RECORDS).where(RECORDS.c.id % every == 0).limit(SAMPLE)
            secrets = self._storage.secrets
            counted.add(counted_of(secrets.identity(row)) for row in connection.execute(sample).all())
        if store:
            self._storage.set(FREQUENCIES, counted.to_json())
        return counted

    @contextmanager
    def _transactions(self, *, dry_run: bool) -> Iterator[Any]:
        """A transaction for each batch; in a dry run one for all, which is rolled back."""
        if not dry_run:
            yield self._storage.writing
            return
        try:
            with self._storage.writing() as connection:

                @contextmanager
                def same() -> Iterator[Connection]:
                    yield connection

                yield same
                raise _DryRun
        except _DryRun:
            return

    def _pids(self, connection: Connection, *people: int) -> tuple[str, str]:
        pids = pids_of(connection, self._storage.secrets, people)
        one, other = (pids[person] for person in people)
        return one, other

    def _begin(self, action: str, pids: tuple[str, str], moved: str, **details: str | int | bool) -> Begun:
        """Write a decision down before the database has it, so that nobody takes it back with an older copy."""
        pid, other = map(self._mark, pids)
        return self._storage.begin(action, actor=self._actor, pid=pid, other=other, moved=moved, **details)

    def _mark(self, pid: str) -> str:
        return self._folder.log.fingerprint(pid)

    def _log(self, action: str, **details: str | int | bool) -> None:
        self._folder.log.append(action, "the patient list", actor=self._actor, **details, **self._storage.noted)


def _numbers(numbers: Iterable[int]) -> str:
    """What the log says of people who were joined or split, and of records: their numbers."""
    return " ".join(map(str, numbers))
