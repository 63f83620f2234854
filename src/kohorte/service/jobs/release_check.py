"""The job that checks a request of another institution against a table of the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.disclosures.exits.waiting import ledger_of_house
from kohorte.exchange.checking.check import check_request
from kohorte.exchange.deciding.folder import RequestFolder
from kohorte.exchange.holding import Holding
from kohorte.exchange.statistics import StatisticsFolder
from kohorte.progress import Progress, Stage, tell
from kohorte.trust.folder import TrustFolder


def checked(asked: Mapping[str, Any], table: pl.DataFrame, progress: Callable[[Progress], object]) -> dict[str, Any]:
    """Check a request, keep the check in the folder of the house, and return what is recommended."""
    folder = RequestFolder(TrustFolder.opened(Path(asked["folder"])))
    with ledger_of_house(Path(asked["ledger"]), Path(asked["patients"]), actor=asked["actor"]) as ledger:
        statistics = StatisticsFolder(folder.trust.path / "statistics").statistics()
        holding = Holding.from_dict(asked["holding"])
        request = folder.request(asked["number"])
        today = datetime.now(UTC).date()
        found = check_request(request, table, holding, statistics, ledger, today=today, progress=progress)
    tell(progress, Stage.WRITING, "the check")  # the last moment to cancel: what is kept can be decided about
    folder.keep(asked["number"], found, actor=asked["actor"])
    return {
        "request": asked["number"],
        "check": found.record.sha256,
        "recommendation": found.record.recommendation,
        "reasons": found.record["recommendation"]["reasons"],
    }
