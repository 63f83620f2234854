"""What a party has after it played its role, before the release is signed."""

from __future__ import annotations

from dataclasses import dataclass, field

from kohorte.parties.known import Known
from kohorte.parties.roles.opened import OpenedRelease
from kohorte.parties.roles.secrets import Secrets


@dataclass(frozen=True, eq=False)
class Played:
    """The secrets of the run, what the party knows about the release, and the release if it opened it."""

    secrets: Secrets
    known: Known
    opened: OpenedRelease | None = field(default=None, repr=False)
