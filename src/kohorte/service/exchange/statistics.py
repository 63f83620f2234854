"""Statistics of the world for users of the service: import, list, and what is old or missing."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.statistics import (
    LAYOUTS,
    Origin,
    StatisticsFolder,
    StatisticsTable,
    read_official,
    read_statistics,
    shipped_statistics,
)
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.trust.folders import note, opened

FILE = "statistics.csv"


def add_shipped(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """Import the tables that come with Kohorte."""
    return _added(service, actor, shipped_statistics().tables)


def add(service: Service, actor: Actor, origin: Mapping[str, Any], table: str, layout: str | None) -> dict[str, Any]:
    """Import a table of frequencies, given as CSV text, as a new version."""
    given = dict(origin)
    if layout is not None and layout in LAYOUTS and given.get("kind") is None:
        given["kind"] = LAYOUTS[layout][0]
    described = Origin.from_dict(given)
    with tempfile.TemporaryDirectory(prefix="kohorte-statistics-") as folder:
        file = Path(folder) / FILE
        file.write_text(table, encoding="utf-8")
        read = read_statistics(file, described) if layout is None else read_official(file, layout, described)
    return _added(service, actor, [read])[0]


def listed(service: Service) -> list[dict[str, Any]]:
    """All versions of all tables."""
    with opened(service, Part.EXCHANGE) as folder:
        return [one.to_dict() for one in StatisticsFolder(folder.path / "statistics").versions()]


def problems(service: Service, policy: str) -> list[str]:
    """What is old, and what is missing, by a policy."""
    years = CheckPolicy.named(policy).statistics_years
    with opened(service, Part.EXCHANGE) as folder:
        statistics = StatisticsFolder(folder.path / "statistics")
        statistics.statistics()  # reads every table and compares it with its hash
        return list(statistics.problems(oldest_years=years, today=datetime.now(UTC).date()))


def _added(service: Service, actor: Actor, tables: Any) -> list[dict[str, Any]]:
    found: list[StatisticsTable] = list(tables)
    with opened(service, Part.EXCHANGE) as folder:
        statistics = StatisticsFolder(folder.path / "statistics")
        made = [statistics.add(table).to_dict() for table in found]
    note(service, actor, "import-statistics", "statistics", tables=len(made))
    return made
