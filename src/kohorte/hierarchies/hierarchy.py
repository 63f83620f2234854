"""How the values of one attribute are generalized, level by level."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kohorte.errors import InputError
from kohorte.hierarchies.labels import (
    SUPPRESSED,
    group_shares,
    label_groups,
    label_table,
    refuse_bad_labels,
    refuse_splits,
    with_top,
)
from kohorte.kernels.arrays import Codes, Floats

__all__ = ["SUPPRESSED", "Hierarchy"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one attribute: level 0 is the value itself, the top level is `*`.

    `groups[level][i]` is the group of value `i`, `labels[level][g]` the label of group `g`,
    `shares[level][g]` the share of the domain that group `g` no longer distinguishes: 0 for a value, 1 for `*`.
    """

    values: tuple[str, ...] = field(repr=False)
    groups: tuple[Codes, ...] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    shares: tuple[Floats, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_columns(
        cls,
        columns: pl.DataFrame | Sequence[Sequence[str]],
        *,
        attribute: str,
        shares: Sequence[ArrayLike] | None = None,
        notes: Sequence[str] = (),
        splits_allowed: bool = False,
    ) -> Self:
        """Make a hierarchy from a table of labels: column 0 the values, column i their labels at level i.

        `shares[i]` gives, for each row, the share of its group at level i; without it the shares count
        values: (values in the group - 1) / (all values - 1). If the last level is not `*` for all values,
        a level `*` is added on top, with a note. `splits_allowed` is for `check_hierarchy` alone, which
        reports levels that are not monotone instead of refusing them.
        """
        table = label_table(columns, attribute=attribute)
        refuse_bad_labels(table, attribute=attribute)
        complete = with_top(table)
        coded = [label_groups(complete.to_series(level)) for level in range(complete.width)]
        groups = tuple(group for group, _ in coded)
        labels = tuple(names for _, names in coded[:-1])
        if not splits_allowed:
            refuse_splits(groups, attribute=attribute)
        if complete.width > table.width:
            notes = (*notes, f"level {table.width} (*) was added: the last level was not * for all values")
        return cls(
            values=labels[0],
            groups=groups,
            labels=(*labels, (SUPPRESSED,)),
            shares=group_shares(groups, shares, attribute=attribute),
            notes=tuple(notes),
        )

    @property
    def top(self) -> int:
        """The number of the top level; there are `top + 1` levels."""
        return len(self.groups) - 1

    def column(self, level: int) -> Sequence[str]:
        """The label of every value at a level, in the order of `values`."""
        labels = self.labels[level]
        return [labels[group] for group in self.groups[level]]

    def table(self) -> pl.DataFrame:
        """All labels, one row per value, one column per level (named by its number)."""
        return pl.DataFrame(
            {
                str(level): pl.Series(labels, dtype=pl.String).gather(groups)
                for level, (groups, labels) in enumerate(zip(self.groups, self.labels, strict=True))
            }
        )

    def encode(self, values: Sequence[str | None] | pl.Series) -> NDArray[np.int64]:
        """The index into `self.values` of each value; -1 if the hierarchy does not contain it."""
        series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=pl.String, strict=False)
        codes = series.cast(pl.String).cast(self._domain, strict=False).to_physical()
        return codes.cast(pl.Int64).fill_null(-1).to_numpy()

    def fixed(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy itself: it contains its own values and no others."""
        del hierarchy
        return self

    def fingerprint(self) -> str:
        """SHA-256 over all labels; the order of the values does not matter, nor do shares and notes."""
        order = pl.Series(self.values, dtype=pl.String).arg_sort()
        levels = ", ".join(
            f"[{_quoted(labels).gather(groups).gather(order).str.join(', ').item()}]"
            for groups, labels in zip(self.groups, self.labels, strict=True)
        )
        return hashlib.sha256(f"[{levels}]".encode("ascii")).hexdigest()

    @cached_property
    def _domain(self) -> pl.Enum:
        try:
            return pl.Enum(pl.Series(self.values, dtype=pl.String))
        except pl.exceptions.PolarsError:
            raise InputError("a hierarchy contains a value twice", code="hierarchy-duplicate-values") from None


def _quoted(labels: Sequence[str]) -> pl.Series:
    """Labels as JSON writes them; each is written once, however many values have it."""
    return pl.Series([encode_basestring_ascii(label) for label in labels], dtype=pl.String)
