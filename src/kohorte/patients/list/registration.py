"""Registering descriptions of people, in batches; each batch is stored as a whole or not at all."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select

from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.record import Record
from kohorte.patients.linkage.weights import Weighing
from kohorte.patients.list.case_rows import add_cases, between, cases_where
from kohorte.patients.list.database import (
    Numbers,
    blocks_of,
    found,
    new_pids,
    now,
    pids_of,
    place_of,
    places_of,
    write_many,
)
from kohorte.patients.list.event_rows import add_events
from kohorte.patients.list.garbage import no_garbage_collection
from kohorte.patients.list.judging import Judgement, Match, Outcome, judge
from kohorte.patients.list.placements import refuse_of_nobody
from kohorte.patients.list.rows import Row
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import BLOCKS, OPEN, PEOPLE, RECORDS, ROWS
from kohorte.trust.sealing import exchanged

MOST_IN_BLOCK = 200
"""A key that more records have says too little about a person; it is not used, and the rows are counted."""
REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of a row: the outcome and the PID, which an insufficient row does not get.

    A row is `crowded` if not all who resemble it were compared, and `uncertain` if it was recognised by a description
    that is equal, but says little.
    """

    number: int
    outcome: Outcome
    pid: str | None
    before: bool = False
    crowded: bool = False
    uncertain: bool = False


