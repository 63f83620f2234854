"""Identity data and PIDs, sealed for the database; blind indexes to find them."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kohorte.errors import EngineError
from kohorte.patients.identity import Identity
from kohorte.trust.keys import Key
from kohorte.trust.sealing import BlindIndex, Sealer, exchanged
from kohorte.trust.ties import back

BLOCK_BYTES = 8
_json = json.JSONEncoder(ensure_ascii=False).encode
CONSENTS, EXPORTS, TEMP_IDS = "consents", "exports", "temp ids"
"""Tables whose details are sealed."""
CASE = (
    *("id", "record", "person", "other", "other_record", "weight", "levels"),
    *("state", "opened", "decided", "actor"),
)
EVENT = ("id", "person", "at", "actor", "what", "record", "other", "weight")
"""The columns of a case, and of an entry of the history, that its mark covers."""


class Secrets:
    """Everything that needs the key of the patient list."""

    def __init__(
        self,
        key: Key,
        first: Key,
        *,
        forgotten: Callable[[str], bool] = lambda _: False,
        moved: Callable[[int], int] = lambda _: 0,
    ) -> None:
        """Seal with `key`; `first` is the first version, under which PIDs and tables are indexed for ever.

        A PID that is `forgotten` and in the database all the same is refused; so is a row that was placed before the
        last time that its person was `moved`, that is, joined or split.
        """
        self._forgotten, self._moved = forgotten, moved
        self._identities = Sealer(key, "patients records with their places")
        self._pids = Sealer(key, "patients people with their places")
        self._settings = Sealer(key, "patients settings")
        self._details = {name: Sealer(key, f"patients {name}") for name in (CONSENTS, EXPORTS, TEMP_IDS)}
        self._token_index = BlindIndex(first, "patients temp ids")
        self._pid_index = BlindIndex(first, "patients pid")
        self._block_index = BlindIndex(key, "patients blocks")
        self._cases = BlindIndex(key, "patients cases")
        self._events = BlindIndex(key, "patients events")
        self._source_index = BlindIndex(first, "patients sources")
        self._exchange_index = BlindIndex(first, "patients exchange")

    def __repr__(self) -> str:
        return "<Secrets of the patient list>"

    def seal_identity(self, identity: Identity, record: int, person: int, home: int, placed: int) -> bytes:
        """Seal a description for its row, together with the person whom it belongs to."""
        row = _place(record, person, home, placed)
        return self._identities.seal(_json(identity.values).encode(), row=row)

    def identity(self, row: Any) -> Identity:
        """Unseal the description in a row of records; one that was moved to another person is refused."""
        sealed = self._identities.unseal(row.identity, row=_place(row.id, row.person, row.home, row.placed))
        self.refuse_before(row.placed, row.person)
        return Identity(*json.loads(sealed))

    def seal_pid(self, pid: str, person: int, joined: int | None, placed: int) -> bytes:
        """Seal a PID for its row, together with the person whom it stands for."""
        return self._pids.seal(pid.encode(), row=_place(person, joined or person, person, placed))

    def pid(self, row: Any) -> str:
        """Unseal the PID in a row of people; one that was made to stand for somebody else is refused."""
        pid = self._pids.unseal(row.pid, row=_place(row.id, row.joined or row.id, row.id, row.placed)).decode()
        self.refuse_before(row.placed, row.id, row.joined or row.id)
        if self._forgotten(pid):
            raise back()
        return pid

    def refuse_before(self, placed: int, *people: int) -> None:
        """Refuse a row from before the last time that one of these people was joined or split."""
        for person in people:
            if placed < self._moved(person):
                raise EngineError(
                    "an entry of the patient list is older than the last merge or split of its person: an older copy "
                    "was put back; restore the newest copy of the database, or see 'kohorte folder confirm'",
                    code="patients-placed-before",
                )

    def refuse_other(self, row: Any, pid: str) -> None:
        """Refuse a row that was found by the index of a PID and has another one."""
        if self.pid(row) != pid:
            raise exchanged()

    def mark_case(self, case: Mapping[str, Any]) -> str:
        """The mark of a case: a keyed hash of everything that its row says."""
        return _mark(self._cases, case, CASE)

    def refuse_forged(self, row: Any) -> None:
        """Refuse a case that somebody wrote into the database, or changed there."""
        if not _equal(row.mark, self.mark_case(case_of(row))):
            raise EngineError(
                f"case {row.id} was changed in the database, or written there without the key; restore the newest copy "
                "of the database, or see 'kohorte folder confirm'",
                code="patients-case-forged",
            )

    def mark_event(self, event: Mapping[str, Any]) -> str:
        """The mark of an entry of the history: a keyed hash of everything that its row says."""
        return _mark(self._events, event, EVENT)

    def has_marked_event(self, row: Any) -> bool:
        """Whether the mark of an entry of the history is right."""
        return _equal(row.mark, self.mark_event(event_of(row)))

    def refuse_forged_event(self, row: Any) -> None:
        """Refuse an entry of the history that somebody wrote into the database, or changed there."""
        if not self.has_marked_event(row):
            raise EngineError(
                f"entry {row.id} of the history was changed in the database, or written there without the key; restore "
                "the newest copy of the database, or see 'kohorte folder confirm'",
                code="patients-history-forged",
            )

    def seal_setting(self, value: bytes, name: str) -> bytes:
        """Seal a setting of the list."""
        return self._settings.seal(value, row=name.encode())

    def setting(self, sealed: bytes, name: str) -> bytes:
        """Unseal a setting of the list."""
        return self._settings.unseal(sealed, row=name.encode())

    def seal_details(self, details: Mapping[str, object], table: str, row: str) -> bytes:
        """Seal what only the list may read of a row of a table."""
        return self._details[table].seal(json.dumps(details).encode(), row=row.encode())

    def details(self, sealed: bytes, table: str, row: str) -> dict[str, Any]:
        """Unseal the details of a row."""
        found: dict[str, Any] = json.loads(self._details[table].unseal(sealed, row=row.encode()))
        return found

    def token_index(self, token: str) -> bytes:
        """The blind index of a TempID."""
        return self._token_index.of(token)

    def pid_index(self, pid: str) -> bytes:
        """The blind index of a PID."""
        return self._pid_index.of(pid)

    def block(self, key: str) -> int:
        """The blind index of a key that says which records are compared, as a number of eight bytes.

        Two keys with the same number do no harm: records are compared that need not be.
        """
        return int.from_bytes(self._block_index.of(key)[:BLOCK_BYTES], "big", signed=True)

    def source(self, name: str) -> bytes:
        """The blind index of a registered table."""
        return self._source_index.of(name)

    def exchange_id(self, pid: str, exchange: str) -> str:
        """What stands for a PID in one exchange with another list."""
        return self._exchange_index.of(f"{exchange} {pid}").hex()


class Unplaced:
    """Reads the rows of earlier versions, which were sealed without their places."""

    def __init__(self, key: Key) -> None:
        self._identities = Sealer(key, "patients records")
        self._pids = Sealer(key, "patients people")

    def identity(self, row: Any) -> Identity:
        """Unseal the description in a row of records."""
        return Identity(*json.loads(self._identities.unseal(row.identity, row=b"%d" % row.id)))

    def pid(self, row: Any) -> str:
        """Unseal the PID in a row of people."""
        return self._pids.unseal(row.pid, row=b"%d" % row.id).decode()


def case_of(row: Any) -> dict[str, Any]:
    """What a row of cases says."""
    return {name: getattr(row, name) for name in CASE}


def event_of(row: Any) -> dict[str, Any]:
    """What an entry of the history says."""
    return {name: getattr(row, name) for name in EVENT}


def _mark(index: BlindIndex, row: Mapping[str, Any], columns: Sequence[str]) -> str:
    return index.of(json.dumps([row[name] for name in columns])).hex()


def _equal(mark: str | None, right: str) -> bool:
    return hmac.compare_digest(str(mark).encode(), right.encode())


def _place(number: int, person: int, home: int, placed: int) -> bytes:
    return b"%d of %d from %d at %d" % (number, person, home, placed)
