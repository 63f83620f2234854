"""A hospital with a ledger, and the check of a request against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.holding import Holding
from kohorte.exchange.request import Request
from kohorte.exchange.statistics import shipped_statistics
from testbed.hospital import holding

TODAY = date(2026, 11, 17)
Checked = Callable[..., Check]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(tmp_path / "house", create=True)
    yield opened
    opened.close()


@pytest.fixture
def check(ledger: Ledger) -> Checked:
    def checked(request: Request, table: pl.DataFrame, house: Holding | None = None) -> Check:
        return check_request(request, table, house or holding(), shipped_statistics(), ledger, today=TODAY)

    return checked
