"""The messages of a run as arrows: many equal messages are one arrow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kohorte.in_words import count, seconds, size
from kohorte.parties.picture.kinds import PHASES
from kohorte.parties.picture.timeline import Phased
from kohorte.parties.transport.messages import Message

EVERYBODY = "every party"
"""The name at both ends of an exchange."""


@dataclass(frozen=True)
class Arrow:
    """Messages of one kind in one phase: from one member to another, or, in an exchange, from each to each other.

    `first` and `last` are the seconds at which the first and the last of them arrived.
    """

    phase: str
    kind: str
    sender: str
    receiver: str
    messages: int
    size: int
    first: float
    last: float
    exchange: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What is written at the arrow."""
        amount = "" if self.messages == 1 else f", {count(self.messages, 'message')}"
        return f"{self.kind}{amount}, {size(self.size)}"

    @property
    def ends(self) -> tuple[str, str]:
        """Who sends, and who receives."""
        return (EVERYBODY, "every other party") if self.exchange else (self.sender, self.receiver)

    @property
    def when(self) -> str:
        """When the messages arrived."""
        first, last = seconds(self.first), seconds(self.last)
        return first if first == last else f"{first} to {last}"

    @property
    def sentence(self) -> str:
        """The arrow in words."""
        sender, receiver = self.ends
        return f"{sender} to {receiver}: {self.label}, after {self.when}"


def arrows(phased: Sequence[Phased]) -> list[Arrow]:
    """The arrows of a run, phase by phase, in the order of their first messages.

    Messages of the same kind and phase between the same two members are one arrow. If each of several members sends a
    message of one kind to each other, this is one exchange.
    """
    by_kind: dict[tuple[str, str], list[Message]] = defaultdict(list)
    for phase, message in phased:
        by_kind[phase, message.kind].append(message)
    found = []
    for (phase, _), equal in by_kind.items():
        members = _exchanged(equal)
        by_pair: dict[tuple[str, ...], list[Message]] = defaultdict(list)
        for message in equal:
            by_pair[members or (message.sender, message.receiver)].append(message)
        found += [_arrow(phase, several, members) for several in by_pair.values()]
    order = list(PHASES)
    return sorted(found, key=lambda arrow: (order.index(arrow.phase), arrow.first))


def _exchanged(messages: Sequence[Message]) -> tuple[str, ...]:
    """The members of an exchange, in which each sends one message to each other; none if this is no exchange."""
    members = tuple(dict.fromkeys(message.sender for message in messages))
    pairs = {(message.sender, message.receiver) for message in messages}
    everyone = {(one, other) for one in members for other in members if one != other}
    return members if pairs and pairs == everyone and len(pairs) == len(messages) else ()


def _arrow(phase: str, messages: Sequence[Message], members: tuple[str, ...]) -> Arrow:
    return Arrow(
        phase=phase,
        kind=messages[0].kind,
        sender=messages[0].sender,
        receiver=messages[0].receiver,
        messages=len(messages),
        size=sum(message.size for message in messages),
        first=min(message.seconds for message in messages),
        last=max(message.seconds for message in messages),
        exchange=members,
    )
