"""The kinds of series, by the name that the settings give them."""

from __future__ import annotations

import polars as pl

from kohorte.series.definition import Definition
from kohorte.series.draft import Table
from kohorte.series.growing import GrowingTable
from kohorte.series.levels.full_domain import LeveledTable
from kohorte.series.memory.record import Record
from kohorte.series.settings import FULL_DOMAIN


def read_table(definition: Definition, frame: pl.DataFrame, record: Record) -> GrowingTable:
    """Check a table against what a series is about and what it remembers."""
    kind: type[Table] | type[LeveledTable] = LeveledTable if definition.settings.kind == FULL_DOMAIN else Table
    return kind.read(definition, frame, record)
