"""Give, withdraw and show consents; exports that were made before, and whether they are still covered.

Guarantee
    A withdrawal counts from the moment the command returns: no later export has the person, and an export that is being
    made is refused. It cannot be undone by a change of the database. What was exported before is listed.
Leaves open
    A withdrawal calls no data back that a project has already; the list of former exports says whom to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from kohorte.errors import InputError, PrivacyViolation
from kohorte.patients.consents.consent import Consent, Event, Kind, checked_day, checked_words
from kohorte.patients.consents.coverage import Covered, covered
from kohorte.patients.consents.events import (
    WITHDRAW,
    add_events,
    all_pids_of,
    consents_of,
    facts_of,
    held_by,
    marks_of,
    repairs,
)
from kohorte.patients.consents.exports import (
    Released,
    exported_people,
    note_export,
    people_noted,
    released_to,
    unknown_export,
)
from kohorte.patients.consents.withdrawals import withdrawn_pids
from kohorte.patients.list.database import every_pid, holders_of, person_of, pids_of
from kohorte.patients.patient_list import PatientList


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Standing:
    """The consents of a person with their history; `lost` counts events that the database should have."""

    pid: str
    consents: tuple[Consent, ...]
    events: tuple[Event, ...]
    lost: int

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "pid": self.pid,
            "consents": [consent.to_dict(now) for consent in self.consents],
            "history": [event.to_dict() for event in self.events],
            "lost": self.lost,
        }


class Consents:
    """The consents of the people of a list."""

    def __init__(self, patients: PatientList, *, clock: Callable[[], datetime] = _now) -> None:
        self._patients, self._storage, self._clock = patients, patients.storage, clock
        self._log = patients.folder.log

    @property
    def now(self) -> datetime:
        """The time by the clock of the list."""
        return self._clock()

    def give(
        self,
        pids: Sequence[str],
        purposes: Sequence[str],
        *,
        categories: Sequence[str] = (),
        start: str | None = None,
        until: str | None = None,
    ) -> int:
        """Note that people agreed; returns how many. Without categories it is for all kinds of data."""
        words = checked_words(purposes, "--purpose"), checked_words(categories, "--category")
        begin, end = checked_day(start, "--from"), checked_day(until, "--until")
        if not words[0] or (begin and end and begin > end) or (end and end < f"{self._clock():%Y-%m-%d}"):
            raise InputError(
                "a consent is for at least one purpose, and ends after it begins and not in the past",
                code="consent-date",
            )
        with self._storage.writing() as connection:
            people = self._people(connection, pids)
            secrets = self._storage.secrets
            held = held_by(connection, secrets, facts_of(self._log), marks_of(connection, secrets, self._log, people))
            events: list[tuple[int, Event]] = []
            for person in people:
                events += [(person, event) for event in repairs(held[person])]
                given = Event(held[person].last + 1, Kind.GIVEN, self._at(), self._actor, *words, begin, end)
                events.append((person, given))
            add_events(connection, self._storage.secrets, events)
        self._note("give consent", people=len(people), purposes=", ".join(words[0]))
        return len(people)

    def withdraw(self, pid: str, purposes: Sequence[str] = ()) -> Released:
        """Take a consent back, for some purposes or for all; returns the exports that were made before.

        The log is written first: a process that is killed leaves a withdrawal, not a consent.
        """
        words, secrets = checked_words(purposes, "--purpose"), self._storage.secrets
        with self._storage.writing() as connection:
            person = person_of(connection, secrets, pid)
            everybody = all_pids_of(connection, [person])[person]
            marks = marks_of(connection, secrets, self._log, everybody)
            held = held_by(connection, secrets, facts_of(self._log), marks)
            for one in everybody:  # each PID remembers it, also if people are split later
                number = held[one].last + 1
                self._note(WITHDRAW, pid=marks[one], number=number, purposes=", ".join(words) or "all")
                event = Event(number, Kind.WITHDRAWN, self._at(), self._actor, purposes=words)
                add_events(connection, secrets, [(one, lost) for lost in repairs(held[one])] + [(one, event)])
        return self.released(pid)

    def show(self, pid: str) -> Standing:
        """The consents of a person, with their history."""
        secrets = self._storage.secrets
        with self._storage.reading() as connection:
            person = person_of(connection, secrets, pid)
            everybody = all_pids_of(connection, [person])[person]
            marks = marks_of(connection, secrets, self._log, everybody)
            held = held_by(connection, secrets, facts_of(self._log), marks)
            shown = pids_of(connection, secrets, [person])[person]
        events = sorted((entry for one in held.values() for entry in one.events), key=lambda entry: entry[0])
        return Standing(
            shown,
            tuple(consents_of(held.values())),
            tuple(event for _, event in events),
            sum(len(one.lost) for one in held.values()),
        )

    def withdrawn(self) -> list[str]:
        """All PIDs of people who have taken something back and not given it again; memories of releases need them."""
        with self._storage.reading() as connection:
            return withdrawn_pids(connection, self._storage.secrets, self._log)

    def released(self, pid: str) -> Released:
        """The exports that a person was in."""
        secrets = self._storage.secrets
        with self._storage.reading() as connection:
            person = person_of(connection, secrets, pid)
            return released_to(connection, secrets, self._log, all_pids_of(connection, [person])[person])

    def covered(self, pids: Iterable[str] | None, purpose: str) -> Covered:
        """Which of the PIDs, or of all PIDs of the list, are covered for a purpose now."""
        with self._storage.reading() as connection:
            return self._covered(connection, pids, purpose)

    def note_export(
        self,
        expected: Covered,
        *,
        purpose: str,
        project: str,
        rows: int,
        columns: Sequence[str],
        sha256: str,
    ) -> int:
        """Check again that everybody in an export is covered, and note it, in one transaction; returns its number.

        A withdrawal that came in the meantime refuses the export. Call this when the output is written, and before it
        gets its name.
        """
        with self._storage.writing() as connection:
            self._refuse_changed(self._covered(connection, expected.people, purpose), expected)
            details = {"project": project, "purpose": purpose, "rows": rows, "columns": list(columns)}
            holders = sorted({one.holder for one in expected.people.values()})
            return note_export(
                connection,
                self._storage.secrets,
                self._log,
                holders,
                details | {"at": self._at(), "actor": self._actor, "sha256": sha256},
                actor=self._actor,
            )

    def confirm(self, number: int, *, only_own: bool = False) -> int:
        """Check that everybody in a noted export is still covered; returns how many people it has.

        The consent of a person who was forgotten is gone, and the file that was made still has their rows. With
        `only_own` the exports of others are as unknown as those that do not exist.
        """
        secrets = self._storage.secrets
        with self._storage.reading() as connection:
            export, holders = exported_people(connection, secrets, number)
            if only_own and export.actor != self._actor:
                raise unknown_export(number)
            pids = pids_of(connection, secrets, holders)
            found = self._covered(connection, pids.values(), export.purpose)
        gone = people_noted(self._log, export) - len(found.people)
        if gone:
            self._note("refuse export", export=number, withdrawn=gone)
            raise changed(gone)
        self._note("confirm export", export=number)
        return export.people

    def _covered(self, connection: Connection, pids: Iterable[str] | None, purpose: str) -> Covered:
        checked_words([purpose], "--purpose")
        secrets = self._storage.secrets
        wanted = every_pid(connection, secrets) if pids is None else pids
        return covered(connection, secrets, self._log, wanted, purpose=purpose, now=self._clock())

    def _refuse_changed(self, found: Covered, expected: Covered) -> None:
        others = [pid for pid, coverage in expected.people.items() if found.people.get(pid) != coverage]
        if others:
            self._note("refuse export", withdrawn=len(others))
            raise changed(len(others))

    def _people(self, connection: Connection, pids: Sequence[str]) -> list[int]:
        known = holders_of(connection, self._storage.secrets, pids)
        for place, pid in enumerate(pids, start=1):
            if pid not in known:
                where = f"row {place}: " if len(pids) > 1 else ""
                raise InputError(f"{where}no person of the list has this PID", code="patients-pid-unknown")
        return list(dict.fromkeys(known[pid][1] for pid in pids))

    @property
    def _actor(self) -> str:
        return self._patients.actor

    def _at(self) -> str:
        return self._clock().isoformat(timespec="seconds")

    def _note(self, action: str, **details: str | int) -> None:
        self._log.append(action, "the patient list", actor=self._actor, **details)


def changed(people: int | None = None) -> PrivacyViolation:
    """The error of an export in which somebody is not covered any more; `people` is how many, where it is known."""
    some = "some" if people is None else str(people)
    return PrivacyViolation(
        f"consent ended or changed while the export was made, for {some} of its people; nothing was written. "
        "Make the export again, without them",
        code="consent-changed",
    )
