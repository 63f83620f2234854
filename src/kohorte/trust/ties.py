"""The tie between a list in a database and the log of its folder: neither can be replaced by an older copy alone.

Guarantee
    Every change of a list counts its version up, in the same transaction, and notes how far the log was, sealed with
    the key of the folder. The log has the version after each change, and before people are forgotten. A database that
    is older than the log says is refused, so that nobody who was forgotten comes back; so is a log that is older than
    the database says. If only the last step is missing, and it was to forget or a decision that the log has in full,
    the process was killed, or an older copy was put back: it is done now. Rows that people must still decide about are
    sealed with the version as a digest, and so is which ones were decided: without one of them the list is refused.
Leaves open
    The whole folder with database, key and log put back to one moment of the past: only a head that was noted elsewhere
    shows that. People or entries that were added by a process that was killed before the log had it are not demanded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import asdict, dataclass
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, delete, insert, select

from kohorte.errors import EngineError
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import Detail
from kohorte.trust.records.facts import BEGINS, Begun
from kohorte.trust.records.heads import Head, cut
from kohorte.trust.store import Store, ties

Result = TypeVar("Result")
TABLE = "ties"
MARKS_AT_ONCE = 1000
"""Fingerprints in one entry of the log."""


@dataclass(frozen=True)
class State:
    """The version of a list, and the last entry of the log when it was stored."""

    version: int = 0
    number: int = 0
    code: str = Head().code
    undecided: str = ""
    """A digest of the rows that people must still decide about; empty if the list has none, or an earlier version."""
    decided: str = ""
    """Which rows were decided, in short; empty as above."""
    marked: bool = False
    """Whether all rows of the history have marks; those of earlier versions lack them until the list is opened."""


class Moves(NamedTuple):
    """What a log says about people who were joined or split: what is done, and a decision that is begun."""

    done: dict[int, int]
    begun: Begun | None


class Tie:
    """The tie of one list; `name` is that of the list in the log, `what` that in messages.

    `lock` keeps other writers of the list out until the transaction of a connection ends. `undecided` is a digest of
    the rows that people must still decide about, `decided` says which rows were decided. `redo` does a decision again
    in a database that lacks it, and returns what is different from its entry in the log.
    """

    def __init__(
        self,
        folder: TrustFolder,
        name: str,
        what: str,
        *,
        lock: Callable[[Connection], object],
        undecided: Callable[[Connection], str] = lambda _: "",
        decided: Callable[[Connection], str] = lambda _: "",
        redo: Callable[[Connection, Begun], Mapping[str, Detail]] = lambda _, __: {},
    ) -> None:
        self._folder, self._log, self._lock = folder, folder.log, lock
        self._undecided, self._decided, self._redo = undecided, decided, redo
        self.name, self._what = name, what

    def details(self, version: int) -> dict[str, Detail]:
        """What an entry of the log says about the version that a change has made."""
        return {"list": self.name, "state": version}

    def check(self, store: Store, again: Callable[[Connection, Set[str]], object]) -> None:
        """Refuse a database or a log that is older than the other; `again` forgets what has given fingerprints."""
        logged = self._log.checked().versions.get(self.name, 0)  # before the database, which may change meanwhile
        with store.reading() as connection:
            state = self._read(connection)
            whole = state.undecided in ("", self._undecided(connection))
            whole &= state.decided in ("", self._decided(connection))
        facts = self._log.checked()
        if not facts.has(Head(state.number, state.code)):
            raise cut(self._folder.path, f"it lacks entries that the database of {self._what} knows")
        begun = facts.begun.get(self.name)
        if state.version == logged - 1 and facts.only_forgets(self.name, logged):
            self.complete(store, again)
        elif state.version == logged - 1 and begun is not None and begun.version == logged:
            self._do_again(store, begun)
        elif state.version < logged:
            raise self.older()
        elif not whole:
            raise self._decided_by_nobody()
        elif begun is not None and begun.version == state.version:
            self.end(begun, again=True)  # killed between the database and the log

    def complete(self, store: Store, again: Callable[[Connection, Set[str]], Result]) -> Result:
        """Forget in an older database what was forgotten since, and take it for the present one."""
        with store.writing() as connection:
            self._lock(connection)
            facts = self._log.checked()
            state = self._read(connection)
            forgotten = facts.forgotten_after(self.name, state.version)
            found = again(connection, forgotten)
            self._write(connection, max(state.version, facts.versions.get(self.name, 0)))
        return found

    def _do_again(self, store: Store, begun: Begun) -> None:
        """Do a decision that the database lacks, unless the process that began it is just ending it."""
        with store.writing() as connection:
            self._lock(connection)
            if self._read(connection).version >= begun.version:
                return
            differs = self._redo(connection, begun)
            self._write(connection, begun.version)
        self.end(begun, again=True, **differs)

    def begin(self, action: str, *, actor: str, version: int, **details: Detail) -> Begun:
        """Write a decision of a person down before the database has it, as the last thing in its transaction."""
        noted = details | self.details(version)
        head = self._log.append(action, self._what, actor=actor, **noted)
        return Begun(version, head.number, action, actor, noted)

    def end(self, begun: Begun, **more: Detail) -> None:
        """Write down that the database has a decision."""
        details = {**begun.details, **more, "begun": begun.number}
        self._log.append(BEGINS[begun.action], self._what, actor=begun.actor, **details)

    def forgotten(self) -> Set[str]:
        """The fingerprints of all that was ever forgotten in this list."""
        return self._log.checked().forgotten[self.name]

    def version(self, connection: Connection) -> int:
        """The version of the list: that of the database, or that of the log where it is newer."""
        return max(self._read(connection).version, self._log.checked().versions.get(self.name, 0))

    def moves(self) -> Moves:
        """What the log says about people who were joined or split; read this before the database, which may change."""
        facts = self._log.checked()
        return Moves(dict(facts.moved[self.name]), facts.begun.get(self.name))

    def moved(self, connection: Connection, moves: Moves) -> dict[int, int]:
        """The people who were joined or split, by their numbers, and the version that did it last.

        A decision that was begun counts if the database has its version.
        """
        begun = moves.begun
        if begun is None or self._read(connection).version < begun.version:
            return moves.done
        return moves.done | begun.moved

    def knows_decided(self, connection: Connection) -> bool:
        """Whether it is sealed which rows were decided; lists of earlier versions lack it until they are changed."""
        state = self._read(connection)
        return not state.version or bool(state.decided)

    def marked(self, connection: Connection) -> bool:
        """Whether the rows of the history have marks, as it is sealed; those of a new list have them."""
        state = self._read(connection)
        return not state.version or state.marked

    def set_marked(self, connection: Connection) -> None:
        """Seal that the rows of the history have marks from now on."""
        self._write(connection, self._read(connection).version, marked=True)

    def numbers(self) -> dict[str, int]:
        """The last numbers that were given, by what they are for."""
        return dict(self._log.checked().numbers[self.name])

    def next(self, connection: Connection) -> int:
        """Count a change, in its transaction, which keeps other writers out; returns the version.

        An older database is refused. If the change is to forget, the log gets its entry after this and before the end
        of the transaction.
        """
        state = self._read(connection)
        if state.version < self._log.checked().versions.get(self.name, 0):
            raise self.older()
        self._write(connection, state.version + 1)
        return state.version + 1

    def seal(self, connection: Connection) -> None:
        """Seal what is undecided after a change, at the end of its transaction."""
        self._write(connection, self._read(connection).version)

    def _read(self, connection: Connection) -> State:
        sealed = connection.execute(select(ties.c.sealed).where(ties.c.name == self.name)).scalar()
        if sealed is None:
            return State()
        return State(**json.loads(self._folder.sealer(TABLE).unseal(sealed, row=self.name.encode())))

    def _write(self, connection: Connection, version: int, *, marked: bool = False) -> None:
        head, marked = self._log.checked().head, marked or self.marked(connection)
        state = State(version, head.number, head.code, self._undecided(connection), self._decided(connection), marked)
        sealed = self._folder.sealer(TABLE).seal(json.dumps(asdict(state)).encode(), row=self.name.encode())
        connection.execute(delete(ties).where(ties.c.name == self.name))
        connection.execute(insert(ties), {"name": self.name, "sealed": sealed})

    def older(self) -> EngineError:
        """The error of a database that is older than the log."""
        return EngineError(
            f"the database of {self._what} is older than the log of the folder: people who were forgotten may be in it "
            "again; put the newest copy back, or see 'kohorte folder confirm'",
            code="trust-database-older",
        )

    def _decided_by_nobody(self) -> EngineError:
        return EngineError(
            f"cases of {self._what} were deleted or changed in the database, and nobody decided that; put the "
            "newest copy back, or see 'kohorte folder confirm'",
            code="trust-cases-changed",
        )


def back() -> EngineError:
    """The error of a row that was forgotten and is in the database again."""
    return EngineError(
        "somebody who was forgotten is in the database again: rows of an older copy were put back; restore the newest "
        "copy, or see 'kohorte folder confirm'",
        code="trust-forgotten-back",
    )
