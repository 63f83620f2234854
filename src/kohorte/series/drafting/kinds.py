"""The kinds of series, by the name that the settings give them."""

from __future__ import annotations

import polars as pl

from kohorte.series.definition import Definition
from kohorte.series.drafting.growing_table import GrowingTable
from kohorte.series.drafting.level_table import LevelTable
from kohorte.series.drafting.region_table import RegionTable
from kohorte.series.memory.record import Record
from kohorte.series.settings import FULL_DOMAIN


def read_growing_table(definition: Definition, frame: pl.DataFrame, record: Record) -> GrowingTable:
    """Check a table against the definition of a series and the record of its rows."""
    kind: type[RegionTable | LevelTable] = LevelTable if definition.settings.kind == FULL_DOMAIN else RegionTable
    return kind.read(definition, frame, record)
