"""An append-only log: who did what, one JSON object per line, each chained to the line before.

The chain is keyed (HMAC-SHA-256). A person who can write to the file but has no key cannot add, change or remove a line
unnoticed. The removal of the last lines is noticed by log.head beside it, by databases that note how far the log was
(`trust.ties`), and by a head that was noted elsewhere. An entry has counts and names of domains, never identity data, a
pseudonym or a token; `fingerprint` stands for one where an entry must be recognised later.
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from kohorte.errors import EngineError, InputError
from kohorte.trust.keys import Key
from kohorte.trust.notices import CONFIRMED, notice_folder, write_notice
from kohorte.trust.private_files import locked
from kohorte.trust.records.facts import Facts
from kohorte.trust.records.heads import NONE, Head, HeadFile, cut

LONGEST_REASON = 500
TAIL = 1 << 16
"""An entry is shorter; the last one is found in the last bytes of the file."""
PORTION = 1 << 20
FINGERPRINT_BYTES = 16
Detail: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Known:
    """The beginning of a log that was verified: its length in bytes, its hash, and its last entry."""

    end: int = 0
    digest: str = hashlib.sha256().hexdigest()
    head: Head = NONE


@dataclass(frozen=True)
class LogCheck:
    """The result of a verification: how many entries are whole, the head, the times, and the first wrong line."""

    entries: int
    head: Head
    first_wrong: int | None
    first_at: str | None = None
    last_at: str | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return self.first_wrong is None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "whole": self.whole,
            "entries": self.entries,
            "head": str(self.head),
            "first_at": self.first_at,
            "last_at": self.last_at,
            "first_wrong": self.first_wrong,
        }


@dataclass
class _Followed:
    """How far this process has verified a log, and what it says."""

    file: int = -1
    end: int = 0
    facts: Facts = field(default_factory=Facts)


_FOLLOWED: dict[tuple[str, bytes], _Followed] = {}
_FOLLOWING = threading.RLock()


def account() -> str:
    """The account that runs this process: the actor where nobody signs in."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "unknown account"


