"""The way back from pseudonyms to PIDs, and from PIDs to people, for users of the service.

`kohorte.trust.way_back` decides and keeps the proof. Each part has its own requests: the house with the pseudonyms
shows PIDs, and the house with the patient list shows who they are, each with two approvers of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from kohorte.envelopes.keys import PublicKey
from kohorte.envelopes.results import ORIGINAL, PID, PSEUDONYM, Result, purpose_for, refuse_other_recipient
from kohorte.errors import AccessDenied, InputError
from kohorte.patients.consents.register import Consents
from kohorte.patients.identity import FIELDS
from kohorte.pseudonyms.resolving import Source
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust import approvers, limits
from kohorte.service.trust.domains import known_domains, refuse_version
from kohorte.service.trust.folders import name_of, note, opened
from kohorte.service.trust.patients import patient_list
from kohorte.trust.folder import TrustFolder
from kohorte.trust.pid import refuse_wrong
from kohorte.trust.way_back import Request, WayBack

PEOPLE = "patients"
"""The source of a request for people of the patient list, as on the command line."""


@dataclass(frozen=True)
class Wish:
    """For what purpose a request is, until when, and the key of the only recipient of the result, if there is one."""

    purpose: str
    until: datetime
    recipient: PublicKey | None = None

    @property
    def terms(self) -> dict[str, Any]:
        """What those who approve are told."""
        return {"purpose": purpose_for(self.purpose, self.recipient), "until": self.until}


@dataclass(frozen=True)
class Handing:
    """How a result is handed over: sealed for a recipient, in place of a column of a table, with consent."""

    recipient: PublicKey | None = None
    table: pl.DataFrame | None = field(default=None, repr=False)
    column: str = ""
    consent: str | None = None

    def envelope(self, result: Result) -> bytes | None:
        """The sealed result, if there is a recipient; without one nothing but the result itself is handed over."""
        if self.table is not None:
            result.refuse_taken(self.table, self.column)
        return None if self.recipient is None else result.sealed(self.table, self.column, self.recipient)


PLAIN = Handing()


def ask(service: Service, actor: Actor, source: Source, pseudonyms: Sequence[str], wish: Wish) -> dict[str, Any]:
    """Ask for the way back of some pseudonyms; whether any of them is known is neither looked up nor told."""
    limits.count(service, actor, len(pseudonyms))
    with known_domains(service) as domains:
        refuse_version(domains.definition(source.domain), source.version)
        source.check(domains.folder, pseudonyms)
        request = WayBack(domains.folder).ask(str(source), pseudonyms, **wish.terms, actor=name_of(actor))
    note(service, actor, "ask-way-back", _about(request.number, Part.PSEUDONYMS), pseudonyms=request.items)
    return _shown(request)


def ask_people(service: Service, actor: Actor, pids: Sequence[str], wish: Wish) -> dict[str, Any]:
    """Ask who some PIDs are; whether any of them is in the list is neither looked up nor told."""
    limits.count(service, actor, len(pids))
    refuse_wrong(pids)
    with opened(service, Part.PATIENTS) as folder:
        request = WayBack(folder).ask(PEOPLE, pids, **wish.terms, actor=name_of(actor))
    note(service, actor, "ask-way-back", _about(request.number, Part.PATIENTS), pids=request.items)
    return _shown(request)


def listed(service: Service, actor: Actor, *, part: Part = Part.PSEUDONYMS) -> list[dict[str, Any]]:
    """Return the requests that the actor may see, the newest first."""
    with opened(service, part) as folder:
        requests = WayBack(folder).all()
    return [_shown(request) for request in requests if _may_see(actor, request)]


def shown(service: Service, actor: Actor, number: int, *, part: Part = Part.PSEUDONYMS) -> dict[str, Any]:
    """Return a request that the actor may see."""
    with opened(service, part) as folder:
        return _shown(_visible(WayBack(folder), actor, number))


def approve(service: Service, actor: Actor, number: int, *, part: Part = Part.PSEUDONYMS) -> dict[str, Any]:
    """Approve a request of somebody else."""

    def independent(request: Request) -> None:
        approvers.refuse(service, request, (*request.approved_by, name_of(actor)))

    with opened(service, part) as folder:
        way_back = WayBack(folder)
        _visible(way_back, actor, number)
        request = way_back.approve(number, actor=name_of(actor), check=independent)
    note(service, actor, "approve-way-back", _about(number, part))
    return _shown(request)


def decline(service: Service, actor: Actor, number: int, *, part: Part = Part.PSEUDONYMS) -> dict[str, Any]:
    """Decline a request, or take back one's own."""
    with opened(service, part) as folder:
        way_back = WayBack(folder)
        if _visible(way_back, actor, number).asked_by != name_of(actor):
            actor.refuse_without(Permission.APPROVE_WAY_BACK)
        request = way_back.decline(number, actor=name_of(actor))
    note(service, actor, "decline-way-back", _about(number, part))
    return _shown(request)


