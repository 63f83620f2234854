"""The levels that a full-domain series may show of each quasi-identifier, from hierarchies fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kohorte.errors import InputError
from kohorte.hierarchies import Builder, Dates, Intervals, Ordering, Redaction
from kohorte.hierarchies.options import distinct_labels
from kohorte.plans.plan import Plan
from kohorte.series.domain.axes import refuse_strangers
from kohorte.series.settings import SeriesSettings

MOST_NODES = 1_000_000
"""A safeguard: more combinations of levels take too long to search."""


@dataclass(frozen=True)
class Ladder:
    """The levels of one quasi-identifier that a release may show, from `finest` to `top`.

    The label of a value at a level depends on the value alone, so that the classes of a level nest in those of a
    higher level in every table.
    """

    name: str
    builder: Builder = field(repr=False)
    finest: int
    top: int

    @property
    def in_words(self) -> str:
        """The levels in words."""
        return f"level {self.finest} of its hierarchy, whose top is level {self.top}"

    def to_dict(self) -> dict[str, object]:
        """The levels as plain data; the hierarchy itself is in the plan."""
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
            f"regions: {name}: kind: full-domain supports only values here; the plan's hierarchy defines the rest",
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
    """The hierarchy, if its labels depend on the value alone; others are refused."""
    if isinstance(builder, Ordering) and builder.values is None:
        if "values" not in given:
            raise InputError(
                f"column {name!r}: its hierarchy is built from the values of the data, which change from release to "
                f"release; list them in the settings (regions: {{{name}: {{values: [...]}}}}) or in the plan",
                code="series-levels",
            )
        return replace(builder, values=distinct_labels(given["values"], option=f"regions: {name}: values"))
    if given:
        raise InputError(
            f"regions: {name}: leave values out, because the plan's hierarchy defines them", code="series-levels"
        )
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
