"""What every engine offers to the layers above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import polars as pl

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Codes
from kohorte.lattice import Node


class Engine(Protocol):
    """Counts rows where they are, and applies a node to them."""

    @property
    def rolled_up(self) -> int:
        """How many nodes were built from a finer node instead of the table itself."""

    @property
    def distinct_rows(self) -> int:
        """How many rows are left when identical ones are merged."""

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""

    def sizes(self, node: Node) -> Groups | None:
        """Return the classes at a node without what models ask for besides, or None where that saves little."""

    def use_threads(self, count: int) -> None:
        """Let so many threads count nodes that are begun; none counts them when they are asked for."""

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Begin to count a node; the classes are had by calling what is returned, once."""

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included row at a node, and the classes."""

    def apply(self, frame: pl.DataFrame, node: Node, kept: Bools) -> pl.DataFrame:
        """Return the quasi-identifiers generalized to a node, with all rows that are not kept suppressed."""
