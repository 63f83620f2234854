"""The way back from pseudonyms to PIDs, and from PIDs to people, for users of the service.

`kohorte.trust.way_back` decides and keeps the proof. Each part has its own requests: the house with the pseudonyms
shows PIDs, and the house with the patient list shows who they are, each with two approvers of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from kohorte.errors import AccessDenied, InputError
from kohorte.pseudonyms.resolving import Source
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust import approvers, limits
from kohorte.service.trust.domains import known_domains, refuse_version
from kohorte.service.trust.folders import name_of, note, opened
from kohorte.service.trust.patients import fields_of, patient_list
from kohorte.trust.folder import TrustFolder
from kohorte.trust.pid import refuse_wrong
from kohorte.trust.way_back import Request, WayBack

PEOPLE = "patients"
"""The source of a request for people of the patient list, as on the command line."""
Result = TypeVar("Result")


def ask(
    service: Service, actor: Actor, source: Source, pseudonyms: Sequence[str], *, purpose: str, until: datetime
) -> dict[str, Any]:
    """Ask for the way back of some pseudonyms; whether any of them is known is neither looked up nor told."""
    limits.count(service, actor, len(pseudonyms))
    with known_domains(service) as domains:
        refuse_version(domains.definition(source.domain), source.version)
        source.check(domains.folder, pseudonyms)
        request = WayBack(domains.folder).ask(
            str(source), pseudonyms, purpose=purpose, until=until, actor=name_of(actor)
        )
    note(service, actor, "ask-way-back", _about(request.number, Part.PSEUDONYMS), pseudonyms=request.items)
    return _shown(request)


def ask_people(service: Service, actor: Actor, pids: Sequence[str], *, purpose: str, until: datetime) -> dict[str, Any]:
    """Ask who some PIDs are; whether any of them is in the list is neither looked up nor told."""
    limits.count(service, actor, len(pids))
    refuse_wrong(pids)
    with opened(service, Part.PATIENTS) as folder:
        request = WayBack(folder).ask(PEOPLE, pids, purpose=purpose, until=until, actor=name_of(actor))
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
    service: Service, actor: Actor, number: int, *, check: Callable[[str, Sequence[str]], None] | None = None
) -> list[tuple[str, str | None]]:
    """Return pseudonyms and what they stand for, once, to the person who asked.

    `check(source, pseudonyms)` may raise before the one time is used up.
    """

    def originals(folder: TrustFolder, source: str, pseudonyms: Sequence[str]) -> list[str | None]:
        if check is not None:
            check(source, pseudonyms)
        return Source.of(source).originals(folder, pseudonyms)

    return _revealed(service, actor, number, Part.PSEUDONYMS, originals)


def reveal_people(service: Service, actor: Actor, number: int) -> list[tuple[str, dict[str, str] | None]]:
    """Return PIDs and the latest description of each person, once, to the person who asked."""

    def people(folder: TrustFolder, source: str, pids: Sequence[str]) -> list[dict[str, str] | None]:
        del folder, source
        with patient_list(service, actor) as patients:
            return [None if one is None else fields_of(one) for one in patients.described(pids)]

    return _revealed(service, actor, number, Part.PATIENTS, people)


def _revealed(
    service: Service,
    actor: Actor,
    number: int,
    part: Part,
    look_up: Callable[[TrustFolder, str, Sequence[str]], Sequence[Result | None]],
) -> list[tuple[str, Result | None]]:
    """Look up what was asked for, once.

    What is refused is in the log of the part; a person who may not see the request is told that there is none.
    """
    with opened(service, part) as folder:
        way_back = WayBack(folder)

        def found(source: str, items: Sequence[str]) -> list[tuple[str, Result | None]]:
            pairs = list(zip(items, look_up(folder, source, items), strict=True))
            note(service, actor, "reveal-way-back", _about(number, part), shown=len(pairs))
            return pairs  # only now is the one time used up

        try:
            return way_back.show(
                number,
                found,
                actor=name_of(actor),
                check=lambda request: approvers.refuse(service, request, request.approved_by),
            )
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
