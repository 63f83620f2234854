"""The log of spendings: a file beside the database, so that spendings are not lost when a backup is restored.

Every spending is on disk in this file before the transaction that pays for it ends. Entries are chained and
authenticated like those of the audit log. The database stores the last entry that it knows (`spent_head`): a log that
does not contain this entry, or does not continue it without a gap, is refused, and no query is answered. Later entries
are spendings that the database lacks, because it was restored from a backup or a process died; they are entered again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, select, update

from kohorte.errors import EngineError
from kohorte.service.keyring import flush_folder
from kohorte.service.storage.schema import now, spent_head
from kohorte.service.vault import Vault

START = "0" * 64
LONGEST_LINE = 1 << 16
REFUSED = ".refused"


@dataclass(frozen=True)
class Head:
    """The last entry that the database knows: its number, its code, and where it ends in the file."""

    number: int
    mac: str
    end: int

    def __str__(self) -> str:
        return f"{self.number}:{self.mac}"

    @classmethod
    def locked(cls, connection: Connection) -> Head:
        """Read the head and lock it until the transaction ends: spendings happen one after the other."""
        row = connection.execute(select(spent_head).with_for_update()).one()
        return cls(row.number, row.mac, row.end)

    def save(self, connection: Connection) -> None:
        """Write the head into the database."""
        connection.execute(update(spent_head).values(number=self.number, mac=self.mac, end=self.end))


@dataclass(frozen=True)
class Entry:
    """One line: its content, and the head after it."""

    facts: Mapping[str, Any]
    head: Head


class SpentLog:
    """The file; all methods are called while the head is locked."""

    def __init__(self, path: Path, vault: Vault) -> None:
        self.path = path
        self._vault = vault
        self._in_folder: int | None = None
        """The file whose entry in the folder is known to be on disk, by its number in the file system."""

    def last_number(self, head: Head) -> int:
        """Return the number of the last entry, or that of the head if the log is refused."""
        try:
            entries = self.after(head)
        except EngineError:
            return head.number
        return entries[-1].head.number if entries else head.number

    def begin(self, connection: Connection) -> None:
        """Begin the log of a new service, so that a missing file is noticed from the first spending on."""
        head = Head.locked(connection)
        if head.number == 0 and not self.path.exists():
            self.append(head, {"kind": "begin"}).save(connection)

    def append(self, head: Head, *facts: Mapping[str, Any]) -> Head:
        """Add entries and return when they are on disk; an incomplete line of a killed process is overwritten."""
        lines, begin = b"", head.end
        for one in facts:
            entry = {"number": head.number + 1, "at": now().isoformat(), **one, "previous": head.mac}
            mac = self._mac(entry)
            line = json.dumps({**entry, "mac": mac}).encode() + b"\n"
            head, lines = Head(head.number + 1, mac, head.end + len(line)), lines + line
        try:
            with os.fdopen(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600), "r+b") as file:
                file.truncate(begin)
                file.seek(begin)
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
                number = os.fstat(file.fileno()).st_ino
            if number != self._in_folder:
                flush_folder(self.path.parent)
                self._in_folder = number
        except OSError:
            raise _refusal("could not be written") from None
        return head

    def after(self, head: Head) -> list[Entry]:
        """Return the entries that the database lacks; refuse a log that does not contain and continue the head."""
        try:
            with self.path.open("rb") as file:
                if head.number:
                    self._refuse_without(file, head)
                return list(self._entries(file, head))
        except FileNotFoundError:
            raise _refusal("is missing") from None
        except OSError:
            raise _refusal("cannot be read") from None

    def readable(self, head: Head) -> list[Entry]:
        """Return, of a log that is refused, the entries after the head that are as they were written, in their order.

        Also of logs that were refused before and put aside: a process may have died before it was done with one.
        """
        found: dict[str, Entry] = {}
        for path in (*sorted(self.path.parent.glob(f"{self.path.name}.*{REFUSED}")), self.path):
            with suppress(OSError), path.open("rb") as file:
                for line in file:
                    facts = dict(_parsed(line))
                    mac, number = str(facts.pop("mac", None)), facts.get("number")
                    if isinstance(number, int) and number > head.number and self._is_ours(facts, mac):
                        found[mac] = Entry(facts, Head(number, mac, 0))
        return sorted(found.values(), key=lambda entry: entry.head.number)

    def put_aside(self) -> None:
        """Give a log that is refused another name, so that a new one can begin."""
        try:
            if self.path.exists():
                self.path.rename(self.path.with_name(f"{self.path.name}.{now():%Y%m%dT%H%M%S%f}{REFUSED}"))
        except OSError:
            raise _refusal("could not be put aside") from None

    def _refuse_without(self, file: BinaryIO, head: Head) -> None:
        """Refuse a log that does not have the head at the position stored in the database."""
        file.seek(max(0, head.end - LONGEST_LINE))
        before = file.read(min(head.end, LONGEST_LINE))
        if file.tell() < head.end:
            raise _refusal("is older than the database: it was truncated or replaced")
        _, _, line = before.removesuffix(b"\n").rpartition(b"\n")
        entry = _parsed(line)
        if not before.endswith(b"\n") or (entry.get("number"), entry.get("mac")) != (head.number, head.mac):
            raise _refusal("is not the one that this database was used with, or was changed")

    def _entries(self, file: BinaryIO, head: Head) -> Iterator[Entry]:
        for line in file:
            if not line.endswith(b"\n"):
                return  # a process was killed while writing; nothing was answered
            facts = dict(_parsed(line))
            mac = facts.pop("mac", None)
            fits = facts.get("number") == head.number + 1 and facts.get("previous") == head.mac
            if not fits or not self._is_ours(facts, str(mac)):
                raise _refusal(f"was changed: entry {head.number + 1} is not as it was written")
            head = Head(head.number + 1, str(mac), head.end + len(line))
            yield Entry(facts, head)

    def _is_ours(self, entry: Mapping[str, Any], mac: str) -> bool:
        return hmac.compare_digest(mac.encode(errors="replace"), self._mac(entry).encode())

    def _mac(self, entry: Mapping[str, Any]) -> str:
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        return hmac.new(self._vault.ring.chain_key("spent", entry["number"]), text.encode(), hashlib.sha256).hexdigest()


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _refusal(reason: str) -> EngineError:
    return EngineError(
        f"spent.log {reason}; no query is answered until it is restored, or until an operator confirms what was spent "
        "(kohorte service confirm-spent)",
        code="service-spent-log",
    )
