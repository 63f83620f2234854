"""Metrics for Prometheus: requests, jobs, workers and queries; no personal data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from kohorte.service.context import Service
from kohorte.service.jobs.queue import clock
from kohorte.service.storage.schema import answered, jobs, workers

SEEN_WITHIN = timedelta(seconds=30)
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
STATES = ("queued", "running", "done", "failed", "cancelled")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of an application; several processes share a folder in which they are summed."""

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry()
        self._tables = _Tables(service)
        self._requests = Counter(
            "kohorte_requests", "Requests by status", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "kohorte_request_seconds", "Duration of requests", ["route"], buckets=BUCKETS, registry=self._registry
        )
        self._refused = Counter(
            "kohorte_questions_refused", "Queries refused because of the budget", registry=self._registry
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_refusal(self) -> None:
        """Count a query that was refused because of the budget."""
        self._refused.inc()

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        counted = self._registry
        if SHARED_FOLDER in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        tables = CollectorRegistry()
        tables.register(self._tables)
        return generate_latest(counted) + generate_latest(tables)


class _Tables(Collector):
    """Metrics that are read from the database on request."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Count jobs, workers and answers."""
        by_state = select(jobs.c.state, func.count().label("number")).group_by(jobs.c.state)
        with self._service.database.reading() as connection:
            counts = {row.state: row.number for row in connection.execute(by_state)}
            answers = connection.execute(select(func.count()).select_from(answered)).scalar_one()
        family = GaugeMetricFamily("kohorte_jobs", "Jobs by state", labels=["state"])
        for state in STATES:
            family.add_metric([state], counts.get(state, 0))
        yield family
        yield GaugeMetricFamily("kohorte_workers", "Workers seen in the last 30 s", value=workers_seen(self._service))
        yield GaugeMetricFamily("kohorte_questions_answered", "Queries answered from a budget", value=answers)


def workers_seen(service: Service) -> int:
    """Return the number of workers with a recent heartbeat."""
    with service.database.reading() as connection:
        lately = workers.c.seen_at > clock(connection) - SEEN_WITHIN
        return connection.execute(select(func.count()).select_from(workers).where(lately)).scalar_one()
