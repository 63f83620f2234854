"""The small set of statistics that comes with Kohorte: published figures, rounded down, and estimates that say so."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kohorte.data import read_csv, strict_yaml
from kohorte.exchange.statistics.entries import StatisticsTable
from kohorte.exchange.statistics.lookup import Statistics
from kohorte.exchange.statistics.origin import Origin
from kohorte.exchange.statistics.reading import entries_of

FOLDER = Path(__file__).with_name("shipped")


@cache
def shipped_statistics() -> Statistics:
    """The statistics that come with Kohorte; import better ones for your country before you rely on a check."""
    index = strict_yaml.load(
        (FOLDER / "index.yaml").read_text(encoding="utf-8"), source="index.yaml", code="exchange-statistics-origin"
    )
    assert isinstance(index, dict), "a file of the package"
    return Statistics(tuple(_table(name, facts) for name, facts in index.items()))


def _table(name: str, facts: dict[str, object]) -> StatisticsTable:
    origin = Origin.from_dict({"name": name, **facts})
    source = f"{name}.csv"
    frame = read_csv((FOLDER / source).read_bytes(), source=source).frame
    return StatisticsTable(origin, tuple(entries_of(frame, origin, source=source)))
