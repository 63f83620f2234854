"""Evaluate a plan on a dataset: the release that it would give, in figures and with a few rows; nothing is stored.

The table of a dataset stays in memory for a while, encoded and with the nodes that were counted (`preview_cache` bytes
of all tables, the least recently used are dropped), because a steward changes a plan many times; all work together
takes at most `preview_memory` bytes beside them. A search that takes
longer than `SECONDS` is stopped with the best release so far, which is then not marked as optimal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import as_text
from kohorte.plans import Plan
from kohorte.progress import Progress
from kohorte.release import warnings
from kohorte.release.release import Release
from kohorte.release.telling.verdict import judge
from kohorte.release.words import levels_in_words
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.house_rules import ReleaseTerms
from kohorte.service.permissions import Permission
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.service.projects.store import names_of

SECONDS = 5.0
SHOWN_ROWS = 5


def evaluate(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a config would release; refuse what a project with it would be refused for, too."""
    release, told = _evaluated(service, actor, dataset_id, config)
    log_reading(service, actor, dataset_id, "evaluate-plan", rows=SHOWN_ROWS)
    shown = pl.DataFrame(release.data).head(SHOWN_ROWS)
    texts = [as_text(column).fill_null("").to_list() for column in shown.get_columns()]
    return {**told, "sample": {"columns": shown.columns, "rows": [list(row) for row in zip(*texts, strict=True)]}}


def figures(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a config would release as `evaluate` does, without rows: for people who must not see values."""
    _, told = _evaluated(service, actor, dataset_id, config)
    log_reading(service, actor, dataset_id, "evaluate-plan", rows=0)
    return told


def plan_and_dataset(
    service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]
) -> tuple[Plan, Row[Any]]:
    """Return the plan of a config, with the stored hierarchies of its dataset, and the dataset."""
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        stored = hierarchies.stored(service, connection, dataset_id)
    return read_plan(config, Dataset(names_of(dataset), stored)), dataset


def _evaluated(
    service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]
) -> tuple[Release, dict[str, Any]]:
    plan, dataset = plan_and_dataset(service, actor, dataset_id, config)
    service.settings.rules.refuse(ReleaseTerms.of(plan))
    began = time.perf_counter()
    with kept_tables.working(service, dataset) as table:
        release = table.anonymize(plan, progress=Patience(SECONDS))
    return release, _told(release, plan, time.perf_counter() - began)


def _told(release: Release, plan: Plan, seconds: float) -> dict[str, Any]:
    facts = release.to_dict()
    smallest = release.smallest_class
    return {
        "plan_sha256": plan.fingerprint(),
        **{name: facts[name] for name in ("cost", "metric", "levels", "rows", "suppressed", "people", "unit")},
        "classes": release.classes,
        "smallest_class": smallest,
        "highest_risk": 1 / smallest if smallest else 0.0,
        "optimal": release.optimal,
        "levels_in_words": levels_in_words(release),
        "lost_values": facts["lost_values"],
        "verdict": judge(release.verification, warnings(release)).to_dict(),
        "seconds": round(seconds, 3),
    }


class Patience:
    """Lets a search go on for some seconds."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def __call__(self, progress: Progress) -> bool:
        """Whether to go on."""
        del progress
        return time.monotonic() < self._until
