"""A release that was opened: the rows in plain text, the figures and the seconds of the phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """The rows of a release, not yet verified; `facts` came from the party that found it."""

    frame: pl.DataFrame = field(repr=False)
    facts: Mapping[str, Any]
    seconds: Mapping[str, float]
