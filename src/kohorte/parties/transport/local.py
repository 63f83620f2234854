"""Channels in memory between threads of one process, to test and try out roles without a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from kohorte.parties.transport.channel import Channel, RunChannel
from kohorte.parties.transport.inbox import Inbox, Parcel, Stop
from kohorte.parties.transport.messages import Message, MessageLog, Recording

Result = TypeVar("Result")
WAIT_SECONDS = 60.0


class LocalChannels:
    """One channel for each name; what one sends, the other receives.

    With `record`, every payload is kept in that folder. A party that waits longer than `wait` seconds for a message
    raises an error, so that a test of a role that sends nothing ends.
    """

    def __init__(self, names: Sequence[str], *, record: Path | None = None, wait: float = WAIT_SECONDS) -> None:
        peers = {name: tuple(other for other in names if other != name) for name in names}
        inboxes = {name: Inbox(name, peers[name]) for name in names}
        recording = None if record is None else Recording(record)
        started = time.monotonic()
        self._channels = {
            name: RunChannel(
                inboxes[name],
                _LocalLink(name, inboxes),
                MessageLog(recording, started=started),
                name=name,
                peers=peers[name],
                wait=wait,
            )
            for name in names
        }

    def __getitem__(self, name: str) -> RunChannel:
        return self._channels[name]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Every message of the run once, in the order in which they were sent."""
        sent = (
            message
            for name, channel in self._channels.items()
            for message in channel.messages
            if message.sender == name
        )
        return tuple(sorted(sent, key=lambda message: message.seconds))

    def run(self, roles: Mapping[str, Callable[[Channel], Result]]) -> dict[str, Result]:
        """Run each role in a thread of its own and return what they return.

        If a role fails, the others are stopped, and its error is raised rather than theirs.
        """
        with ThreadPoolExecutor(max_workers=len(roles)) as pool:
            played = {name: pool.submit(self._play, name, role) for name, role in roles.items()}
        failed = [name for name, future in played.items() if future.exception() is not None]
        for name in failed:
            if self._began(name, failed):
                played[name].result()
        return {name: future.result() for name, future in played.items()}

    def _play(self, name: str, role: Callable[[Channel], Result]) -> Result:
        with self[name] as channel:
            return role(channel)

    def _began(self, name: str, failed: Sequence[str]) -> bool:
        stop = self[name].stopped
        return stop is None or stop.by == name or stop.by not in failed


class _LocalLink:
    """Puts messages directly into the inboxes of the others."""

    def __init__(self, name: str, inboxes: Mapping[str, Inbox]) -> None:
        self._name = name
        self._inboxes = inboxes

    def deliver(self, to: str, kind: str, payload: bytes) -> int:
        """Put a message into the inbox of a party."""
        self._inboxes[to].put(self._name, Parcel(kind, payload, len(payload)))
        return len(payload)

    def tell_stop(self, to: str, stop: Stop) -> None:
        """Stop the run at a party."""
        self._inboxes[to].stop(stop)

    def tell_done(self, to: str) -> None:
        """Note at a party that this one has done its part."""
        self._inboxes[to].finish(self._name)

    def close(self) -> None:
        """Nothing is held."""
