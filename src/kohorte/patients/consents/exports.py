"""Exports that were made: who was in them, for which project and purpose, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from kohorte.errors import EngineError, InputError
from kohorte.patients.list import secrets as sealed
from kohorte.patients.list.database import found, write_many
from kohorte.patients.list.history import people_of
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import EXPORTED, EXPORTS
from kohorte.trust.log import Log

EXPORT = "export"


@dataclass(frozen=True)
class Export:
    """One export. `sha256` identifies the file that was written; `people` is how many were in it."""

    number: int
    project: str
    purpose: str
    at: str
    actor: str
    rows: int
    people: int
    columns: tuple[str, ...]
    sha256: str
    digest: str
    """What shows whether the database still has exactly the people of the export."""

    def to_dict(self) -> dict[str, Any]:
        """Return the export as plain data."""
        return {
            "export": self.number,
            "project": self.project,
            "purpose": self.purpose,
            "at": self.at,
            "actor": self.actor,
            "rows": self.rows,
            "people": self.people,
            "columns": list(self.columns),
            "sha256": self.sha256,
        }


@dataclass(frozen=True)
class Noted:
    """An export as the log has it: how many people were in it, not who."""

    number: int
    project: str
    purpose: str
    at: str
    people: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"export": self.number, "project": self.project, "purpose": self.purpose, "at": self.at}


@dataclass(frozen=True)
class Released:
    """The exports that a person was in. `uncertain` are those whose people the database does not have as it should.

    It is older than the log then, was changed, or the export was interrupted before it was written.
    """

    exports: tuple[Export, ...]
    uncertain: tuple[Noted, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return both lists as plain data."""
        return {
            "exports": [export.to_dict() for export in self.exports],
            "uncertain": [noted.to_dict() for noted in self.uncertain],
        }


def note_export(
    connection: Connection,
    secrets: Secrets,
    log: Log,
    holders: Sequence[int],
    details: Mapping[str, Any],
    *,
    actor: str,
) -> int:
    """Note an export, in the log first: a process that is killed leaves an export too many in it, none too few."""
    last = connection.execute(select(func.max(EXPORTS.c.id))).scalar() or 0
    number = max([last, *(noted.number for noted in _logged(log))]) + 1
    log.append(
        EXPORT,
        "the patient list",
        actor=actor,
        export=number,
        project=details["project"],
        purpose=details["purpose"],
        people=len(holders),
        rows=details["rows"],
    )
    content = secrets.seal_details({**details, **people_of(holders)}, sealed.EXPORTS, str(number))
    connection.execute(insert(EXPORTS), {"id": number, "details": content})
    write_many(connection, EXPORTED, [(number, holder) for holder in holders], "export", "person")
    return number


def released_to(connection: Connection, secrets: Secrets, log: Log, holders: Iterable[int]) -> Released:
    """The exports that somebody with these PIDs was in, and those of which nobody can say it, the oldest first."""
    every = [export_of(row.id, row.details, secrets) for row in connection.execute(select(EXPORTS)).all()]
    people: defaultdict[int, list[int]] = defaultdict(list)
    for row in connection.execute(select(EXPORTED.c.export, EXPORTED.c.person)):
        people[row.export].append(row.person)
    whole = {one.number for one in every if people_of(people[one.number])["digest"] == one.digest}
    own = {row.export for row in found(connection, EXPORTED.c.person, holders, EXPORTED.c.export)}
    return Released(
        tuple(export for export in sorted(every, key=lambda one: one.number) if export.number in own),
        tuple(noted for noted in _logged(log) if noted.number not in whole | own),
    )


def exported_people(connection: Connection, secrets: Secrets, number: int) -> tuple[Export, list[int]]:
    """An export, and the PIDs in it by their numbers."""
    row = connection.execute(select(EXPORTS).where(EXPORTS.c.id == number)).first()
    if row is None:
        raise unknown_export(number)
    export = export_of(row.id, row.details, secrets)
    people = [int(one) for one in connection.scalars(select(EXPORTED.c.person).where(EXPORTED.c.export == number))]
    if people_of(people)["digest"] != export.digest:
        raise EngineError(
            f"the database does not have the people of export {number} as they were noted; make the export again",
            code="trust-damaged",
        )
    return export, people


def unknown_export(number: int) -> InputError:
    """The error of a number that no export has, or none that the caller may know."""
    return InputError(f"there is no export {number}", code="consent-export-unknown")


def people_noted(log: Log, export: Export) -> int:
    """How many people an export had when it was made: those who were forgotten since then are not in the database."""
    return max([export.people, *(noted.people for noted in _logged(log) if noted.number == export.number)])


def export_of(number: int, details: bytes, secrets: Secrets) -> Export:
    """Unseal an export."""
    content = secrets.details(details, sealed.EXPORTS, str(number))
    return Export(number, **{**content, "columns": tuple(content["columns"])})


def _logged(log: Log) -> list[Noted]:
    return [
        Noted(details["export"], details["project"], details["purpose"], entry["at"], details["people"])
        for entry in log.verified_entries()
        if entry["action"] == EXPORT
        for details in [entry["details"]]
    ]
