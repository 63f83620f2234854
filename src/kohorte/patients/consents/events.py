"""The stored events of consents: sealed rows, compared with the log.

A database administrator cannot read, change or move a row, but could delete the row of a withdrawal, put back an older
copy of the database, or let a PID stand for somebody else who agreed. Therefore every withdrawal is an entry of the
log, which is not in the database, with its number, and so is every joining and splitting of people. A person whose rows
lack a number is taken for somebody who has withdrawn everything; one whose PIDs are others than those of the log, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, func, select

from kohorte.patients.consents.consent import Consent, Event, Kind, standing
from kohorte.patients.list import secrets as sealed
from kohorte.patients.list.database import found, now, pids_of, write
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.storage import consent_row
from kohorte.patients.list.tables import CONSENTS, PEOPLE
from kohorte.trust.log import Log
from kohorte.trust.records.facts import BEGINS

WITHDRAW = "withdraw consent"
ABOUT = "the patient list"


@dataclass(frozen=True)
class Held:
    """The events of one PID, in order, each with its place among all events of the list."""

    events: tuple[tuple[int, Event], ...] = ()
    noted: int = 0
    """The number of the last withdrawal in the log."""

    @property
    def last(self) -> int:
        """The highest number, in the database or in the log."""
        return max([self.noted, *(event.number for _, event in self.events)])

    @property
    def lost(self) -> list[int]:
        """The numbers that are missing in the database."""
        have = {event.number for _, event in self.events}
        return [number for number in range(1, self.last + 1) if number not in have]


@dataclass
class Facts:
    """What the log says, by fingerprints of PIDs: the last withdrawal of each, and which PID stands for which."""

    withdrawals: dict[str, int] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)

    def agree(self, kept: str, others: Iterable[str]) -> bool:
        """Whether exactly these other PIDs stand for the same person as a PID, by the log."""
        return kept not in self.joined and self._others.get(kept, set()) == set(others)

    @cached_property
    def _others(self) -> dict[str, set[str]]:
        others: defaultdict[str, set[str]] = defaultdict(set)
        for one, kept in self.joined.items():
            others[kept].add(one)
        return others

    def _join(self, kept: str, gone: str) -> None:
        for one in [gone, *(one for one, to in self.joined.items() if to == gone)]:
            self.joined[one] = kept

    def note(self, action: str, details: Mapping[str, Any]) -> None:
        """Add what an entry of the log says.

        A decision counts when it begins: if the process was killed, it is done when the list is opened again.
        """
        if "begun" in details:
            return
        action = BEGINS.get(action, action)
        if action == WITHDRAW:
            last = self.withdrawals.get(details["pid"], 0)
            self.withdrawals[details["pid"]] = max(last, details["number"])
        elif action == "merge" or (action == "decide" and details["same"]):
            self._join(details["pid"], details["other"])
        elif action == "split":
            self.joined.pop(details["other"], None)


def facts_of(log: Log) -> Facts:
    """Read the log, which is verified."""
    facts = Facts()
    for entry in log.verified_entries():
        if entry["about"] == ABOUT:  # others write into the log of the folder, too
            facts.note(entry["action"], entry["details"])
    return facts


def marks_of(connection: Connection, secrets: Secrets, log: Log, people: Iterable[int]) -> dict[int, str]:
    """The fingerprints of PIDs in the log, by their numbers."""
    return {person: log.fingerprint(pid) for person, pid in pids_of(connection, secrets, people).items()}


def held_by(connection: Connection, secrets: Secrets, facts: Facts, marks: Mapping[int, str]) -> dict[int, Held]:
    """The events of PIDs, by their numbers."""
    events: defaultdict[int, list[tuple[int, Event]]] = defaultdict(list)
    for row in found(connection, CONSENTS.c.person, marks, CONSENTS.c.id, CONSENTS.c.person, CONSENTS.c.details):
        details = secrets.details(row.details, sealed.CONSENTS, consent_row(row.id, row.person))
        events[row.person].append((row.id, Event.from_dict(details)))
    return {
        person: Held(tuple(sorted(events[person])), facts.withdrawals.get(mark, 0)) for person, mark in marks.items()
    }


def all_pids_of(connection: Connection, people: Iterable[int]) -> dict[int, list[int]]:
    """For each person all PIDs that stand for them, by number."""
    found_pids: dict[int, list[int]] = {person: [person] for person in people}
    for row in found(connection, PEOPLE.c.joined, set(found_pids), PEOPLE.c.id, PEOPLE.c.joined):
        found_pids[row.joined].append(row.id)
    return found_pids


def consents_of(held: Iterable[Held]) -> list[Consent]:
    """What the events of all PIDs of a person amount to; nothing is left if one is missing."""
    every = list(held)
    if any(one.lost for one in every):
        return []
    return standing(event for _, event in sorted((place for one in every for place in one.events), key=_place))


def _place(entry: tuple[int, Event]) -> int:
    return entry[0]


def add_events(connection: Connection, secrets: Secrets, events: Iterable[tuple[int, Event]]) -> None:
    """Store events, numbered on from the last one of the list."""
    last = connection.execute(select(func.max(CONSENTS.c.id))).scalar() or 0
    rows = [
        {
            "id": (place := last + step),
            "person": person,
            "details": secrets.seal_details(event.to_dict(), sealed.CONSENTS, consent_row(place, person)),
        }
        for step, (person, event) in enumerate(events, start=1)
    ]
    write(connection, CONSENTS, rows)


def repairs(held: Held) -> list[Event]:
    """Events in place of those that were lost, so that what is given from now on counts: withdrawals of everything."""
    return [Event(number, Kind.WITHDRAWN, now(), "the log") for number in held.lost]
