"""Try a plan with other values of k and of the suppression limit on a dataset; nothing is stored, no row is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.datasets import kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.previews.evaluation import plan_and_dataset
from kohorte.tradeoff import Tradeoff, tradeoff

SECONDS = 8.0
"""For all searches together; those that are stopped are not marked as optimal."""


def tried(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> Tradeoff:
    """Return what other settings of a config would cost; figures only."""
    plan, dataset = plan_and_dataset(service, actor, dataset_id, config)
    with kept_tables.working(service, dataset) as table:
        found = tradeoff(table.frame, plan, seconds=SECONDS)
    log_reading(service, actor, dataset_id, "try-settings", rows=0)
    return found
