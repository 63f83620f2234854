"""The people of a folder: who may ask for a way back, who may approve it, and who is told about it.

people.sealed has names, roles and hashes of passwords. It is sealed with the key of the folder, so that only a program
with the key can add a person. All people of a folder use the same account of the machine; what keeps them apart is
their passwords. Where they must be kept apart by the machine, too, they use the service.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from kohorte.data import atomic_write
from kohorte.errors import AccessDenied, EngineError, InputError, nearest
from kohorte.trust import passwords
from kohorte.trust.folder import TrustFolder
from kohorte.trust.private_files import locked
from kohorte.trust.records.facts import OF_PEOPLE

FILE = "people.sealed"
ROW = b"people"
ADDED, REMOVED = OF_PEOPLE
ATTEMPTS = 5
PAUSE = timedelta(minutes=15)
WRONG = "wrong password"
_NAME = re.compile(r"\w[\w .@'-]{0,62}")


class Task(StrEnum):
    """What a person may do."""

    REQUESTER = "requester"
    APPROVER = "approver"
    OFFICER = "data-protection-officer"


@dataclass(frozen=True)
class Person:
    """A person and their tasks."""

    name: str
    tasks: tuple[Task, ...]
    password_hash: str = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return name and tasks."""
        return {"name": self.name, "roles": [str(task) for task in self.tasks]}


