"""The ledger on disk: sealed values under the key of the ledger, a chain over all releases, and the log of the folder.

Each value is sealed and tied to its place, and values that change also to the version of the ledger, which the head
names: what was changed, moved or put back from an earlier version does not unseal. The head counts the releases and
has the last code of their chain. A change is one transaction; the log gets its entry after that, and if the process was
killed in between, the next one adds it.
"""

from __future__ import annotations

import hmac
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, insert, select

from kohorte.disclosures.tables import NAME, PEOPLE, RELEASES, ROOM, STATES
from kohorte.errors import EngineError, InputError
from kohorte.kernels.arrays import Bools, Integers
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Key
from kohorte.trust.private_files import locked
from kohorte.trust.sealing import BlindIndex, Sealer

ABOUT = "the disclosure ledger"
HEAD = "head"
WITHDRAWN = "withdrawn"
TOGETHER = "atoms"
START = "0" * 64
LEVEL = 1


@dataclass
class Head:
    """How far the ledger is: numbers of releases and people, the last code of the chain, versions of the states."""

    version: int = 0
    releases: int = 0
    people: int = 0
    atoms: int = 1
    code: str = START
    states: dict[str, int] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ShownAtoms:
    """Which atoms a release showed: each got a new number, from `first`."""

    first: int
    before: Integers
    signature: Integers


