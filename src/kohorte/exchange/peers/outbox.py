"""The outbox of a house: parcels stay here until the other institution has them.

outbox/NUMBER-KIND/parcel.json   the parcel with its signature; written last, so that what has one is complete
outbox/NUMBER-KIND/files/        its files, until it was delivered
outbox/NUMBER-KIND/state.json    how far it is
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from kohorte.data.files import atomic_write, read_text
from kohorte.errors import InputError
from kohorte.exchange.peers.parcels import Kind, Parcel, SignedParcel
from kohorte.trust.folder import TrustFolder

FOLDER, PARCEL, FILES, STATE = "outbox", "parcel.json", "files", "state.json"
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)


class State(StrEnum):
    """How far a parcel is."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    REFUSED = "refused"


@dataclass(frozen=True)
class Standing:
    """The state of a parcel, how often it was tried, the reason of the latest failure, and when it is tried again."""

    state: State = State.WAITING
    attempts: int = 0
    reason: str = ""
    next_at: str = ""

    def failed(self, reason: str, now: datetime) -> Standing:
        """After an attempt that failed for a while: the pause doubles up to an hour."""
        pause = min(FIRST_PAUSE * 2 ** min(self.attempts, 10), LONGEST_PAUSE)
        return replace(self, attempts=self.attempts + 1, reason=reason, next_at=(now + pause).isoformat())

    def is_due(self, now: datetime) -> bool:
        """Whether it is time for the next attempt."""
        return self.state is State.WAITING and (not self.next_at or now >= datetime.fromisoformat(self.next_at))


@dataclass(frozen=True)
class Item:
    """One parcel of the outbox."""

    path: Path

    @property
    def files(self) -> Path:
        """The folder of its files."""
        return self.path / FILES

    @property
    def is_complete(self) -> bool:
        """Whether the parcel was signed; what a killed process left has no parcel."""
        return (self.path / PARCEL).exists()

    @property
    def signed(self) -> SignedParcel:
        """The parcel."""
        return SignedParcel.read(read_text(self.path / PARCEL, what="parcel", code="exchange-outbox").encode())

    @property
    def parcel(self) -> Parcel:
        """What was signed."""
        return self.signed.parcel

    @property
    def standing(self) -> Standing:
        """How far it is."""
        file = self.path / STATE
        if not file.exists():
            return Standing()
        try:
            data = json.loads(read_text(file, what="state of a parcel", code="exchange-outbox"))
            return Standing(State(data["state"]), int(data["attempts"]), str(data["reason"]), str(data["next_at"]))
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"{self.path.name}: the state of the parcel cannot be read", code="exchange-outbox"
            ) from None

    def note(self, standing: Standing) -> None:
        """Keep how far it is; the files of a delivered parcel are not needed any more."""
        _write(self.path / STATE, json.dumps(asdict(standing)))
        if standing.state is State.DELIVERED:
            shutil.rmtree(self.files, ignore_errors=True)

    def complete(self, signed: SignedParcel) -> None:
        """Keep the signed parcel: from now on it is sent."""
        _write(self.path / PARCEL, signed.header.decode())

    def discard(self) -> None:
        """Remove what was not completed."""
        shutil.rmtree(self.path, ignore_errors=True)

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the parcel while it is sent; False if another process sends it."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
        finally:
            os.close(descriptor)

    def to_dict(self) -> dict[str, Any]:
        """The parcel as lists show it."""
        parcel, standing = self.parcel, self.standing
        return {
            "number": parcel.number,
            "kind": str(parcel.kind),
            "recipient": parcel.recipient,
            "at": parcel.at,
            "state": str(standing.state),
            "attempts": standing.attempts,
            "code": standing.reason,
        }


class Outbox:
    """All parcels that a house has sent or sends."""

    def __init__(self, folder: TrustFolder) -> None:
        self.path = folder.path / FOLDER

    def new(self, kind: Kind, number: str) -> Item:
        """Make room for a parcel; what a killed process left under its number is removed."""
        item = self.item(kind, number)
        if not item.is_complete:
            item.discard()
        self.path.mkdir(mode=0o700, exist_ok=True)
        item.path.mkdir(mode=0o700)
        return item

    def item(self, kind: Kind, number: str) -> Item:
        """The parcel of a kind with a number."""
        return Item(self.path / f"{number}-{kind}")

    def all(self) -> list[Item]:
        """All complete parcels, the oldest first."""
        if not self.path.is_dir():
            return []
        found = [Item(path) for path in self.path.iterdir() if path.is_dir()]
        return sorted((item for item in found if item.is_complete), key=lambda item: (item.parcel.at, item.path.name))

    def sent_request(self, number: str, *, to: str) -> Parcel | None:
        """The request that this house sent to a peer under a number, if it did."""
        item = self.item(Kind.REQUEST, number)
        if not item.is_complete or item.parcel.recipient != to:
            return None
        return item.parcel


def now() -> datetime:
    """The current moment."""
    return datetime.now(UTC)


def _write(path: Path, text: str) -> None:
    with atomic_write(path, force=True, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
