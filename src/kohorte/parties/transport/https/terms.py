"""What a party brings to a run: who takes part and where, how long it waits, and how much it accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType

from kohorte.errors import InputError
from kohorte.parties.transport.certificates import FINGERPRINT, checked_name

STUDY = re.compile(r"[0-9a-f]{64}")
RUN = re.compile(r"[0-9a-f]{32}")
ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.%]+\]|[^\s:\[\]/]*):(?P<port>[0-9]{1,5})")


def endpoint(address: str) -> tuple[str, int]:
    """Return host and port of an address such as a.example:8441, [::1]:8441 or :8441."""
    found = ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > 65535:
        raise InputError(
            f"{address!r} is no address; write a host and a port, as in a.example:8441", code="party-address"
        )
    return found["host"].strip("[]"), int(found["port"])


def is_loopback(address: str) -> bool:
    """Whether an address leads to the machine itself, wherever it is used."""
    host, _ = endpoint(address)
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


@dataclass(frozen=True)
class Contact:
    """Where a party waits for the others, and the fingerprint of its certificate."""

    address: str
    fingerprint: str

    def __post_init__(self) -> None:
        if not endpoint(self.address)[0]:
            raise InputError(f"{self.address!r} names no host; write it as in a.example:8441", code="party-address")
        if not FINGERPRINT.fullmatch(self.fingerprint):
            raise InputError("a fingerprint is sha256: and 64 digits of 0-9 and a-f", code="party-terms")


@dataclass(frozen=True)
class Patience:
    """How many seconds a party waits.

    `reach`: for another one to be reachable before a run. `agree`: for people to agree to a run. `beat`: between two
    signs of life. `silent`: without a sign of life before another party is lost. `message`: for a message of a party
    that is alive.
    """

    reach: float = 60.0
    agree: float = 600.0
    beat: float = 1.0
    silent: float = 8.0
    message: float = 6 * 3600.0


@dataclass(frozen=True)
class Limits:
    """How many bytes a party accepts: of one message (by kind, if listed), and waiting from one sender."""

    message: int = 1 << 30
    kinds: Mapping[str, int] = field(default_factory=dict, hash=False)
    waiting: int = 1 << 32

    def of(self, kind: str) -> int:
        """Return the limit for a message of this kind."""
        return self.kinds.get(kind, self.message)


@dataclass(frozen=True)
class RunTerms:
    """What a party knows about a study before a run: its hash, its own name, and how to reach everybody.

    `contacts` has an entry for every party and the helper, this one included. With `record`, every payload that this
    party sends is kept in that folder.
    """

    study: str
    name: str
    contacts: Mapping[str, Contact] = field(hash=False)
    patience: Patience = Patience()
    limits: Limits = Limits()
    record: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "contacts", MappingProxyType(dict(self.contacts)))
        if not STUDY.fullmatch(self.study):
            raise InputError("the hash of a study has 64 digits of 0-9 and a-f", code="party-terms")
        for name in self.contacts:
            checked_name(name)
        if self.name not in self.contacts or len(self.contacts) < 2:
            raise InputError(f"the study must name {self.name!r} and at least one other party", code="party-terms")
        pins = [contact.fingerprint for contact in self.contacts.values()]
        if len(set(pins)) < len(pins):
            raise InputError("two parties of the study have the same certificate", code="party-terms")

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the others."""
        return tuple(name for name in self.contacts if name != self.name)

    def member_with(self, fingerprint: str) -> str | None:
        """Return the name of the member with this certificate, if there is one."""
        return next((name for name, contact in self.contacts.items() if contact.fingerprint == fingerprint), None)

    def peer_with(self, fingerprint: str) -> str | None:
        """Return the name of the other party with this certificate, if there is one."""
        found = self.member_with(fingerprint)
        return found if found != self.name else None


@dataclass(frozen=True)
class Invitation:
    """A run that another party asks this one to take part in, and the terms that this party has for the study."""

    starter: str
    run: str
    terms: RunTerms
