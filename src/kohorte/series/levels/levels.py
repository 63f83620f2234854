"""Full-domain generalizations: every quasi-identifier at one level of a hierarchy that is fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kohorte.engines.encoding import EncodedColumn
from kohorte.errors import InputError
from kohorte.hierarchy import Builder, Dates, Intervals, Ordering, Redaction
from kohorte.hierarchy.options import distinct_labels
from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node
from kohorte.release.plan import Plan
from kohorte.series.domain.axes import refuse_strangers
from kohorte.series.domain.regions import OUTSIDE, Places
from kohorte.series.settings import SeriesSettings

Numbers = NDArray[np.int64]
MOST_NODES = 1_000_000
"""More combinations of levels than this take too long to search."""


@dataclass(frozen=True)
class Ladder:
    """The levels of one quasi-identifier that a release may show, from `finest` to `top`.

    What a value becomes at a level depends on the value alone, so that the classes of a level nest in those of a
    higher one in every table.
    """

    name: str
    builder: Builder = field(repr=False)
    finest: int
    top: int

    @property
    def in_words(self) -> str:
        """The levels for people."""
        return f"level {self.finest} of its hierarchy, whose top is level {self.top}"

    def to_dict(self) -> dict[str, object]:
        """The levels as plain data; the hierarchy stands in the plan."""
        return {"levels": [self.finest, self.top]}


def make_ladders(plan: Plan, settings: SeriesSettings) -> tuple[Ladder, ...]:
    """The levels of every quasi-identifier, in the order of the plan."""
    refuse_strangers(plan, settings)
    ladders = tuple(_ladder(name, plan, settings.regions.get(name, {})) for name in plan.quasi_identifiers)
    nodes = math.prod(ladder.top + 1 - ladder.finest for ladder in ladders)
    if nodes > MOST_NODES:
        raise InputError(
            f"{nodes:,} combinations of levels are too many for a series (at most {MOST_NODES:,}): use fewer "
            "quasi-identifiers, hierarchies with fewer levels, or a minimum_level",
            code="series-levels",
        )
    return ladders


def _ladder(name: str, plan: Plan, given: Mapping[str, object]) -> Ladder:
    if given.keys() - {"values"}:
        raise InputError(
            f"regions: {name}: with kind: full-domain only values can be given here; the plan's hierarchy tells the "
            "rest",
            code="series-levels",
        )
    builder = _fixed(name, plan.attributes[name].hierarchy or Ordering(), given)
    finest, top = plan.attributes[name].minimum_level, builder.build((), attribute=name).top
    if finest > top:
        raise InputError(
            f"column {name!r}: minimum_level is {finest}, but the hierarchy ends with level {top}",
            code="minimum-level-beyond",
        )
    return Ladder(name, builder, finest, top)


def _fixed(name: str, builder: Builder, given: Mapping[str, object]) -> Builder:
    """The hierarchy, if what a value becomes depends on nothing but the value."""
    if isinstance(builder, Ordering) and builder.values is None:
        if "values" not in given:
            raise InputError(
                f"column {name!r}: its hierarchy is made of the values of the data, which change from release to "
                f"release; list them in the settings (regions: {{{name}: {{values: [...]}}}}) or in the plan",
                code="series-levels",
            )
        return replace(builder, values=distinct_labels(given["values"], option=f"regions: {name}: values"))
    if given:
        raise InputError(f"regions: {name}: leave values out: the plan's hierarchy tells them", code="series-levels")
    if isinstance(builder, Redaction) and builder.length is None:
        raise InputError(
            f"column {name!r}: the longest value of the data decides how many levels there are, and may change from "
            "release to release; set the length in the plan, as in {redaction: {length: 5}}",
            code="series-levels",
        )
    if not builder.independent and not isinstance(builder, Dates | Intervals | Redaction):
        raise InputError(
            f"column {name!r}: the hierarchy {builder.name} depends on the data, which change from release to release",
            code="series-levels",
        )
    return builder


@dataclass(frozen=True, eq=False)
class Levels:
    """A node of the lattice: rows whose values become the same at its levels are in the same class.

    `node` counts from the finest level that may be shown, as the encoded columns do.
    """

    columns: Sequence[EncodedColumn] = field(repr=False)
    node: Node

    @classmethod
    def named(cls, columns: Sequence[EncodedColumn], levels: Mapping[str, int]) -> Levels:
        """The node of these levels of the hierarchies."""
        return cls(columns, tuple(levels[column.name] - column.finest for column in columns))

    @classmethod
    def top(cls, columns: Sequence[EncodedColumn]) -> Levels:
        """The node of the highest levels."""
        return cls(columns, tuple(len(column.maps) - 1 for column in columns))

    @property
    def names(self) -> dict[str, int]:
        """The level of the hierarchy of each column."""
        return {column.name: level + column.finest for column, level in zip(self.columns, self.node, strict=True)}

    def locate(self, places: Places) -> Numbers:
        """The class of every row, given its codes; OUTSIDE where one of them is."""
        inside = (places > OUTSIDE).all(axis=1)
        class_of = np.zeros(int(inside.sum()), dtype=np.int64)
        for column, level, codes in zip(self.columns, self.node, places[inside].T, strict=True):
            groups = column.maps[level][codes].astype(np.int64)
            class_of = np.unique(class_of * len(column.labels[level]) + groups, return_inverse=True)[1].reshape(-1)
        found = np.full(len(places), OUTSIDE, dtype=np.int64)
        found[inside] = class_of
        return found

    def finer_than(self, other: Levels) -> bool:
        """Whether no level is higher than in the other node."""
        return all(level <= before for level, before in zip(self.node, other.node, strict=True))

    def loss(self, places: Places, weights: Sequence[float]) -> Floats:
        """The share of the domain that each of these rows does not tell, as the metric `loss` counts it."""
        total = sum(weights) or 1.0
        lost: Floats = np.zeros(len(places))
        for column, level, weight, codes in zip(self.columns, self.node, weights, places.T, strict=True):
            lost += weight / total * column.shares[level][column.maps[level][codes]]
        return lost
