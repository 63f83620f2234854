"""Check whether a hierarchy fits the data; the answer contains counts and row numbers, no values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.hierarchies.builder import Builder
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED, split_groups, split_message
from kohorte.kernels.arrays import Codes

ROW_NUMBERS_SHOWN = 10


@dataclass(frozen=True)
class HierarchyCheck:
    """The findings of `check_hierarchy`; row 1 is the first row below the header.

    `collisions` counts labels that mean different sets of values at different levels, or that equal
    an original value which they do not cover.
    """

    attribute: str
    levels: int
    values: int
    missed_values: int
    missed_rows: int
    missed_row_numbers: tuple[int, ...]
    unused_values: int
    monotone: bool
    collisions: int
    groups_per_level: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the hierarchy is monotone, without collisions, and knows every value of the data."""
        return self.monotone and self.missed_values == 0 and self.collisions == 0

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        found = {name: list(item) if isinstance(item, tuple) else item for name, item in asdict(self).items()}
        return found | {"ok": self.ok}

    def text(self) -> str:
        """Readable lines."""
        groups = " > ".join(str(count) for count in self.groups_per_level)
        lines = [
            f"{self.attribute}: {'fits the data' if self.ok else 'does NOT fit the data'}",
            f"  levels            {self.levels} (groups per level: {groups})",
            f"  values            {self.values}, of which {self.unused_values} are not in the data",
            f"  missed            {self._missed()}",
            f"  monotone          {'yes' if self.monotone else 'NO'}",
            f"  label collisions  {self.collisions}",
        ]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _missed(self) -> str:
        if not self.missed_rows:
            return "none"
        rows = ", ".join(str(row) for row in self.missed_row_numbers)
        more = ", ..." if self.missed_rows > len(self.missed_row_numbers) else ""
        return f"{self.missed_values} values in {self.missed_rows} rows (rows {rows}{more})"


def check_hierarchy(source: Builder | Hierarchy, column: pl.Series, *, attribute: str) -> HierarchyCheck:
    """Compare a hierarchy, or the one that a builder makes from the data, with a column of the data.

    Null and empty cells are missing, not missed. Levels that are not monotone are reported; other faults
    (a ragged file, a duplicate value) are errors here as elsewhere.
    """
    cells = column.cast(pl.String)
    present = (cells.is_not_null() & (cells != "")).fill_null(False)
    distinct = cells.filter(present).unique().sort()
    hierarchy = _hierarchy(source, distinct, attribute=attribute)
    positions = hierarchy.encode(distinct)
    missed = distinct.filter(positions < 0)
    missed_rows = np.flatnonzero((present & cells.is_in(missed.implode())).to_numpy()) + 1
    splits = split_groups(hierarchy.groups)
    return HierarchyCheck(
        attribute=attribute,
        levels=hierarchy.top + 1,
        values=len(hierarchy.values),
        missed_values=len(missed),
        missed_rows=len(missed_rows),
        missed_row_numbers=tuple(int(row) for row in missed_rows[:ROW_NUMBERS_SHOWN]),
        unused_values=_unused(hierarchy, positions, any_missing=not present.all()),
        monotone=not any(splits),
        collisions=collisions(hierarchy),
        groups_per_level=tuple(len(labels) for labels in hierarchy.labels),
        notes=(*hierarchy.notes, *_split_notes(splits, hierarchy.groups)),
    )


def _hierarchy(source: Builder | Hierarchy, distinct: pl.Series, *, attribute: str) -> Hierarchy:
    if isinstance(source, Hierarchy):
        return source
    labels = source.label(distinct.to_list(), attribute=attribute)
    return Hierarchy.from_columns(
        labels.columns,
        attribute=attribute,
        shares=labels.shares,
        notes=labels.notes,
        splits_allowed=True,
    )


def _split_notes(splits: Sequence[int], groups: Sequence[Codes]) -> list[str]:
    return [f"not monotone: {split_message(at, count, groups)}" for at, count in enumerate(splits) if count]


def _unused(hierarchy: Hierarchy, positions: NDArray[np.int64], *, any_missing: bool) -> int:
    used = int((positions >= 0).sum())
    return len(hierarchy.values) - used - int(any_missing and "" in hierarchy.values)


def collisions(hierarchy: Hierarchy) -> int:
    """Count labels that mean different sets of values; a set is identified by a 64-bit sum of random marks."""
    count = len(hierarchy.values)
    if count == 0:
        return 0
    marks = np.random.default_rng(0).integers(0, 2**63, size=count, dtype=np.uint64)
    above = pl.concat(
        _meanings(labels, groups, marks)
        for labels, groups in zip(hierarchy.labels[1:], hierarchy.groups[1:], strict=True)
    ).filter(pl.col("label") != SUPPRESSED)
    ambiguous = above.unique(["label", "meaning"]).filter(pl.col("label").is_duplicated())
    colliding = {*ambiguous["label"].to_list(), *_false_values(hierarchy)}
    return len(colliding)


def _meanings(labels: Sequence[str], groups: Codes, marks: NDArray[np.uint64]) -> pl.DataFrame:
    sums = np.zeros(len(labels), dtype=np.uint64)
    np.add.at(sums, groups, marks)
    return pl.DataFrame({"label": list(labels), "meaning": sums})


def _false_values(hierarchy: Hierarchy) -> set[str]:
    """Labels above level 0 that equal a value which is not in their group."""
    false: set[str] = set()
    for labels, groups in zip(hierarchy.labels[1:], hierarchy.groups[1:], strict=True):
        positions = hierarchy.encode(labels)
        alike = np.flatnonzero(positions >= 0)
        false.update(labels[group] for group in alike if groups[positions[group]] != group)
    return false
