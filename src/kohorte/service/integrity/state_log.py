"""state.log: a file beside the database that records the latest version of every marked row, and the audit head.

A row that was put back to an older state has a valid mark. This file shows that it is older: a line is added after
every transaction that marked rows. A version may be newer than the file says (a process died before it wrote the line),
because nobody without the key can make one; it must never be older. The last line may be a head, which only says how
far the audit log is; the next line replaces it. Lines are chained and authenticated like those of the audit log.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from kohorte.errors import EngineError
from kohorte.service.integrity.floors import START, Floors
from kohorte.service.keyring import MasterKey, flush_folder
from kohorte.service.storage.changes import Changes
from kohorte.service.storage.schema import now
from kohorte.service.vault import Vault

ALL, ROWS, HEAD = "all", "rows", "head"


class StateLog:
    """The file, and in memory what it says; `refresh` reads what other processes have added."""

    def __init__(self, path: Path, vault: Vault) -> None:
        self.path = path
        self.floors = Floors()
        self._vault = vault
        self._lock = threading.RLock()
        self._seen: tuple[int, ...] | None = None

    @property
    def number(self) -> int:
        """The number of the last line that was read, without a head; it grows for ever."""
        return self.floors.number

    @property
    def audit(self) -> tuple[int, str]:
        """Number and code of the last entry of the audit log that the file knows."""
        return self.floors.audit

    def refresh(self) -> None:
        """Read what was added since the last time; refuse a file that is missing, older than before, or changed."""
        if self._signature() != self._seen or self._seen is None:
            with self._lock, self._opened(fcntl.LOCK_SH) as file:
                self._read(file)

    def append(self, changes: Changes) -> None:
        """Add what a transaction has changed; when this returns, versions of rows are on disk."""
        with self._lock, self._opened(fcntl.LOCK_EX) as file:
            self._read(file)
            rows = {name: version for name, version in changes.rows.items() if version > self.floors.newest(name)}
            audit = max(self.audit, changes.audit or self.audit)
            if rows or audit != self.audit:
                kind, number = (ROWS, self.number + 1) if rows else (HEAD, self.number)
                line = self._line(kind, number, rows, audit, previous=self.floors.mac)
                _write(file, line, self.floors.end, sync=bool(rows))
                self._read(file)

    def rewrite(self, rows: Mapping[str, int], audit: tuple[int, str], *, after: int = 0) -> None:
        """Replace the file by one line with all rows; its number is above `after` and that of the present file."""
        with self._lock:
            if self.path.exists():
                with self._opened(fcntl.LOCK_EX):
                    self._replace(self._line(ALL, max(self.number, after) + 1, rows, audit, previous=START))
            else:
                self._replace(self._line(ALL, max(self.number, after) + 1, rows, audit, previous=START))
            self._forget()
            self.refresh()

    def seal_again(self) -> None:
        """Write the file again with the current key."""
        with self._lock, self._opened(fcntl.LOCK_EX) as file:
            self._read(file)
            self._replace(self._line(ALL, self.number + 1, self.floors.all(), self.audit, previous=START))
            self._forget()
        self.refresh()

    def _read(self, file: BinaryIO) -> None:
        """Read the lines that are not known yet; the caller has locked the file."""
        status = os.fstat(file.fileno())
        known, before = self.floors, self.number
        is_same = self._seen is not None and self._seen[0] == status.st_ino and status.st_size >= known.end
        if not is_same or not self._continued(file, known):
            known = Floors()
            if not self._continued(file, known):
                raise _refusal("was changed: a line is not as it was written")
        if known.number < before:
            raise _refusal("is older than before: it was truncated or replaced")
        self.floors, self._seen = known, _signature_of(status)

    def _continued(self, file: BinaryIO, known: Floors) -> bool:
        """Whether all lines after the known ones fit; they are added to what is known."""
        file.seek(known.end)
        for line in file:
            if not line.endswith(b"\n"):
                break  # a process was killed while writing; the next line replaces it
            entry = _parsed(line)
            mac = str(entry.pop("mac", None))
            if not self._is_ours(entry, mac) or not known.add(entry, mac, len(line)):
                return False
        return known.end > 0

    def _line(self, kind: str, number: int, rows: Mapping[str, int], audit: tuple[int, str], *, previous: str) -> bytes:
        entry = {
            "number": number,
            "kind": kind,
            "at": now().isoformat(timespec="seconds"),
            "rows": dict(rows),
            "audit": list(audit),
            "previous": previous,
        }
        return json.dumps({**entry, "mac": _mac(self._vault.ring.current, entry)}).encode() + b"\n"

    def _is_ours(self, entry: Mapping[str, Any], mac: str) -> bool:
        given = mac.encode(errors="replace")
        return any(hmac.compare_digest(given, _mac(key, entry).encode()) for key in self._vault.ring.all)

    def _replace(self, line: bytes) -> None:
        temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.tmp")
        try:
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
            flush_folder(self.path.parent)
        except OSError:
            raise _refusal("could not be written") from None
        finally:
            temporary.unlink(missing_ok=True)

    def _forget(self) -> None:
        """Read the file from its beginning the next time; its last number must not be lower than the known one."""
        self._seen = None

    @contextmanager
    def _opened(self, lock: int) -> Iterator[BinaryIO]:
        """The file, locked; if it was replaced while this waited for the lock, the new one."""
        while True:
            try:
                file = self.path.open("r+b" if lock == fcntl.LOCK_EX else "rb", buffering=-1)
            except FileNotFoundError:
                raise _refusal("is missing") from None
            except OSError:
                raise _refusal("cannot be read or written") from None
            with file:
                fcntl.flock(file, lock)
                if self._is_at_path(file):
                    yield file
                    return

    def _is_at_path(self, file: BinaryIO) -> bool:
        there = self._signature()
        return there is not None and there[0] == os.fstat(file.fileno()).st_ino

    def _signature(self) -> tuple[int, ...] | None:
        try:
            return _signature_of(self.path.stat())
        except OSError:
            return None


def _write(file: BinaryIO, line: bytes, end: int, *, sync: bool) -> None:
    """Write a line at a position and cut off what was there: a head, or an incomplete line."""
    try:
        file.truncate(end)
        file.seek(end)
        file.write(line)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    except OSError:
        raise _refusal("could not be written") from None


def _signature_of(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _mac(key: MasterKey, entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return hmac.new(key.derived("state log"), text.encode(), hashlib.sha256).hexdigest()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _refusal(reason: str) -> EngineError:
    return EngineError(
        f"state.log {reason}; put the newest copy back, or let an operator confirm the rows of the database "
        "(kohorte service confirm-rows)",
        code="service-state-log",
    )