class People:
    """The people of one folder."""

    def __init__(self, folder: TrustFolder) -> None:
        self._folder = folder
        self._path = folder.path / FILE

    def all(self) -> list[Person]:
        """All people, by name."""
        return sorted(self._read().values(), key=lambda person: person.name)

    def add(self, name: str, tasks: Iterable[Task], password: str, *, actor: str) -> Person:
        """Add a person, with a password that only they know; names that look alike are one."""
        name = " ".join(part for part in name.split(" ") if part)
        if not _NAME.fullmatch(name):
            raise InputError(
                "the name of a person has at most 63 letters, digits, blanks and . @ ' -", code="trust-person-name"
            )
        chosen = tuple(sorted(set(tasks)))
        if not chosen:
            raise InputError(f"a person needs a role: {', '.join(Task)}", code="trust-person-role")
        passwords.refuse_weak(password, about=(name,))
        person = Person(name, chosen, passwords.hashed(password))
        with locked(self._folder.path):
            people = self._read()
            if name.casefold() in map(str.casefold, people):
                raise InputError(f"there is a person {name!r} already", code="trust-person-exists")
            self._write({**people, name: person})
        self._folder.log.append(ADDED, f"person {name}", actor=actor, roles=", ".join(chosen))
        return person

    def remove(self, name: str, *, actor: str) -> None:
        """Remove a person; what they did stays in the log."""
        with locked(self._folder.path):
            people = self._read()
            if name not in people:
                raise InputError(f"there is no person {name!r}{nearest(name, people)}", code="trust-person-unknown")
            officers = [other for other, person in people.items() if Task.OFFICER in person.tasks]
            if officers == [name] and len(people) > 1:
                raise InputError(
                    "the last data protection officer must stay as long as there are others, because nobody else is "
                    "told about the way back; add another one first",
                    code="trust-person-last-officer",
                )
            self._write({other: person for other, person in people.items() if other != name})
        self._folder.log.append(REMOVED, f"person {name}", actor=actor)

    def signed_in(self, name: str, password: str, *, tasks: Sequence[Task]) -> Person:
        """Return the person if the password is theirs and they have one of the tasks.

        An unknown name and a wrong password look alike. After five wrong passwords the name is refused for a while.
        """
        person = self._read().get(name)
        if self._wrong_attempts(self._tried(name, known=person is not None)) >= ATTEMPTS:
            raise AccessDenied(
                f"too many wrong passwords; wait {PAUSE.seconds // 60} minutes", code="trust-person-locked"
            )
        if not passwords.fits(password, None if person is None else person.password_hash) or person is None:
            self._folder.log.append(WRONG, self._tried(name, known=person is not None), actor="somebody")
            raise AccessDenied("the name or the password is wrong", code="trust-person-wrong")
        if not set(tasks) & set(person.tasks):
            needed = " or ".join(tasks)
            self._folder.log.append("refuse way back", f"person {name}", actor=name, reason=f"is not {needed}")
            raise AccessDenied(f"only a person with the role {needed} may do this", code="trust-person-task")
        return person

    def same_password(self, password: str, names: Iterable[str]) -> list[str]:
        """Those of some people whose password this is, too: one person may use their accounts."""
        people = self._read()
        return [name for name in names if name in people and passwords.fits(password, people[name].password_hash)]

    def _tried(self, name: str, *, known: bool) -> str:
        """What the log says of an attempt; a name that nobody has may be a password, and is not written down."""
        return f"person {name}" if known else f"unknown person {self._folder.log.fingerprint(name)}"

    def _wrong_attempts(self, tried: str) -> int:
        since = (datetime.now(UTC) - PAUSE).isoformat(timespec="microseconds")
        entries = (entry for entry in self._folder.log.entries() if entry["at"] >= since)
        return sum(entry["action"] == WRONG and entry["about"] == tried for entry in entries)

    def confirm(self) -> None:
        """Take the people of an older copy for the present ones."""
        with locked(self._folder.path):
            people, _ = self._stored()
            self._write(people, step=0)

    def _read(self) -> dict[str, Person]:
        """The people; an older copy of the file, where somebody who was removed may be back, is refused."""
        logged = self._folder.log.checked().people  # before the file, which may change meanwhile
        people, changes = self._stored()
        if changes is None and self._agrees_with_log(people):
            changes = logged
        if changes is None or changes < logged:
            raise EngineError(
                f"{self._path}: is older than the log of the folder: somebody who was removed may be back; put the "
                "newest copy back, or see 'kohorte folder confirm'",
                code="trust-people-older",
            )
        return people

    def _stored(self) -> tuple[dict[str, Person], int | None]:
        """The people, and how often they were changed before; files of earlier versions do not say that."""
        if not self._path.exists():
            return {}, 0
        data = json.loads(self._folder.sealer(FILE).unseal(self._path.read_bytes(), row=ROW))
        counted = isinstance(data.get("changes"), int)
        entries = data["people"] if counted else data
        return {name: _person(name, entry) for name, entry in entries.items()}, data["changes"] if counted else None

    def _agrees_with_log(self, people: Mapping[str, Person]) -> bool:
        """Whether the log has exactly these people and roles, each added once, so that no password is an older one."""
        roles: dict[str, str] = {}
        added: Counter[str] = Counter()
        for entry in self._folder.log.verified_entries():
            name = entry["about"].removeprefix("person ")
            if entry["action"] == ADDED:
                roles[name] = entry["details"]["roles"]
                added[name] += 1
            elif entry["action"] == REMOVED:
                roles.pop(name, None)
        stored = {name: ", ".join(person.tasks) for name, person in people.items()}
        return stored == roles and all(added[name] == 1 for name in stored)

    def _write(self, people: Mapping[str, Person], *, step: int = 1) -> None:
        """Store the people before the log has the change: a process that is killed leaves a newer file."""
        entries = {
            name: {"roles": list(person.tasks), "password": person.password_hash} for name, person in people.items()
        }
        data = {"people": entries, "changes": self._folder.log.checked().people + step}
        sealed = self._folder.sealer(FILE).seal(json.dumps(data).encode(), row=ROW)
        with atomic_write(self._path, force=True, private=True) as temporary:
            temporary.write_bytes(sealed)


def _person(name: str, entry: Mapping[str, Any]) -> Person:
    return Person(name, tuple(map(Task, entry["roles"])), entry["password"])
