"""Explore all combinations of levels of a plan on a dataset, step by step; nothing is stored.

A few spaces stay in memory (`kept_results`). Each call counts for at most `SECONDS` and answers with what is known
then, so that a large space occupies no thread for long; the optimum and its neighbours are counted first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kohorte.errors import InputError
from kohorte.lattice import Node
from kohorte.plans import Plan
from kohorte.plans.search_options import SearchOptions
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_results, kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.house_rules import ReleaseTerms
from kohorte.service.permissions import Permission
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.service.projects.store import names_of, refuse_unready
from kohorte.space.exploration import Counted, Exploration

FIRST_SECONDS, SECONDS = 0.4, 1.0
"""How long a call counts: the first one answers sooner, with the optimum and what is near to it."""
LISTED = 10


@dataclass(frozen=True)
class Explored:
    """A space with the node that is looked at."""

    space: Exploration
    at: Counted

    @property
    def levels(self) -> dict[str, int]:
        """The levels of the node that is looked at."""
        return self.space.levels(self.at.node)

    def to_dict(self) -> dict[str, Any]:
        """The space in figures: its size, the best node, the node that is looked at, and those one step away."""
        space, best = self.space, self.space.best
        return {
            "attributes": list(space.attributes),
            "lowest_levels": list(space.plan.minimum_levels.values()),
            "levels_in_words": [list(own) for own in space.meanings(examples=True)],
            "rows": space.rows,
            "people": space.people,
            "unit": space.unit.many,
            "limit": space.limit,
            "metric": space.plan.metric.name,
            "notes": list(space.notes),
            "combinations": space.lattice.size,
            "counted": int(space.counted.sum()),
            "complete": space.complete,
            "solutions": int(np.isfinite(space.costs).sum()),
            "best": None if best is None else self._node(best),
            "best_is_optimal": best is not None and (space.proven or space.complete),
            "at": self._node(self.at),
            "steps": self.steps,
            "best_ones": [self._node(one) for one in self._best_ones()],
        }

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The nodes one step away, attribute by attribute."""
        return [
            {"attribute": name, "finer": self._beside(axis, -1), "coarser": self._beside(axis, 1)}
            for axis, name in enumerate(self.space.attributes)
        ]

    def _beside(self, axis: int, step: int) -> dict[str, Any] | None:
        found = self.space.beside(self.at.node, axis, step)
        return None if found is None else self._node(found)

    def _best_ones(self) -> list[Counted]:
        solved = np.flatnonzero(np.isfinite(self.space.costs))
        first = solved[np.argsort(self.space.costs[solved], kind="stable")][:LISTED]
        return [self.space.at(self.space.lattice.node(int(index))) for index in first]

    def _node(self, one: Counted) -> dict[str, Any]:
        return {
            "levels": self.space.levels(one.node),
            "solution": one.solution,
            "cost": one.cost if math.isfinite(one.cost) else None,
            "suppressed": one.suppressed,
            "classes": one.classes,
            "smallest_class": one.smallest_class,
        }


def explore(
    service: Service,
    actor: Actor,
    dataset_id: int,
    config: Mapping[str, Any],
    *,
    at: Mapping[str, int] | None = None,
    moves: bool = False,
) -> Explored:
    """Return the space of a config, counted for a while, and one of its nodes: `at`, or the best one.

    The audit log gets an entry, as for a preview; not if somebody only `moves` within a space that is kept.
    """
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = refuse_unready(dataset_for(service, connection, actor, dataset_id))
        stored = hierarchies.stored(service, connection, dataset_id)
    plan = read_plan(config, Dataset(names_of(dataset), stored))
    service.settings.rules.refuse(ReleaseTerms.of(plan))
    key = (str(dataset.table_sha256), _what_counts(plan).fingerprint())
    with kept_tables.working(service, dataset) as table:
        space, begun = kept_results.EXPLORATIONS.get(service, key, lambda: Exploration(table.frame, plan))
        if begun or not moves:
            log_reading(service, actor, dataset_id, "explore-plan", rows=0)
        space.count(FIRST_SECONDS if begun else SECONDS)
    return Explored(space, _chosen(space, at))


def _what_counts(plan: Plan) -> Plan:
    """The plan without what changes nothing about its space."""
    return replace(plan, search=SearchOptions(), title=None, purpose=None, recipient=None)


def _chosen(space: Exploration, at: Mapping[str, int] | None) -> Counted:
    if at is None:
        return space.middle
    node: Node | None = space.node_of(dict(at))
    if node is None:
        raise InputError(
            "at: names a level of each quasi-identifier, within its hierarchy and from its minimum_level on",
            code="explore-at",
            field="at",
        )
    return space.at(node)
