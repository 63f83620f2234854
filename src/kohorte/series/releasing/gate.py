"""What examines a release of a series before it is made, such as a disclosure ledger; a series itself knows none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from kohorte.kernels.arrays import Integers
from kohorte.series.drafting.growing_table import Draft


class Gate(Protocol):
    """Lets a release pass, makes it leave people out, or refuses it; remembers it before it is made."""

    def draft_passed(self, frame: pl.DataFrame, make: Callable[[pl.DataFrame], Draft]) -> Draft:
        """Return the draft of the table, or of the part of it that may be shown."""

    def again_passed(self, frame: pl.DataFrame, rows: Integers, regions: Integers, data: pl.DataFrame) -> None:
        """Refuse to write an earlier release again; `rows` of the table are in these regions, `data` shows them."""

    def commit(self, sha256: str, names: Sequence[tuple[Path, Path]]) -> None:
        """Remember the release; the series gets it, and its files get their names, after this."""