def reveal(
    service: Service,
    actor: Actor,
    number: int,
    handing: Handing = PLAIN,
    *,
    check: Callable[[str, Sequence[str]], None] | None = None,
) -> tuple[Result, bytes | None]:
    """Return what the pseudonyms of a request stand for, once, to the person who asked, and its envelope, if any.

    `check(source, pseudonyms)` may raise before the one time is used up.
    """

    def originals(folder: TrustFolder, source: str, pseudonyms: Sequence[str]) -> Result:
        if check is not None:
            check(source, pseudonyms)
        pairs = zip(pseudonyms, Source.of(source).originals(folder, pseudonyms), strict=True)
        found: dict[str, tuple[str, ...] | None] = {one: None if text is None else (text,) for one, text in pairs}
        return Result((ORIGINAL,), found, PSEUDONYM, "")

    return _revealed(service, actor, number, Part.PSEUDONYMS, handing, originals)


def reveal_people(service: Service, actor: Actor, number: int, handing: Handing = PLAIN) -> tuple[Result, bytes | None]:
    """Return PIDs and the latest description of each person, once, to the person who asked, and its envelope, if any.

    With a purpose of consent, people who did not agree to it are as unknown ones.
    """

    def people(folder: TrustFolder, source: str, pids: Sequence[str]) -> Result:
        del folder, source
        with patient_list(service, actor) as patients:
            agreed = pids if handing.consent is None else Consents(patients).covered(pids, handing.consent).people
            wanted = [pid for pid in pids if pid in agreed]
            described = dict(zip(wanted, patients.described(wanted), strict=True))
        known = {pid: described.get(pid) for pid in pids}
        found = {pid: None if one is None else tuple(one.values) for pid, one in known.items()}
        return Result(tuple(FIELDS), found, PID, "")

    return _revealed(service, actor, number, Part.PATIENTS, handing, people)


def _revealed(
    service: Service,
    actor: Actor,
    number: int,
    part: Part,
    handing: Handing,
    look_up: Callable[[TrustFolder, str, Sequence[str]], Result],
) -> tuple[Result, bytes | None]:
    """Look up what was asked for, once.

    What is refused is in the log of the part; a person who may not see the request is told that there is none.
    """
    with opened(service, part) as folder:
        way_back = WayBack(folder)

        def found(source: str, items: Sequence[str]) -> tuple[Result, bytes | None]:
            result = look_up(folder, source, items)
            envelope = handing.envelope(result)
            note(service, actor, "reveal-way-back", _about(number, part), shown=result.asked)
            return result, envelope  # only now is the one time used up

        def check(request: Request) -> None:
            approvers.refuse(service, request, request.approved_by)
            refuse_other_recipient(request.purpose, handing.recipient)

        try:
            return way_back.show(number, found, actor=name_of(actor), check=check)
        except (AccessDenied, InputError):
            _visible(way_back, actor, number)
            raise


def notices(service: Service, actor: Actor, *, part: Part = Part.PSEUDONYMS) -> list[Mapping[str, Any]]:
    """Return what happened since this officer last looked; looking is an entry of the log, too."""
    with opened(service, part) as folder:
        found = WayBack(folder).notices(actor=name_of(actor))
    note(service, actor, "read-notices", str(part), notices=len(found))
    return found


def _visible(way_back: WayBack, actor: Actor, number: int) -> Request:
    request = way_back.find(number)
    if request is None or not _may_see(actor, request):
        raise AccessDenied("there is no such request", code="not-found")
    return request


def _may_see(actor: Actor, request: Request) -> bool:
    sees_all = actor.may(Permission.APPROVE_WAY_BACK) or actor.may(Permission.READ_NOTICES)
    return sees_all or request.asked_by == name_of(actor)


def _about(number: int, part: Part) -> str:
    return f"way back {number} of {part}"


def _shown(request: Request) -> dict[str, Any]:
    return request.to_dict(datetime.now(UTC))
