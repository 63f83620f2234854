"""A release that was opened: the rows in plain text, the figures and the seconds of the phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import polars as pl

from kohorte.parties.sealed import malformed
from kohorte.parties.sealed_release import SealedRelease
from kohorte.plans.plan import Plan
from kohorte.plans.population import CountedPopulation
from kohorte.sources import COUNT


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """The rows of a release, not yet verified; `facts` and `population` came from the party that found it."""

    frame: pl.DataFrame = field(repr=False)
    facts: Mapping[str, Any]
    seconds: Mapping[str, float]
    population: CountedPopulation | None = None

    @classmethod
    def of(
        cls,
        release: SealedRelease,
        texts: Mapping[str, list[str | None]],
        plan: Plan,
        seconds: Mapping[str, float],
    ) -> Self:
        """Open a release; `texts[name]` are its opened cells."""
        frame = release.opened(texts, plan)
        if plan.subset is None:
            return cls(frame, release.facts, seconds)
        empty = release.facts.get("empty_classes")
        if release.people is None or type(empty) is not int:
            raise malformed("it does not count the people of the population")
        names = list(plan.quasi_identifiers)
        shown = frame.select(names).with_columns(pl.Series(COUNT, release.people))
        classes = shown.filter(pl.col(COUNT) > 0).unique()  # nobody is counted for a suppressed row
        if classes.select(names).n_unique() < classes.height:
            raise malformed("it counts the people of a class in two ways")
        return cls(frame, release.facts, seconds, CountedPopulation(classes, empty))
