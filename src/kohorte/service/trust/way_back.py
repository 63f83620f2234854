"""The way back from pseudonyms, for users of the service; `kohorte.trust.way_back` decides and keeps the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kohorte.errors import AccessDenied, InputError
from kohorte.pseudonyms.resolving import Source
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust.domains import known_domains, refuse_version
from kohorte.service.trust.folders import name_of, note, opened
from kohorte.trust.way_back import Request, WayBack


def ask(
    service: Service, actor: Actor, source: Source, pseudonyms: Sequence[str], *, purpose: str, until: datetime
) -> dict[str, Any]:
    """Ask for the way back of some pseudonyms; whether any of them is known is neither looked up nor told."""
    with known_domains(service) as domains:
        refuse_version(domains.definition(source.domain), source.version)
        source.check(domains.folder, pseudonyms)
        request = WayBack(domains.folder).ask(
            str(source), pseudonyms, purpose=purpose, until=until, actor=name_of(actor)
        )
    note(service, actor, "ask-way-back", f"way back {request.number}", pseudonyms=request.items)
    return _shown(request)


def listed(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """Return the requests that the actor may see, the newest first."""
    with opened(service, Part.PSEUDONYMS) as folder:
        requests = WayBack(folder).all()
    return [_shown(request) for request in requests if _may_see(actor, request)]


def shown(service: Service, actor: Actor, number: int) -> dict[str, Any]:
    """Return a request that the actor may see."""
    with opened(service, Part.PSEUDONYMS) as folder:
        return _shown(_visible(WayBack(folder), actor, number))


def approve(service: Service, actor: Actor, number: int) -> dict[str, Any]:
    """Approve a request of somebody else."""
    with opened(service, Part.PSEUDONYMS) as folder:
        way_back = WayBack(folder)
        _visible(way_back, actor, number)
        request = way_back.approve(number, actor=name_of(actor))
    note(service, actor, "approve-way-back", f"way back {number}")
    return _shown(request)


def decline(service: Service, actor: Actor, number: int) -> dict[str, Any]:
    """Decline a request, or take back one's own."""
    with opened(service, Part.PSEUDONYMS) as folder:
        way_back = WayBack(folder)
        if _visible(way_back, actor, number).asked_by != name_of(actor):
            actor.refuse_without(Permission.APPROVE_WAY_BACK)
        request = way_back.decline(number, actor=name_of(actor))
    note(service, actor, "decline-way-back", f"way back {number}")
    return _shown(request)


def reveal(
    service: Service, actor: Actor, number: int, *, check: Callable[[str, Sequence[str]], None] | None = None
) -> list[tuple[str, str | None]]:
    """Return pseudonyms and what they stand for, once, to the person who asked.

    `check(source, pseudonyms)` may raise before the one time is used up. What is refused is in the log of the part; a
    person who may not see the request is told that there is none.
    """
    with opened(service, Part.PSEUDONYMS) as folder:

        def originals(source: str, pseudonyms: Sequence[str]) -> list[tuple[str, str | None]]:
            if check is not None:
                check(source, pseudonyms)
            found = list(zip(pseudonyms, Source.of(source).originals(folder, pseudonyms), strict=True))
            note(service, actor, "reveal-way-back", f"way back {number}", pseudonyms=len(found))
            return found  # only now is the one time used up

        way_back = WayBack(folder)
        try:
            return way_back.show(number, originals, actor=name_of(actor))
        except (AccessDenied, InputError):
            _visible(way_back, actor, number)
            raise


def notices(service: Service, actor: Actor) -> list[Mapping[str, Any]]:
    """Return what happened since this officer last looked; looking is an entry of the log, too."""
    with opened(service, Part.PSEUDONYMS) as folder:
        found = WayBack(folder).notices(actor=name_of(actor))
    note(service, actor, "read-notices", "way back", notices=len(found))
    return found


def _visible(way_back: WayBack, actor: Actor, number: int) -> Request:
    request = way_back.find(number)
    if request is None or not _may_see(actor, request):
        raise AccessDenied("there is no such request", code="not-found")
    return request


def _may_see(actor: Actor, request: Request) -> bool:
    sees_all = actor.may(Permission.APPROVE_WAY_BACK) or actor.may(Permission.READ_NOTICES)
    return sees_all or request.asked_by == name_of(actor)


def _shown(request: Request) -> dict[str, Any]:
    return request.to_dict(datetime.now(UTC))
