"""Small tables with their hierarchies, as plain Python data that the oracle understands, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from kohorte.engines import EncodedTable, LocalEngine, Missing, encode
from kohorte.hierarchy import Hierarchy
from kohorte.lattice import Lattice

Levels = tuple[tuple[str, ...], ...]
"""`levels[level][value]`: the values themselves, their labels at each level, and `*` at the top."""


@dataclass(frozen=True)
class SmallTable:
    """Rows of text or None (missing), and the levels of every attribute."""

    levels: tuple[Levels, ...]
    rows: tuple[tuple[str | None, ...], ...]
    missing: Missing = Missing.CATEGORY
    weights: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"column {position}" for position in range(len(self.levels)))

    @property
    def lattice(self) -> Lattice:
        return Lattice(tuple(len(levels) for levels in self.levels))

    @cached_property
    def frame(self) -> pl.DataFrame:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.names)
        return pl.DataFrame(
            [pl.Series(name, column, dtype=pl.String) for name, column in zip(self.names, columns, strict=True)]
        )

    @cached_property
    def encoded(self) -> EncodedTable:
        hierarchies = {
            name: Hierarchy.from_columns(levels, attribute=name)
            for name, levels in zip(self.names, self.levels, strict=True)
        }
        return encode(self.frame, hierarchies, missing=self.missing)

    @property
    def weight_by_name(self) -> dict[str, float]:
        return dict(zip(self.names, self.weights, strict=True)) if self.weights else {}

    def engine(self) -> LocalEngine:
        """A new engine, which remembers nothing."""
        return LocalEngine(self.encoded)


def tree_levels(tree: dict[str, list[str]]) -> Levels:
    """The levels of values in named categories: value, category, `*`."""
    values = [value for below in tree.values() for value in below]
    categories = [category for category, below in tree.items() for _ in below]
    return (tuple(values), tuple(categories), ("*",) * len(values))


def flat_levels(*values: str) -> Levels:
    """The levels of values that only become `*`."""
    return (values, ("*",) * len(values))
