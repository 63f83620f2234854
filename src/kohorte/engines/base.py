"""The protocol of an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, runtime_checkable

from kohorte.groups import Groups
from kohorte.kernels.arrays import Codes
from kohorte.lattice import Node


@runtime_checkable
class Engine(Protocol):
    """Counts the classes of one encoded table at any node of its lattice."""

    name: ClassVar[str]

    @property
    def rolled_up(self) -> int:
        """The number of nodes that were counted from a finer node instead of the table."""

    @property
    def distinct_rows(self) -> int:
        """The number of rows after merging those that look the same at the finest node."""

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""

    def sizes(self, node: Node) -> Groups | None:
        """Return only the class sizes at a node, without histograms and populations; None if that saves little time."""

    def use_threads(self, count: int) -> None:
        """Let `count` threads count the nodes that `begin` starts; with 0, they are counted when needed."""

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Start to count a node; call the returned function once for its classes."""

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included tuple at a node, and the classes."""

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows, excluded ones too: the table as it looks if everything is `*`."""


class ForgetfulEngine(Engine, Protocol):
    """An engine that can be kept for further searches, because it tells what it holds and can forget it."""

    @property
    def held_bytes(self) -> int:
        """About how much memory counted nodes take, from which coarser ones are counted."""

    def forget(self) -> None:
        """Forget counted nodes; what is counted later stays the same."""
