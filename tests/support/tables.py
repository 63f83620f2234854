"""Small tables with their hierarchies, as plain Python data that the oracle understands, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.engines import LocalEngine
from kohorte.groups import Groups
from kohorte.hierarchies import Hierarchy, Ordering
from kohorte.lattice import Lattice
from kohorte.sources import EncodedTable, Missing, People, encode_rows

Row = tuple[str | None, ...]
Levels = tuple[tuple[str, ...], ...]
"""`levels[level][value]`: the values themselves, their labels at each level, and `*` at the top."""

SUBSET, POPULATION = "released", "people.csv"
"""The column and the file that the models of tests name: the same people, known in two ways."""


@dataclass(frozen=True)
class Secret:
    """A sensitive attribute: its value in every row, and the levels or the order of its values where they have one.

    The package has to find the order of numbers by itself; that of other values it is told.
    """

    values: Row
    levels: Levels = ()
    order: tuple[str, ...] = ()

    def builder(self, name: str) -> Hierarchy | Ordering | None:
        if self.order and not all(value.isdigit() for value in self.order):
            return Ordering(values=self.order)
        return Hierarchy.from_columns(self.levels, attribute=name) if self.levels else None


@dataclass(frozen=True)
class SmallTable:
    """Rows of text or None (missing), and the levels of every attribute.

    `others` are the people of the population who have no row in the table; None where there is no population.
    """

    levels: tuple[Levels, ...]
    rows: tuple[Row, ...]
    missing: Missing = Missing.CATEGORY
    weights: tuple[float, ...] = ()
    secrets: tuple[tuple[str, Secret], ...] = ()
    others: tuple[Row, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"column {position}" for position in range(len(self.levels)))

    @property
    def lattice(self) -> Lattice:
        return Lattice(tuple(len(levels) for levels in self.levels))

    @cached_property
    def frame(self) -> pl.DataFrame:
        secret = [pl.Series(name, own.values, dtype=pl.String) for name, own in self.secrets]
        return self._quasi_identifiers(self.rows).with_columns(secret)

    def _quasi_identifiers(self, rows: tuple[Row, ...]) -> pl.DataFrame:
        columns = zip(*rows, strict=True) if rows else [()] * len(self.names)
        return pl.DataFrame(
            [pl.Series(name, column, dtype=pl.String) for name, column in zip(self.names, columns, strict=True)]
        )

    @property
    def populations(self) -> dict[str, People]:
        """The population twice: the others who come on top of the flagged rows, and everybody in a file."""
        if self.others is None:
            return {}
        others, everybody = (tuple(filter(self.takes_part, rows)) for rows in (self.others, self.rows + self.others))
        return {
            f"subset: {SUBSET}": People(self._quasi_identifiers(others), includes_table=True),
            f"population: {POPULATION}": People(self._quasi_identifiers(everybody)),
        }

    def takes_part(self, row: Row) -> bool:
        """Whether the policy for missing values lets a row into a class."""
        return self.missing != Missing.SUPPRESS or None not in row

    @cached_property
    def encoded(self) -> EncodedTable:
        hierarchies = {
            name: Hierarchy.from_columns(levels, attribute=name)
            for name, levels in zip(self.names, self.levels, strict=True)
        }
        return encode_rows(
            self.frame,
            hierarchies,
            missing=self.missing,
            sensitive={name: own.builder(name) for name, own in self.secrets},
            populations=self.populations,
        )

    @property
    def weight_by_name(self) -> dict[str, float]:
        return dict(zip(self.names, self.weights, strict=True)) if self.weights else {}

    def shown(self, groups: Groups) -> list[Row]:
        """What the output shows of each class."""
        every = groups.codes(np.ones(len(groups), dtype=bool))
        return list(
            zip(
                *(
                    column.labelled(level, codes).to_list()
                    for column, level, codes in zip(self.encoded.columns, groups.node, every.T, strict=True)
                ),
                strict=True,
            )
        )

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


def classes_table(
    *groups: tuple[str, ...], others: tuple[str, ...] = (), **secret: Levels | tuple[str, ...]
) -> SmallTable:
    """A table of one quasi-identifier: each text is a class at level 0, its letters the sensitive values of its rows.

    The classes of a group are one class at level 1. `others` has a letter for everybody else who looks like each class.
    """
    names = [(f"{place}.{index}", str(place)) for place, own in enumerate(groups) for index in range(len(own))]
    texts = [text for own in groups for text in own]
    rows = tuple((name,) for (name, _), text in zip(names, texts, strict=True) for _ in text)
    people = tuple((name,) for (name, _), text in zip(names, others, strict=False) for _ in text)
    own_levels = (tuple(name for name, _ in names), tuple(above for _, above in names), ("*",) * len(names))
    values = tuple(letter for text in texts for letter in text)
    secrets = (("diagnosis", Secret(values, **secret)),)
    return SmallTable((own_levels,), rows, secrets=secrets, others=people if others else None)
