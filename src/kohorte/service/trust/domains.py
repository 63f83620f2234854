"""Domains and their pseudonyms, for users of the service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kohorte.errors import AccessDenied, InputError
from kohorte.pseudonyms.definition import Definition, KeyState
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.texts import Dates, Pseudonymized, pseudonymized
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust import limits
from kohorte.service.trust.folders import name_of, note, opened


@contextmanager
def known_domains(service: Service) -> Iterator[Domains]:
    """Open the domains; one that does not exist is reported as not found, without the names of the others."""
    try:
        with opened(service, Part.PSEUDONYMS) as folder:
            yield Domains(folder)
    except InputError as error:
        if error.code != "pseudonym-domain-unknown":
            raise
        raise AccessDenied("there is no such domain", code="not-found") from None


def refuse_version(definition: Definition, version: int | None) -> None:
    """Refuse a version that the key of a domain never had; one that was lost is the operator's problem."""
    if version is not None and version not in definition.keys:
        raise InputError("key_version: the key of the domain has no such version", code="pseudonym-version-unknown")


def learns_nothing(actor: Actor) -> bool:
    """Whether somebody must not learn who is in a list; a trustee may look people up."""
    return not actor.may(Permission.MANAGE_DOMAINS)


def create(service: Service, actor: Actor, definition: Definition) -> Definition:
    """Make a domain with a new key."""
    with known_domains(service) as domains:
        made = domains.create(definition, actor=name_of(actor)).definition
    note(service, actor, "create-domain", f"domain {made.name}")
    return made


def listed(service: Service) -> list[dict[str, Any]]:
    """Return the definitions of all domains, and whether their keys can be used."""
    with known_domains(service) as domains:
        return [_shown(domains, one) for one in domains.definitions()]


def shown(service: Service, name: str) -> dict[str, Any]:
    """Return the definition of a domain, and whether its key can be used."""
    with known_domains(service) as domains:
        return _shown(domains, domains.definition(name))


def _shown(domains: Domains, definition: Definition) -> dict[str, Any]:
    return definition.figures | {"key_state": domains.key_state(definition)}


def filled(service: Service, actor: Actor, name: str) -> float | None:
    """Return how much of a list is taken, in steps of a hundredth; only those are told who may learn who is in it."""
    if learns_nothing(actor):
        return None
    with known_domains(service) as domains:
        usable = domains.key_state(domains.definition(name)) is KeyState.USABLE
        share = domains.open(name).kind.filled if usable else None
    return None if share is None else round(share, 2)


def rotate_key(service: Service, actor: Actor, name: str) -> Definition:
    """Give a domain a new version of its key."""
    with known_domains(service) as domains:
        made = domains.rotate_key(name, actor=name_of(actor)).definition
    note(service, actor, "rotate-domain-key", f"domain {name}", version=max(made.keys))
    return made


def pseudonymize(
    service: Service,
    actor: Actor,
    name: str,
    texts: Sequence[str],
    *,
    key_version: int | None,
    dates: Dates | None = None,
) -> Pseudonymized:
    """Return the pseudonyms of some texts, and the shifted dates of each."""
    limits.count(service, actor, len(texts))
    with known_domains(service) as domains:
        refuse_version(domains.definition(name), key_version)
        found = pseudonymized(
            domains.open(name),
            texts,
            key_version=key_version,
            dates=dates,
            actor=name_of(actor),
            discreet=learns_nothing(actor),
        )
    note(service, actor, "pseudonymize", f"domain {name}", pseudonyms=len(texts))
    return found
