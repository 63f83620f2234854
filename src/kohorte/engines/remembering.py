"""An engine that remembers what it has counted, for several searches on one table."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.typing import NDArray

from kohorte.engines.base import ForgetfulEngine
from kohorte.groups import LARGEST_SUMMARIZED, Groups
from kohorte.kernels.arrays import Bools, Codes, Floats
from kohorte.lattice import Node

ROWS = "rows"
"""The part of a summary that counts rows."""
MOST_SUMMARIES = 20_000
"""So many nodes have a summary, which takes one to two kilobytes: our own choice."""


class RememberingEngine:
    """Counts nodes with another engine, and remembers the classes of the most recent ones, up to `most_bytes`.

    Which rows a class has depends on the node alone, so a search with another k, or with another suppression limit,
    finds many of its nodes counted. The codes of the classes are not remembered: they are counted again when they are
    asked for. Classes are numbered by first appearance, so that they come in the same order.

    Several threads may use it at the same time.
    """

    name: ClassVar[str] = "remembering"

    def __init__(self, engine: ForgetfulEngine, most_bytes: int) -> None:
        self._engine = engine
        self._most = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Node, _Kept] = OrderedDict()
        self._bytes = 0
        self._summaries: dict[Node, dict[object, Floats]] = {}

    @property
    def rolled_up(self) -> int:
        """The number of nodes that were counted from a finer node instead of the table."""
        return self._engine.rolled_up

    @property
    def distinct_rows(self) -> int:
        """The number of rows after merging those that look the same at the finest node."""
        return self._engine.distinct_rows

    @property
    def held_bytes(self) -> int:
        """About how much memory counted nodes take."""
        return self._bytes + 16 * LARGEST_SUMMARIZED * len(self._summaries) + self._engine.held_bytes

    def forget(self) -> None:
        """Forget counted nodes; what is counted later stays the same."""
        with self._lock:
            self._kept, self._bytes, self._summaries = OrderedDict(), 0, {}
        self._engine.forget()

    def summaries(self) -> tuple[list[Node], list[dict[object, Floats]]]:
        """Return nodes that were counted, each with its summary (`Groups.by_size`): `ROWS`, and those of metrics."""
        with self._lock:
            return list(self._summaries), list(self._summaries.values())

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""
        with self._lock:
            if node in self._kept:
                self._kept.move_to_end(node)
                return self._kept[node].groups
        return self._remember(self._engine.groups(node))

    def sizes(self, node: Node) -> Groups | None:
        """Return only the class sizes at a node; None if its classes are remembered, or if that saves little time."""
        with self._lock:
            if node in self._kept:
                return None
        return self._engine.sizes(node)

    def use_threads(self, count: int) -> None:
        """Let every search count its nodes itself."""

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Count a node when its classes are asked for."""
        return lambda: self.groups(node)

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included tuple at a node, and the classes."""
        return self._engine.classes(node)

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows, excluded ones too: the table as it looks if everything is `*`."""
        return self._engine.all_rows(node)

    def _remember(self, groups: Groups) -> Groups:
        """Keep groups without what refers to the rows that they were counted from."""
        if groups.sets is not None or groups.as_shown is not None:
            return groups
        with self._lock:
            summary = self._summaries.get(groups.node)
        if summary is None:
            summary = {ROWS: groups.below_each_size(groups.sizes)}
        kept = _Kept(replace(self._apart(groups), by_class={}, by_size=summary), _size(groups))
        with self._lock:
            if len(self._summaries) < MOST_SUMMARIES:
                self._summaries.setdefault(groups.node, summary)
            if groups.node not in self._kept:
                self._kept[groups.node] = kept
                self._bytes += kept.bytes
            while self._bytes > self._most and self._kept:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= oldest.bytes
        return kept.groups

    def _apart(self, groups: Groups) -> Groups:
        node = groups.node

        def codes(which: Bools) -> Codes:
            return self._engine.groups(node).codes(which)

        def joined(attribute: int) -> Codes:
            again = self._engine.groups(node)
            assert again.joined is not None, "the same engine gives the same parts"
            return again.joined(attribute)

        people = None if groups.people is None else self._apart(groups.people)
        own = None if groups.joined is None else joined
        return replace(groups, codes=codes, joined=own, people=people)


@dataclass(frozen=True, eq=False)
class _Kept:
    groups: Groups
    bytes: int


def _size(groups: Groups) -> int:
    """The bytes of the arrays of groups, with as much again for what models and metrics derive from them."""
    arrays: list[NDArray[Any]] = [groups.sizes, *(own.counts for own in groups.populations.values())]
    for histogram in groups.histograms.values():
        arrays += [histogram.starts, histogram.values, histogram.counts]
    own = 2 * sum(array.nbytes for array in arrays)
    return own if groups.people is None else own + _size(groups.people)