class Secrets:
    """Everything that is made with the key of a ledger."""

    def __init__(self, key: Key) -> None:
        self._sealer = Sealer(key, NAME)
        self._chain = key.derived("disclosure chain")
        self._recipients = BlindIndex(key, "disclosure recipients")
        self.people = key.derived("disclosure people")

    def seal(self, data: bytes, place: str) -> bytes:
        """Compress and seal a value for one place."""
        return self._sealer.seal(zlib.compress(data, LEVEL), row=place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Return the value of one place."""
        return zlib.decompress(self._sealer.unseal(sealed, row=place.encode()))

    def state(self, recipient: str) -> str:
        """The name of the state with the atoms of a recipient."""
        return f"{TOGETHER} {self._recipients.of(recipient).hex()}"

    def looks(self, about: str) -> str:
        """The name of the state with the people who look alike in releases about something."""
        return f"looks {self._recipients.of(about).hex()}"

    def code(self, before: str, number: int, facts: bytes, sets: bytes) -> str:
        """The code of a release in the chain."""
        text = f"{before} {number} {sha256(facts).hexdigest()} {sha256(sets).hexdigest()}"
        return hmac.digest(self._chain, text.encode(), "sha256").hex()


class Books:
    """The content of the ledger within one transaction."""

    def __init__(self, connection: Connection, secrets: Secrets) -> None:
        self._connection = connection
        self._secrets = secrets
        self.head = self._head()

    def prints(self) -> NDArray[np.uint64]:
        """The fingerprints of all people, by index."""
        rows = self._connection.execute(select(PEOPLE.c.first, PEOPLE.c.prints).order_by(PEOPLE.c.first))
        pieces = [self._secrets.unseal(row.prints, f"people {row.first}") for row in rows]
        prints = np.frombuffer(b"".join(pieces), dtype="<u8")
        if len(prints) != self.head.people:
            raise broken("people are missing in its dictionary")
        return prints

    def add_people(self, prints: NDArray[np.uint64]) -> None:
        """Add new people; they get the next indices."""
        first = self.head.people
        sealed = self._secrets.seal(prints.astype("<u8").tobytes(), f"people {first}")
        self._connection.execute(insert(PEOPLE), {"first": first, "prints": sealed})
        self.head.people += len(prints)

    def atoms(self, name: str = TOGETHER) -> Integers:
        """The atom of each person for one recipient, or for all together."""
        return self._array(name)

    def recipient(self, name: str) -> Integers:
        """The atom of each person for one recipient."""
        return self._array(self._secrets.state(name))

    def withdrawn(self) -> Bools:
        """Who has withdrawn."""
        return self._array(WITHDRAWN) > 0

    def set_atoms(self, atoms: Integers, recipient: str | None = None) -> None:
        """Store the atoms of one recipient, or of all together."""
        self._set(TOGETHER if recipient is None else self._secrets.state(recipient), atoms)

    def looks(self, about: str) -> Integers:
        """The group of each person whom releases about something do not tell apart by their looks."""
        return self._array(self._secrets.looks(about))

    def set_looks(self, groups: Integers, about: str) -> None:
        """Store the groups of people who look alike."""
        self._set(self._secrets.looks(about), groups)

    def set_withdrawn(self, withdrawn: Bools) -> None:
        """Store who has withdrawn."""
        self._set(WITHDRAWN, withdrawn.astype(np.int64))

    def add_release(self, facts: Mapping[str, Any], shown: ShownAtoms) -> int:
        """Add a release to the chain; returns its number."""
        number = self.head.releases + 1
        sets = np.concatenate(([shown.first], shown.before, shown.signature)).astype("<i8").tobytes()
        sealed = self._secrets.seal(json.dumps(facts).encode(), f"facts {number}")
        sealed_sets = self._secrets.seal(sets, f"sets {number}")
        self._connection.execute(insert(RELEASES), {"number": number, "facts": sealed, "sets": sealed_sets})
        self.head.releases = number
        self.head.code = self._secrets.code(self.head.code, number, sealed, sealed_sets)
        return number

    def facts(self, number: int) -> dict[str, Any]:
        """What the ledger notes of one release."""
        sealed = self._connection.execute(select(RELEASES.c.facts).where(RELEASES.c.number == number)).scalar()
        if sealed is None:
            raise InputError(f"the ledger has no release {number}", code="disclosure-release-unknown")
        return self._facts(sealed, number)

    def all_facts(self) -> Iterator[dict[str, Any]]:
        """What the ledger notes of all releases, in their order."""
        for row in self._connection.execute(select(RELEASES.c.number, RELEASES.c.facts).order_by(RELEASES.c.number)):
            yield self._facts(row.facts, row.number)

    def shown_atoms(self, number: int) -> ShownAtoms:
        """Which atoms a release showed."""
        sealed = self._connection.execute(select(RELEASES.c.sets).where(RELEASES.c.number == number)).scalar_one()
        numbers = np.frombuffer(self._secrets.unseal(sealed, f"sets {number}"), dtype="<i8").astype(np.int64)
        half = (len(numbers) - 1) // 2
        return ShownAtoms(int(numbers[0]), numbers[1 : half + 1], numbers[half + 1 :])

    def refuse_changed(self, noted: tuple[int, str]) -> None:
        """Read everything; refuse if a release or a state was changed, exchanged or removed.

        `noted` is number and code of a release that was the last one once; it must still be in the chain.
        """
        code, codes = START, {0: START}
        for number in range(1, self.head.releases + 1):
            row = self._connection.execute(select(RELEASES).where(RELEASES.c.number == number)).one()
            self._facts(row.facts, number)
            codes[number] = code = self._secrets.code(code, number, row.facts, row.sets)
        if codes.get(noted[0]) != noted[1]:
            raise broken("the head that was noted is not in it")
        if not hmac.compare_digest(code, self.head.code):
            raise broken("a release was changed or exchanged")
        self.prints()
        for name in self.head.states:
            self._array(name)

    def save(self, entry: Mapping[str, Any]) -> None:
        """End a change: the next version of the head, with the entry of the log that belongs to it."""
        self.head.version += 1
        self.head.entry = {**entry, "version": self.head.version}
        self._replace(HEAD, self._secrets.seal(json.dumps(asdict(self.head)).encode(), HEAD))

    def _head(self) -> Head:
        sealed = self._state(HEAD)
        if sealed is None:
            raise broken("its head is missing")
        head = Head(**json.loads(self._secrets.unseal(sealed, HEAD)))
        found = self._connection.execute(select(func.count(), func.max(RELEASES.c.number)).select_from(RELEASES)).one()
        if (found[0], found[1] or 0) != (head.releases, head.releases):
            raise broken("it does not have the releases that it had")
        return head

    def _facts(self, sealed: bytes, number: int) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self._secrets.unseal(sealed, f"facts {number}"))
        return {"number": number, **facts}

    def _array(self, name: str) -> Integers:
        found = np.zeros(self.head.people, dtype=np.int64)
        if name not in self.head.states:
            return found
        sealed = self._state(name)
        if sealed is None:
            raise broken("a part of it is missing")
        stored = np.frombuffer(self._secrets.unseal(sealed, f"{name} {self.head.states[name]}"), dtype="<i8")
        found[: len(stored)] = stored
        return found

    def _set(self, name: str, array: Integers) -> None:
        version = self.head.version + 1
        self._replace(name, self._secrets.seal(array.astype("<i8").tobytes(), f"{name} {version}"))
        self.head.states[name] = version

    def _state(self, name: str) -> bytes | None:
        value: bytes | None = self._connection.execute(select(STATES.c.value).where(STATES.c.name == name)).scalar()
        return value

    def _replace(self, name: str, value: bytes) -> None:
        self._connection.execute(delete(STATES).where(STATES.c.name == name))
        self._connection.execute(insert(STATES), {"name": name, "value": value})


class Storage:
    """The database of a ledger with its key."""

    def __init__(self, folder: TrustFolder, *, create: bool, actor: str) -> None:
        self._folder = folder
        self._actor = actor
        self._key_file = folder.key_file(
            NAME, owner="the disclosure ledger", lost="no release of the ledger can be read or compared any more"
        )
        if not create and not self._key_file.exists:
            raise InputError(
                f"{folder.path}: has no disclosure ledger; 'kohorte disclosures init' makes one",
                code="disclosure-ledger-missing",
            )
        with locked(folder.path):
            key = (self._key_file.read() if self._key_file.exists else self._key_file.create()).versions[0]
            self.secrets = Secrets(key)
            self._store = folder.store(ROOM)
            if create:
                self._begin()
            self._compare_with_log()

    def close(self) -> None:
        """Close the connections to the database."""
        self._store.close()

    @contextmanager
    def reading(self) -> Iterator[Books]:
        """The ledger as it is; everything that is read belongs to one state."""
        with self._store.reading() as connection:
            yield Books(connection, self.secrets)

    @contextmanager
    def writing(self) -> Iterator[Books]:
        """The ledger for one change, which `Books.save` ends; others wait. The log gets its entry after it."""
        with locked(self._folder.path):
            with self._store.writing() as connection:
                books = Books(connection, self.secrets)
                version = books.head.version
                yield books
            if books.head.version > version:
                self._log(books.head.entry)

    def refuse_changed(self, noted: tuple[int, str]) -> None:
        """Refuse if anything of the ledger or of its log was changed or removed."""
        with locked(self._folder.path):
            with self.reading() as books:
                books.refuse_changed(noted)
                version, code = books.head.version, books.head.code
            entries = [entry["details"] for entry in self._folder.log.verified_entries() if entry["about"] == ABOUT]
        if [entry["version"] for entry in entries] != list(range(1, version + 1)):
            raise broken("its log does not have the entries that it had")
        codes = [entry["code"] for entry in entries if "code" in entry]
        if code != (codes[-1] if codes else START):
            raise broken("its last release is not the one that the log names")

    def _begin(self) -> None:
        with self._store.writing() as connection:
            if connection.execute(select(STATES.c.name).where(STATES.c.name == HEAD)).scalar() is not None:
                return
            if self._logged() > 0:
                raise broken("its head is missing")
            sealed = self.secrets.seal(json.dumps(asdict(Head())).encode(), HEAD)
            connection.execute(insert(STATES), {"name": HEAD, "value": sealed})

    def _compare_with_log(self) -> None:
        """Add the entry that a process which was killed could not write; refuse a database older than its log."""
        with self.reading() as books:
            head = books.head
        logged = self._logged()
        if logged == head.version - 1:
            self._log(head.entry)
        elif logged != head.version:
            raise broken("the database and the log do not belong together; one of them was replaced by an older copy")

    def _logged(self) -> int:
        """The version of the ledger that the log knows."""
        versions = [
            entry["details"].get("version", 0) for entry in self._folder.log.entries() if entry["about"] == ABOUT
        ]
        return max(versions, default=0)

    def _log(self, entry: Mapping[str, Any]) -> None:
        details = {name: value for name, value in entry.items() if name != "action"}
        self._folder.log.append(str(entry["action"]), ABOUT, actor=self._actor, **details)


def broken(what: str) -> EngineError:
    """The error of a ledger that is not as it was written."""
    return EngineError(
        f"the disclosure ledger was changed or is damaged: {what}; restore folder, database and key from a copy",
        code="disclosure-ledger-broken",
    )