@dataclass
class Registrations:
    """What became of the rows of a table; `rows` has the PIDs, which `to_dict` leaves out."""

    rows: list[Registered] = field(default_factory=list)
    dates_not_understood: list[int] = field(default_factory=list)
    cases: int = 0
    people: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def counts(self) -> Counter[Outcome]:
        """How many rows had each outcome in this run."""
        return Counter(row.outcome for row in self.rows if not row.before)

    @property
    def before(self) -> int:
        """How many rows had been registered by an earlier run of the same table."""
        return sum(row.before for row in self.rows)

    @property
    def insufficient(self) -> list[int]:
        """The numbers of the rows that say too little about a person."""
        return [row.number for row in self.rows if row.outcome is Outcome.INSUFFICIENT]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, without PIDs."""
        counts = self.counts
        return {
            "rows": len(self.rows),
            **{outcome.value: counts[outcome] for outcome in Outcome},
            "registered_before": self.before,
            "known_by_little": sum(row.uncertain for row in self.rows),
            "not_compared_with_all": sum(row.crowded for row in self.rows),
            "dates_not_understood": len(self.dates_not_understood),
            "open_cases": self.cases,
            "people": self.people,
            "dry_run": self.dry_run,
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(len(self.rows) / max(self.seconds, 1e-9)),
        }


@dataclass
class _Changes:
    """What a batch adds to the list."""

    people: list[int] = field(default_factory=list)
    records: dict[int, tuple[int, Row]] = field(default_factory=dict)
    blocks: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    cases: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    rows: list[tuple[bytes, int, int, str]] = field(default_factory=list)


class Registration:
    """Registers the rows of one table; `source` recognises the table if it is registered again."""

    def __init__(self, secrets: Secrets, weighing: Weighing, *, source: bytes | None, actor: str) -> None:
        self.secrets = secrets
        self.weighing = weighing
        self.source = source
        self.actor = actor
        self.taken: set[int] = set()
        """Records with little data that stand for a row of this table already; an equal row is another person."""
        self._seen: dict[int, tuple[Any, Record]] = {}

    def register(self, connection: Connection, rows: Sequence[Row], *, version: int) -> list[Registered]:
        """Register rows inside a transaction, one after the other: a row can match an earlier one of the same table.

        `version` is that of the list after the transaction.
        """
        with no_garbage_collection():
            return _Batch(self, connection, rows, version).run()

    def records(self, connection: Connection, ids: Iterable[int]) -> tuple[dict[int, int], dict[int, Record]]:
        """The person of each record, and what it says in its normal form.

        Records seen lately are remembered while this object lives, with their places.
        """
        if len(self._seen) > REMEMBERED:
            self._seen.clear()
        wanted = set(ids)
        places = places_of(connection, wanted & self._seen.keys())
        for place in places.values():
            self.secrets.refuse_before(place.placed, place.person)
        persons = {number: place.person for number, place in places.items() if self._seen[number][0] == place}
        added = set()
        for row in found(connection, RECORDS.c.id, wanted - persons.keys(), *RECORDS.c):
            self._seen[row.id] = place_of(row), Record.of(self.secrets.identity(row))
            persons[row.id] = row.person
            added.add(row.person)
        refuse_of_nobody(connection, added)
        return persons, {number: self._seen[number][1] for number in persons}


class _Batch:
    """Some rows in one transaction."""

    def __init__(self, run: Registration, connection: Connection, rows: Sequence[Row], version: int) -> None:
        self._run, self._connection, self._rows, self._version = run, connection, rows, version
        self._secrets, self._source, self._actor = run.secrets, run.source, run.actor
        self._numbers = Numbers(connection)
        self._changes = _Changes()
        self._new_pids: dict[int, str] = {}
        self._at = now()
        self._done = self._registered_before()
        todo = [row for row in rows if row.record.sufficient and row.number not in self._done]
        self._keys = {row.number: [self._secrets.block(key) for key in keys_of(row.record)] for row in todo}
        self._blocks = blocks_of(connection, {key for keys in self._keys.values() for key in keys})
        near = {record for block in self._blocks.values() if len(block) <= MOST_IN_BLOCK for record in block}
        done = {record for record, _ in self._done.values()}
        self._person, self._known = run.records(connection, near | done)

    def run(self) -> list[Registered]:
        """Judge every row, then store everything."""
        placed = [self._place(row) for row in self._rows]
        self._store()
        known = {person for _, person in placed if person is not None} - self._new_pids.keys()
        pids = self._new_pids | pids_of(self._connection, self._secrets, known)
        return [found if person is None else replace(found, pid=pids[person]) for found, person in placed]

    def _registered_before(self) -> dict[int, tuple[int, Outcome]]:
        if self._source is None or not self._rows:
            return {}
        within = ROWS.c.row.between(self._rows[0].number, self._rows[-1].number)
        statement = select(ROWS.c.row, ROWS.c.record, ROWS.c.outcome).where(ROWS.c.source == self._source, within)
        return {row.row: (row.record, Outcome(row.outcome)) for row in self._connection.execute(statement)}

    def _place(self, row: Row) -> tuple[Registered, int | None]:
        """Decide about one row: what becomes of it, and its person."""
        if row.number in self._done:
            record, outcome = self._done[row.number]
            if self._known.get(record) != row.record:
                raise exchanged()
            self._run.taken.add(record)
            return Registered(row.number, outcome, None, before=True), self._person[record]
        if not row.record.sufficient:
            return Registered(row.number, Outcome.INSUFFICIENT, None), None
        near, crowded = self._near(self._keys[row.number])
        judgement = self._judged(row.record, [self._match(row.record, record) for record in sorted(near)])
        person, record = self._add(row, judgement)
        self._run.taken.add(record)
        if self._source is not None:
            self._changes.rows.append((self._source, row.number, record, judgement.outcome.value))
        uncertain = judgement.best is not None and judgement.best.equal and not row.record.certain
        return Registered(row.number, judgement.outcome, None, crowded=crowded, uncertain=uncertain), person

    def _judged(self, record: Record, matches: Sequence[Match]) -> Judgement:
        """Judge; a row that says little is the person who was registered with the same words, one row for each.

        Otherwise everybody without a birth date would be a new case whenever a table comes with a few rows more.
        """
        if not record.certain:
            for match in matches:
                if match.equal and match.record not in self._run.taken:
                    return Judgement(Outcome.KNOWN, match)
        return judge(matches)

    def _near(self, keys: Iterable[int]) -> tuple[set[int], bool]:
        near: set[int] = set()
        crowded = False
        for key in keys:
            stored, added = self._blocks.get(key, ()), self._changes.blocks.get(key, ())
            if len(stored) + len(added) > MOST_IN_BLOCK:
                crowded = True
            else:
                near.update(stored, added)
        return near, crowded

    def _match(self, record: Record, other: int) -> Match:
        if other in self._changes.records:
            person, row = self._changes.records[other]
            known = row.record
        else:
            person, known = self._person[other], self._known[other]
        return Match(person, other, self._run.weighing.compare(record, known), equal=record == known)

    def _add(self, row: Row, judgement: Judgement) -> tuple[int, int]:
        """Add a record to its person; a description that is in the list already is not added again."""
        best = judgement.best
        if best is not None and best.equal:
            return best.person, best.record
        person = self._new_person() if best is None else best.person
        record = self._numbers.next("records")
        self._changes.records[record] = (person, row)
        for key in self._keys[row.number]:
            self._changes.blocks[key].append(record)
        weight = None if best is None else best.comparison.weight
        what = {"what": f"registered as {judgement.outcome}", "at": self._at, "actor": self._actor}
        self._changes.events.append(what | {"person": person, "record": record, "weight": weight})
        for match in judgement.doubtful:
            if best is None or not self._was_asked(person, match.person):
                self._changes.cases.append(self._case(record, person, match))
        return person, record

    def _was_asked(self, person: int, other: int) -> bool:
        """Whether there is a case about two people already, decided or not."""
        pair = {person, other}
        if any({case["person"], case["other"]} == pair for case in self._changes.cases):
            return True
        return bool(cases_where(self._connection, self._secrets, between(person, other)))

    def _new_person(self) -> int:
        person = self._numbers.next("people")
        self._changes.people.append(person)
        return person

    def _case(self, record: int, person: int, match: Match) -> dict[str, Any]:
        return {
            "record": record,
            "person": person,
            "other": match.person,
            "other_record": match.record,
            "weight": match.comparison.weight,
            "levels": json.dumps(match.comparison.agreement.levels),
            "state": OPEN,
            "opened": self._at,
        }

    def _store(self) -> None:
        changes, secrets, connection = self._changes, self._secrets, self._connection
        at, version = self._at, self._version
        pids = new_pids(connection, secrets, len(changes.people))
        self._new_pids = dict(zip(changes.people, pids.values(), strict=True))
        people = [
            (person, index, secrets.seal_pid(pid, person, None, version), version)
            for person, (index, pid) in zip(changes.people, pids.items(), strict=True)
        ]
        records = [
            (record, person, person, secrets.seal_identity(row.identity, record, person, person, version), at, version)
            for record, (person, row) in changes.records.items()
        ]
        blocks = [(key, record) for key in sorted(changes.blocks) for record in changes.blocks[key]]
        write_many(connection, PEOPLE, people, "id", "pid_index", "pid", "placed")
        write_many(connection, RECORDS, records, "id", "person", "home", "identity", "added", "placed")
        write_many(connection, BLOCKS, blocks, "key", "record")
        write_many(connection, ROWS, changes.rows, "source", "row", "record", "outcome")
        add_cases(connection, secrets, self._numbers, changes.cases)
        add_events(connection, secrets, self._numbers, changes.events)
        self._numbers.store()
