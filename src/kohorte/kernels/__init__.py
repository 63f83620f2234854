"""Functions on arrays: compiled kernels if they are installed, otherwise the same functions in NumPy.

`KOHORTE_KERNELS=reference` selects the NumPy kernels, `KOHORTE_KERNELS=native` raises an error without the compiled
ones. `KERNELS` says which are in use.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from kohorte.errors import InputError
from kohorte.kernels import (
    csv_scan_reference,
    cuts_reference,
    histogram_reference,
    least_loss_reference,
    points_reference,
    reference,
    split_sets_reference,
)
from kohorte.kernels.arrays import Bytes
from kohorte.kernels.csv_scan_reference import CsvScan


def _choose() -> tuple[str, Any]:
    wanted = os.environ.get("KOHORTE_KERNELS", "")
    if wanted not in ("", "native", "reference"):
        raise InputError("KOHORTE_KERNELS must be 'native' or 'reference'", code="kernels-unknown")
    if wanted == "reference":
        return "reference", reference
    try:
        return "native", importlib.import_module("kohorte.kernels._native")
    except ImportError:
        if wanted == "native":
            raise InputError(
                "KOHORTE_KERNELS=native, but this installation has no compiled kernels",
                code="kernels-missing",
            ) from None
        return "reference", reference


KERNELS, _kernels = _choose()
COMPILED_KERNELS_ARE_MISSING = KERNELS == "reference" and os.environ.get("KOHORTE_KERNELS") != "reference"

if TYPE_CHECKING:  # both kernels have the same interface
    from kohorte.kernels.cuts_reference import Cutter
    from kohorte.kernels.histogram_reference import (
        Tree,
        entropies,
        equal_distance,
        ordered_distance,
        sort_cells,
        top_counts,
    )
    from kohorte.kernels.least_loss_reference import LossCutter, Regrouper
    from kohorte.kernels.points_reference import Ristretto
    from kohorte.kernels.reference import Grouper, Guess, Rows, Shelf, Workers
    from kohorte.kernels.split_sets_reference import SplitSets
else:
    Grouper, Guess, Rows = _kernels.Grouper, _kernels.Guess, _kernels.Rows
    Shelf, Workers = _kernels.Shelf, _kernels.Workers
    Cutter = _kernels.Cutter if KERNELS == "native" else cuts_reference.Cutter
    _histograms = _kernels if KERNELS == "native" else histogram_reference
    Tree, sort_cells, top_counts = _histograms.Tree, _histograms.sort_cells, _histograms.top_counts
    entropies = _histograms.entropies
    equal_distance, ordered_distance = _histograms.equal_distance, _histograms.ordered_distance
    _least_loss = _kernels if KERNELS == "native" else least_loss_reference
    LossCutter, Regrouper = _least_loss.LossCutter, _least_loss.Regrouper
    Ristretto = _kernels.Ristretto if KERNELS == "native" else points_reference.Ristretto
    SplitSets = _kernels.SplitSets if KERNELS == "native" else split_sets_reference.SplitSets
best_covers = _kernels.best_covers
least_likely = _kernels.least_likely
summarize = _kernels.summarize
_csv_scan = _kernels.csv_scan if KERNELS == "native" else csv_scan_reference.csv_scan


def csv_scan(data: Bytes, separator: int, fields: int) -> CsvScan:
    """Scan the bytes of a CSV file; `fields=0` expects as many fields as the first record has."""
    return CsvScan(*_csv_scan(data, separator, fields))


__all__ = [
    "COMPILED_KERNELS_ARE_MISSING",
    "KERNELS",
    "CsvScan",
    "Cutter",
    "Grouper",
    "Guess",
    "LossCutter",
    "Regrouper",
    "Ristretto",
    "Rows",
    "Shelf",
    "SplitSets",
    "Tree",
    "Workers",
    "best_covers",
    "csv_scan",
    "entropies",
    "equal_distance",
    "least_likely",
    "ordered_distance",
    "sort_cells",
    "summarize",
    "top_counts",
]
