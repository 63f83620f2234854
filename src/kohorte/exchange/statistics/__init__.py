"""Global statistics: how frequent diseases, medications, occupations and others are, and who says so."""

from kohorte.exchange.statistics.entries import Entry, StatisticsTable
from kohorte.exchange.statistics.lookup import Frequency, Gap, Statistics
from kohorte.exchange.statistics.official import LAYOUTS, kind_of_layout, read_official
from kohorte.exchange.statistics.origin import KINDS, Origin
from kohorte.exchange.statistics.reading import read_statistics
from kohorte.exchange.statistics.shipped import shipped_statistics
from kohorte.exchange.statistics.store import StatisticsFolder, Version

__all__ = [
    "KINDS",
    "LAYOUTS",
    "Entry",
    "Frequency",
    "Gap",
    "Origin",
    "Statistics",
    "StatisticsFolder",
    "StatisticsTable",
    "Version",
    "kind_of_layout",
    "read_official",
    "read_statistics",
    "shipped_statistics",
]
