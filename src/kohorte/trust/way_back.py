"""The way back from pseudonyms to what they stand for: one person asks, two others approve, and it is shown once.

Guarantee
    Nothing is shown unless two people, neither of whom asked, approved the request before it expired, and then only
    to the person who asked, once. Every step, and every step that was refused, is an entry of the chained log, and is
    a notice to data protection officers.
Leaves open
    The account that owns the folder has the keys. If the people must be kept apart by the machine, they use the
    service. A person who has seen the result can keep it.

A request has no state of its own: the log is read and verified, so that an approval cannot be added, and a result
cannot be shown a second time, by a change of a file. Purpose and pseudonyms are in a sealed file; the pseudonyms are
removed when they have been shown, or can no longer be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from kohorte.data import atomic_write
from kohorte.errors import AccessDenied, EngineError, InputError
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import Known
from kohorte.trust.notices import APPROVED, ASKED, DECLINED, REFUSED, SHOWN, TOLD
from kohorte.trust.private_files import locked

APPROVALS = 2
MOST_DAYS = 31
MOST_ITEMS = 10_000
SHORTEST_PURPOSE = 10
FOLDER = "requests"
NOTICED = "read notices"
MOST_READ = 16
Result = TypeVar("Result")


class State(StrEnum):
    """How far a request is."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    SHOWN = "shown"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Request:
    """A request, as the log tells it; `source` is where the pseudonyms are from, such as "domain study"."""

    number: int
    source: str
    items: int
    asked_by: str
    asked_at: datetime
    until: datetime
    approved_by: tuple[str, ...] = ()
    declined_by: str | None = None
    shown_at: datetime | None = None
    purpose: str = field(default="", repr=False)

    def state(self, now: datetime) -> State:
        """How far the request is at a moment."""
        if self.shown_at is not None:
            return State.SHOWN
        if self.declined_by is not None:
            return State.DECLINED
        if now >= self.until:
            return State.EXPIRED
        return State.APPROVED if len(self.approved_by) >= APPROVALS else State.OPEN

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """Return everything but the pseudonyms."""
        return {
            "request": self.number,
            "state": str(self.state(now)),
            "source": self.source,
            "pseudonyms": self.items,
            "purpose": self.purpose,
            "until": self.until.isoformat(timespec="seconds"),
            "asked_by": self.asked_by,
            "asked_at": self.asked_at.isoformat(timespec="seconds"),
            "approved_by": list(self.approved_by),
            "approvals_missing": max(APPROVALS - len(self.approved_by), 0),
            "declined_by": self.declined_by,
            "shown_at": None if self.shown_at is None else self.shown_at.isoformat(timespec="seconds"),
        }


_READ: dict[tuple[str, str], tuple[Known, dict[int, Request]]] = {}
"""What this process has read of logs."""


