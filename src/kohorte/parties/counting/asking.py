"""The questions of the member that searches, answered by the one that knows the classes."""

from __future__ import annotations

from collections.abc import Callable

from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.parties.counting.counted_table import CountedTable
from kohorte.parties.sealed import Cells, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.transport.channel import Channel


def answer(
    channel: Channel, lead: str, table: CountedTable, strip: Callable[[Cells], Cells] | None = None
) -> tuple[SealedRelease, Cells, dict[str, int]]:
    """Answer what the party that decrypts asks: the domain, then counters of nodes.

    `strip` takes the share of this member off the counters, if it has one.

    Returns the rows of the node that it chose, with a counter for each, and the levels of this node.
    """
    node, kept = chosen(channel, lead, table, strip)
    if kept is None:
        raise malformed("it does not say which classes are kept")
    return *table.released(node, kept), table.levels(node)


def chosen(
    channel: Channel, lead: str, table: CountedTable, strip: Callable[[Cells], Cells] | None = None
) -> tuple[Node, Bools | None]:
    """Answer questions until a node is chosen; return it, and which of its classes are kept if this is told."""
    channel.send(lead, "domain", _stripped(table.domain(), strip))
    while True:
        facts, arrays = unpack(channel.receive(lead, "ask"))
        node, exact, kept = facts.get("node"), facts.get("exact"), arrays.get("kept")
        if not isinstance(node, list) or not all(type(level) is int for level in node) or not isinstance(exact, list):
            raise malformed("it does not ask for a node")
        if kept is not None or facts.get("veiled") is True:
            return tuple(node), None if kept is None else kept.astype(bool)
        counted = table.counted(tuple(node), dict.fromkeys(map(str, exact), True))
        channel.send(lead, "counted", _stripped(counted, strip))


def _stripped(message: bytes, strip: Callable[[Cells], Cells] | None) -> bytes:
    """The same message with stripped counters."""
    if strip is None:
        return message
    facts, arrays = unpack(message)
    stripped = {name: strip(array) if _is_counters(name) else array for name, array in arrays.items()}
    return pack(facts, stripped)


def _is_counters(name: str) -> bool:
    return name == "included" or name.endswith("counters")