class Log:
    """The log file of a folder; several processes may append to it."""

    def __init__(self, path: Path, key: Key) -> None:
        self.path = path
        self._chain = key.derived("log chain")
        self._names = key.derived("log fingerprints")
        self._head_file = HeadFile(path.with_suffix(".head"), key.derived("log head"))

    def __repr__(self) -> str:
        return f"Log({str(self.path)!r})"

    def fingerprint(self, text: str) -> str:
        """Stands for a text in an entry: equal texts have equal fingerprints, and no key no way back."""
        return hmac.digest(self._names, text.encode(), "sha256")[:FINGERPRINT_BYTES].hex()

    def append(self, action: str, about: str, *, actor: str, **details: Detail) -> Head:
        """Add an entry, on disk when this returns, and the notice that goes with some actions."""
        notices = notice_folder(action)
        with self._failures():
            self.path.touch(mode=0o600)
            with locked(self.path), self.path.open("r+b") as file:
                end, last = self._last(file.seek(0, os.SEEK_END), file)
                if (known := self._head_file.read()) is None and last.number:
                    raise self._without_head()
                self._refuse_before(known or Head(), last)
                entry: dict[str, Any] = {
                    "number": last.number + 1,
                    "at": datetime.now(UTC).isoformat(timespec="microseconds"),
                    "actor": actor,
                    "action": action,
                    "about": about,
                    "details": details,
                    "previous": last.code,
                }
                code = self._code(entry)
                file.seek(end)
                file.truncate()  # a line that a crash left unfinished was never an entry
                file.write(json.dumps(entry | {"code": code}).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
                self._head_file.write(Head(entry["number"], code))
        if notices is not None:
            write_notice(notices, action, entry["at"], code)
        return Head(entry["number"], code)

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """Read all entries; `verify` says whether they are true."""
        for line in self._lines():
            if (entry := _parsed(line)) is not None:
                yield entry

    def verified_entries(self) -> Iterator[Mapping[str, Any]]:
        """Read all entries; the first one that is not true, or a log that was cut, ends the reading with an error."""
        last, known = Head(), self._known()
        for line in self._lines():
            entry = self._next(line, last)
            last = Head(entry["number"], entry["code"])
            yield entry
        self._refuse_before(known, last)

    def checked(self) -> Facts:
        """Verify the whole log and return what it says; what this process has verified is not read again.

        A log that was cut, or replaced by one that lacks what this process has seen, is refused.
        """
        place = (str(self.path.absolute()), self._chain)
        with _FOLLOWING, self._failures():
            known = self._known()
            followed = _FOLLOWED.setdefault(place, _Followed())
            status = self.path.stat() if self.path.exists() else None
            if status is None or status.st_ino != followed.file or status.st_size < followed.end:
                seen, followed = followed.facts.head, _Followed(status.st_ino if status is not None else -1)
                self._follow(followed)
                if not followed.facts.has(seen):
                    raise cut(self.path.parent, "the log was replaced by another or an older one")
                _FOLLOWED[place] = followed
            elif status.st_size > followed.end:
                self._follow(followed)
            if not followed.facts.has(known):
                raise self._ends_early()
            return followed.facts

    def _follow(self, followed: _Followed) -> None:
        """Verify what comes after what was verified."""
        if followed.file < 0:
            return
        with self.path.open("rb") as file:
            file.seek(followed.end)
            for line in file:
                if line.endswith(b"\n"):  # an unfinished last line was never an entry
                    followed.facts.note(self._next(line[:-1], followed.facts.head))
                    followed.end += len(line)

    def confirm(self, *, reason: str, actor: str, **details: Detail) -> Head:
        """Accept a log whose last entries are missing, or that has no log.head, as it is; its chain must be whole."""
        if not 0 < len(reason.strip()) <= LONGEST_REASON:
            raise InputError(f"--reason: is a text of 1 to {LONGEST_REASON} characters", code="trust-reason")
        last = Head()
        for line in self._lines():
            entry = self._next(line, last)
            last = Head(entry["number"], entry["code"])
        with self._failures():
            self._head_file.write(last)
        with _FOLLOWING:
            _FOLLOWED.pop((str(self.path.absolute()), self._chain), None)
        return self.append(CONFIRMED, "the folder", actor=actor, reason=reason.strip(), **details)

    def verified_after(self, known: Known) -> tuple[Known, list[Mapping[str, Any]]] | None:
        """Verify the entries after a beginning that was verified before, and return it with them.

        None if the log does not begin like this any more. To hash bytes is about fifty times as fast as to verify them.
        """
        noted = self._known()
        if not self.path.exists():
            self._refuse_before(noted, Head())
            return (known, []) if known == Known() else None
        entries: list[Mapping[str, Any]] = []
        with self._failures(), self.path.open("rb") as file:
            digest, left = hashlib.sha256(), known.end
            while left and (part := file.read(min(left, PORTION))):
                digest.update(part)
                left -= len(part)
            if left or digest.hexdigest() != known.digest:
                return None
            end, last = known.end, known.head
            for line in file:
                if line.endswith(b"\n"):  # an unfinished last line was never an entry
                    entries.append(self._next(line[:-1], last))
                    digest.update(line)
                    end, last = end + len(line), Head(entries[-1]["number"], entries[-1]["code"])
        self._refuse_before(noted, last)
        return Known(end, digest.hexdigest(), last), entries

    def verify(self, expected: Head | None = None) -> LogCheck:
        """Verify the whole chain; `expected` is a head noted before, which the log must still contain."""
        facts, wrong, noted, lost = Facts(), None, [] if expected is None else [expected], False
        try:
            noted.append(self._known())
        except EngineError:
            lost = True
        for number, line in enumerate(self._lines(), start=1):
            entry = _parsed(line)
            if entry is None or not self._fits(entry, facts.head):
                wrong = number
                break
            facts.note(entry)
        last = facts.head.number
        if wrong is None:
            missing = [min(head.number, last + 1) for head in noted if not facts.has(head)]
            wrong = min(missing, default=last + 1 if lost and last else None)
        return LogCheck(last, facts.head, wrong, facts.first_at, facts.last_at)

    def _known(self) -> Head:
        """How far the log was, by log.head; read this before the log, which may grow meanwhile."""
        known = self._head_file.read()
        if known is None and self.path.exists():
            with locked(self.path):  # perhaps somebody is adding the first entry
                known = self._head_file.read()
                if known is None and any(True for _ in self._lines()):
                    raise self._without_head()
        return known or Head()

    def _refuse_before(self, known: Head, last: Head) -> None:
        """Refuse a log that ends before log.head."""
        if known.number > last.number or (known.number == last.number and known != last):
            raise self._ends_early()

    def _without_head(self) -> EngineError:
        return cut(self.path.parent, "log.head is missing, so that nobody knows whether the last entries are there")

    def _ends_early(self) -> EngineError:
        return cut(self.path.parent, "the last entries are missing, or it is an older copy")

    def _next(self, line: bytes, last: Head) -> dict[str, Any]:
        """Return the entry of a line that must follow the last one."""
        entry = _parsed(line)
        if entry is None or not self._fits(entry, last):
            raise EngineError(
                f"{self.path}: line {last.number + 1} of the log was changed, or lines are missing before it",
                code="trust-log-broken",
            )
        return entry

    def _fits(self, entry: Mapping[str, Any], last: Head) -> bool:
        content = {name: value for name, value in entry.items() if name != "code"}
        follows = entry.get("number") == last.number + 1 and entry.get("previous") == last.code
        return follows and hmac.compare_digest(str(entry.get("code")).encode(), self._code(content).encode())

    def _code(self, entry: Mapping[str, Any]) -> str:
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        return hmac.digest(self._chain, text.encode(), "sha256").hex()

    def _last(self, size: int, file: Any) -> tuple[int, Head]:
        """Where the last whole line ends, and the head; the last line must be one of ours."""
        begin = max(size - TAIL, 0)
        file.seek(begin)
        data = file.read(size - begin)
        end = data.rfind(b"\n") + 1
        if end == 0:
            if begin:
                raise self._broken()
            return 0, Head()
        start = data.rfind(b"\n", 0, end - 1) + 1
        entry = _parsed(data[start : end - 1])
        if entry is None or not self._fits(entry, Head(entry.get("number", 0) - 1, entry.get("previous", ""))):
            raise self._broken()
        return begin + end, Head(entry["number"], entry["code"])

    def _lines(self) -> Iterator[bytes]:
        with self._failures():
            if not self.path.exists():
                return
            with self.path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):  # an unfinished last line was never an entry
                        yield line[:-1]

    def _broken(self) -> EngineError:
        return EngineError(
            f"{self.path}: the last line of the log was changed, or written with another key; nothing is added to it",
            code="trust-log-broken",
        )

    def _failures(self) -> _Failures:
        return _Failures(self.path)


class _Failures:
    """Turns a failure of the file system into an error of Kohorte."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise EngineError(f"{self.path}: the log could not be read or written", code="trust-log-failed") from None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("number"), int) else None
