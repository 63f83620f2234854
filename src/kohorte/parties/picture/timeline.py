"""The messages of a run by one clock, each in its phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from kohorte.parties.picture.kinds import PHASES, kind_of
from kohorte.parties.transport.messages import Message

Phased = tuple[str, Message]
"""A message and the phase that it belongs to."""

Conversation = tuple[str, str, str]
"""Who asks, who is asked, and the kind of the question."""

TURN = 1e-4
"""An answer arrives at least so many seconds after its question."""


def timeline(messages: Sequence[Message]) -> list[Phased]:
    """All messages, phase by phase, and within a phase by the time at which they arrived."""
    by_time = sorted(_by_one_clock(messages), key=lambda message: message.seconds)
    order = list(PHASES)
    return sorted(zip(_phases(by_time), by_time, strict=True), key=lambda phased: order.index(phased[0]))


def _by_one_clock(messages: Sequence[Message]) -> list[Message]:
    """The messages with their seconds since the first member joined the run.

    Every member counts the seconds since it joined itself. One that seems to answer before it was asked joined later
    than the one that asked, at least by that much.
    """
    asked: dict[Conversation, list[float]] = defaultdict(list)
    answered: dict[Conversation, list[float]] = defaultdict(list)
    for message in messages:
        asked[message.sender, message.receiver, message.kind].append(message.seconds)
        if question := kind_of(message).answers:
            answered[message.receiver, message.sender, question].append(message.seconds)
    late: dict[str, float] = defaultdict(float)
    for conversation, times in answered.items():
        _, member, _ = conversation
        early = (question + TURN - answer for question, answer in zip(asked[conversation], times, strict=False))
        late[member] = max(late[member], *early)
    return [replace(message, seconds=message.seconds + late[message.sender]) for message in messages]


def _phases(messages: Sequence[Message]) -> list[str]:
    """The phase of each message, in the order of time."""
    order = list(PHASES)
    latest: dict[Conversation, str] = {}
    found = []
    for message in messages:
        kind = kind_of(message)
        own = message.phase if message.phase in PHASES else order[0]
        if kind.answers:
            own = latest.get((message.receiver, message.sender, kind.answers), own)
        phase = max(kind.phase, own, key=order.index)
        latest[message.sender, message.receiver, message.kind] = phase
        found.append(phase)
    return found
