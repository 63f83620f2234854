"""A release as ciphertexts, on its way from the party that found it to the one that opens it.

Only cells that the release shows are in it: what was suppressed or generalized does not travel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Codes, Counts
from kohorte.parties.integration import random_order
from kohorte.parties.sealed import MISSING, STAR, Cells, SealedTable, malformed, pack, unpack
from kohorte.plans.plan import Plan


@dataclass(frozen=True, eq=False)
class SealedRelease:
    """The released columns: `codes[name][row]` is the index of a cell, or stands for missing or `*`.

    `facts` are the figures of the release. If a subset of the rows is released, `people[row]` counts all people who
    look like the row.
    """

    codes: Mapping[str, Codes] = field(repr=False)
    cells: Mapping[str, Cells] = field(repr=False)
    facts: Mapping[str, Any]
    people: Counts | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        table: SealedTable,
        rows: Codes,
        shown: Mapping[str, Codes],
        facts: Mapping[str, Any],
        *,
        people: Counts | None = None,
    ) -> SealedRelease:
        """The cells that a release shows: these rows of a table, with other cells in the columns of `shown`."""
        released = {
            name: shown[name] if name in shown else column.at(0)[rows] for name, column in table.columns.items()
        }
        found = {name: _used(codes, table.columns[name].cells) for name, codes in released.items()}
        codes, cells = {name: own[0] for name, own in found.items()}, {name: own[1] for name, own in found.items()}
        return cls(codes, cells, facts, people)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.codes.values())))

    def with_cells(self, cells: Mapping[str, Cells]) -> SealedRelease:
        """The same release with other ciphertexts."""
        return replace(self, cells=cells)

    def repeated(self, counts: Counts, most: int) -> SealedRelease:
        """The release in which each row stands as often as its count says, in random order; at most so many rows."""
        if len(counts) != self.rows or int(counts.sum()) > most:
            raise malformed("its counters do not fit its rows")
        rows = np.repeat(np.arange(self.rows), counts)[random_order(int(counts.sum()))]
        found = {name: _used(codes[rows], self.cells[name]) for name, codes in self.codes.items()}
        codes, cells = {name: own[0] for name, own in found.items()}, {name: own[1] for name, own in found.items()}
        return SealedRelease(codes, cells, self.facts)

    def permuted(self) -> SealedRelease:
        """The release in a random order of rows and of cells."""
        return self.permuted_rows()[0]

    def permuted_rows(self) -> tuple[SealedRelease, Counts]:
        """The release in a random order of rows and of cells, and that order of rows."""
        rows = random_order(self.rows)
        codes, cells = {}, {}
        for name, own in self.codes.items():
            order = random_order(len(self.cells[name]))
            place = np.empty(len(order), dtype=np.uint32)
            place[order] = np.arange(len(order))
            codes[name] = np.where(own < STAR, place[np.where(own < STAR, own, 0)] if len(place) else own, own)[rows]
            cells[name] = self.cells[name][order]
        return SealedRelease(codes, cells, self.facts, None if self.people is None else self.people[rows]), rows

    def opened(self, texts: Mapping[str, list[str | None]], plan: Plan) -> pl.DataFrame:
        """The release as text, in the order of the plan's columns; `texts[name]` are the opened cells."""
        columns = []
        for name in (name for name in plan.attributes if name in self.codes):
            labels = pl.Series(name, [*texts[name], SUPPRESSED, None], dtype=pl.String)
            codes = self.codes[name]
            number = np.where(codes == STAR, len(texts[name]), np.where(codes == MISSING, len(texts[name]) + 1, codes))
            columns.append(labels.gather(number.astype(np.uint32)))
        return pl.DataFrame(columns)

    def to_bytes(self) -> bytes:
        """The release as a message."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, (name, codes) in enumerate(self.codes.items()):
            arrays |= {f"{number}.codes": codes.astype(np.uint32), f"{number}.cells": self.cells[name]}
        arrays |= {} if self.people is None else {"people": self.people}
        return pack({"columns": list(self.codes), "facts": dict(self.facts)}, arrays)

    @classmethod
    def from_bytes(cls, message: bytes, columns: Sequence[str]) -> SealedRelease:
        """Read a message; one that is not a release of these columns is refused."""
        head, arrays = unpack(message)
        names, facts = head.get("columns"), head.get("facts")
        if not isinstance(names, list) or not isinstance(facts, dict) or sorted(map(str, names)) != sorted(columns):
            raise malformed("it is not a release of the columns of the study")
        codes, cells = {}, {}
        for number, name in enumerate(names):
            own, of = arrays.get(f"{number}.codes"), arrays.get(f"{number}.cells")
            if (
                own is None
                or of is None
                or own.dtype != np.uint32
                or own.ndim != 1
                or of.ndim != 2
                or of.dtype != np.uint8
            ):
                raise malformed("a column of the release is incomplete")
            known = own[own < STAR]
            if known.size and int(known.max()) >= len(of):
                raise malformed("a row refers to a cell that is not there")
            codes[str(name)], cells[str(name)] = own, of
        if len({len(own) for own in codes.values()}) != 1:
            raise malformed("the columns of the release do not fit together")
        people = arrays.get("people")
        if people is not None and (people.dtype != np.int64 or people.shape != next(iter(codes.values())).shape):
            raise malformed("the people of the release do not fit its rows")
        return cls(codes, cells, facts, people)


def _used(codes: Codes, cells: Cells) -> tuple[Codes, Cells]:
    """The cells that occur, and the codes for them."""
    used = np.unique(codes[codes < STAR])
    place = np.zeros(len(cells) + 1, dtype=np.uint32)
    place[used] = np.arange(len(used))
    return np.where(codes < STAR, place[np.where(codes < STAR, codes, 0)], codes).astype(np.uint32), cells[used]