class WayBack:
    """The requests of a folder. Actors have been identified by the caller, who also knows their roles."""

    def __init__(self, folder: TrustFolder, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._folder = folder
        self._clock = clock
        self._path = folder.path / FOLDER

    def ask(self, source: str, items: Iterable[str], *, purpose: str, until: datetime, actor: str) -> Request:
        """Ask for the way back of some pseudonyms. Whether any is known is not looked up, and not told."""
        wanted = list(dict.fromkeys(items))
        now, words = self._clock(), " ".join(purpose.split())
        if not 1 <= len(wanted) <= MOST_ITEMS:
            raise InputError(f"a request is for 1 to {MOST_ITEMS:,} pseudonyms", code="way-back-pseudonyms")
        if len(words) < SHORTEST_PURPOSE:
            raise InputError(
                f"say for what purpose, in at least {SHORTEST_PURPOSE} characters", code="way-back-purpose"
            )
        if not words.isprintable():
            raise InputError(
                "a purpose has no invisible or control characters: those who approve must read what is there",
                code="way-back-purpose",
            )
        end = (now + timedelta(days=MOST_DAYS + 1)).replace(hour=0, minute=0, second=0, microsecond=0)
        if not now < until < end:  # until the end of the last day: people name days, not moments
            raise InputError(
                f"until: a request expires in the future, and within {MOST_DAYS} days", code="way-back-until"
            )
        with self._alone():
            number = max((request.number for request in self._requests().values()), default=0) + 1
            self._seal(number, {"purpose": words, "items": wanted})
            self._note(ASKED, number, actor, source=source, items=len(wanted), until=until.isoformat())
            return self._request(number)

    def approve(self, number: int, *, actor: str, check: Callable[[Request], None] | None = None) -> Request:
        """Approve a request of somebody else; `check(request)` may refuse the approver."""
        with self._alone():
            request = self._waiting(number, actor)
            if actor == request.asked_by:
                raise self._refused(number, actor, "a person cannot approve their own request", code="way-back-own")
            if actor in request.approved_by:
                raise self._refused(
                    number, actor, "another person must be the second to approve", code="way-back-twice"
                )
            if check is not None:
                self._checked(check, request, actor)
            self._note(APPROVED, number, actor)
            return self._request(number)

    def decline(self, number: int, *, actor: str, own_only: bool = False) -> Request:
        """Decline a request for good, or, with `own_only`, take back one's own."""
        with self._alone():
            request = self._waiting(number, actor)
            if own_only and actor != request.asked_by:
                raise self._refused(number, actor, "only approvers decline requests of others", code="way-back-other")
            self._note(DECLINED, number, actor)
            self._seal(number, {**self._sealed(number), "items": []})
            return self._request(number)

    def decline_all(self, *, actor: str) -> int:
        """Decline all requests that wait: after an older log was put back, one of them may have been shown before."""
        with self._alone():
            waiting = [
                number
                for number, request in self._requests().items()
                if request.state(self._clock()) in (State.OPEN, State.APPROVED)
            ]
            for number in waiting:
                self._note(DECLINED, number, actor)
                self._seal(number, {**self._sealed(number), "items": []})
        return len(waiting)

    def show(
        self,
        number: int,
        reveal: Callable[[str, Sequence[str]], Result],
        *,
        actor: str,
        check: Callable[[Request], None] | None = None,
    ) -> Result:
        """Show the result of `reveal(source, pseudonyms)` to the person who asked, once.

        `check(request)` may refuse the approvers, or a recipient whom the purpose does not name.
        """
        with self._alone():
            request = self._waiting(number, actor)
            if actor != request.asked_by:
                raise self._refused(
                    number, actor, "only the person who asked can see the result", code="way-back-other"
                )
            if request.state(self._clock()) is not State.APPROVED:
                missing = APPROVALS - len(request.approved_by)
                raise self._refused(
                    number, actor, f"approvals are missing: {missing} of {APPROVALS}", code="way-back-open"
                )
            content = self._sealed(number)
            if check is not None:
                self._checked(check, replace(request, purpose=content["purpose"]), actor)
            found = reveal(request.source, content["items"])  # fails before the one time is used up
            self._note(SHOWN, number, actor)
            self._seal(number, {**content, "items": []})
            return found

    def all(self) -> list[Request]:
        """All requests with their purposes, the newest first."""
        with self._alone():
            found = self._requests()
            self._forget_expired(found.values())
            return [self._with_purpose(request) for request in reversed(list(found.values()))]

    def find(self, number: int) -> Request | None:
        """One request with its purpose; None if there is none with this number."""
        with self._alone():
            found = self._requests().get(number)
            return None if found is None else self._with_purpose(found)

    def notices(self, *, actor: str) -> list[Mapping[str, Any]]:
        """What happened since this officer last looked; looking is an entry, too."""
        with self._alone():
            notices: list[Mapping[str, Any]] = []
            for entry in self._folder.log.verified_entries():
                if entry["action"] == NOTICED and entry["actor"] == actor:
                    notices.clear()
                elif entry["action"] in TOLD:
                    notices.append({name: entry[name] for name in ("at", "actor", "action", "about", "details")})
            self._folder.log.append(NOTICED, "way back", actor=actor)
        return notices

    def _waiting(self, number: int, actor: str) -> Request:
        """The request, if something can still be done with it."""
        requests = self._requests()
        if number not in requests:
            raise InputError(f"there is no request {number}", code="way-back-unknown")
        request = requests[number]
        state = request.state(self._clock())
        if state in (State.SHOWN, State.DECLINED, State.EXPIRED):
            self._forget_expired([request])
            raise self._ended(number, actor, state)
        return request

    def _requests(self) -> dict[int, Request]:
        """All requests, as the whole log tells them; entries that this process has verified are not verified again."""
        log = self._folder.log
        place = (str(log.path.absolute()), log.fingerprint(FOLDER))  # of this log, with this key
        known, found = _READ.get(place, (Known(), {}))
        read = log.verified_after(known)
        if read is None:  # another log, such as one that was restored
            read, found = log.verified_after(Known()), {}
        known, new = read or (Known(), [])
        found = self._told(new, found)
        if len(_READ) >= MOST_READ:
            _READ.clear()
        _READ[place] = known, found
        return dict(found)

    @staticmethod
    def _told(entries: Iterable[Mapping[str, Any]], before: Mapping[int, Request]) -> dict[int, Request]:
        found = dict(before)
        for entry in entries:
            action, at = entry["action"], datetime.fromisoformat(entry["at"])
            if action not in (ASKED, APPROVED, DECLINED, SHOWN):
                continue
            number, actor, details = int(entry["about"].removeprefix("request ")), entry["actor"], entry["details"]
            if action == ASKED:
                until = datetime.fromisoformat(details["until"])
                found[number] = Request(number, details["source"], details["items"], actor, at, until)
            elif action == APPROVED:
                found[number] = replace(found[number], approved_by=(*found[number].approved_by, actor))
            elif action == DECLINED:
                found[number] = replace(found[number], declined_by=actor)
            else:
                found[number] = replace(found[number], shown_at=at)
        return found

    def _request(self, number: int) -> Request:
        return self._with_purpose(self._requests()[number])

    def _with_purpose(self, request: Request) -> Request:
        return replace(request, purpose=self._sealed(request.number)["purpose"])

    def _forget_expired(self, requests: Iterable[Request]) -> None:
        for request in requests:
            if request.state(self._clock()) is State.EXPIRED and (content := self._sealed(request.number))["items"]:
                self._seal(request.number, {**content, "items": []})

    def _note(self, action: str, number: int, actor: str, **details: str | int) -> None:
        self._folder.log.append(action, f"request {number}", actor=actor, **details)

    def _ended(self, number: int, actor: str, state: State) -> AccessDenied:
        if state is State.SHOWN:
            return self._refused(number, actor, "the result was shown already; ask again", code="way-back-shown")
        if state is State.DECLINED:
            return self._refused(number, actor, "the request was declined; ask again", code="way-back-declined")
        return self._refused(number, actor, "the request has expired; ask again", code="way-back-expired")

    def _checked(self, check: Callable[[Request], None], request: Request, actor: str) -> None:
        try:
            check(request)
        except AccessDenied as error:
            raise self._refused(request.number, actor, error.message, code=error.code) from None

    def _refused(self, number: int, actor: str, words: str, *, code: str) -> AccessDenied:
        self._note(REFUSED, number, actor, reason=code)
        return AccessDenied(words, code=code)

    def _alone(self) -> AbstractContextManager[None]:
        self._path.mkdir(mode=0o700, exist_ok=True)
        return locked(self._path)

    def _sealed(self, number: int) -> dict[str, Any]:
        try:
            sealed = self._file(number).read_bytes()
        except OSError:
            raise EngineError(
                f"the file of request {number} is missing or cannot be read; restore the folder from a copy",
                code="trust-damaged",
            ) from None
        content: dict[str, Any] = json.loads(self._folder.sealer(FOLDER).unseal(sealed, row=str(number).encode()))
        return content

    def _seal(self, number: int, content: Mapping[str, object]) -> None:
        sealed = self._folder.sealer(FOLDER).seal(json.dumps(content).encode(), row=str(number).encode())
        with atomic_write(self._file(number), force=True, private=True) as temporary:
            temporary.write_bytes(sealed)

    def _file(self, number: int) -> Path:
        return self._path / f"{number}.sealed"
