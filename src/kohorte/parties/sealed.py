"""Tables whose cells are ciphertexts: what parties send to each other.

A row refers to a value of each column by its index. Each value has a label at every level of its hierarchy, and each
label is a cell: a ciphertext. Missing values and `*` are not encrypted, because every release shows them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import ProtocolError
from kohorte.kernels.arrays import Codes, Counts, Floats

Cells = NDArray[np.uint8]
"""Ciphertexts of equal length, one per row of the matrix."""

MISSING, STAR = np.uint32(2**32 - 1), np.uint32(2**32 - 2)
"""What stands for a missing value and for `*` where otherwise the index of a cell stands."""


@dataclass(frozen=True, eq=False)
class SealedColumn:
    """One column: `codes[row]` is the index of a value, `levels[value, level]` the index of its cell at that level.

    `shares[value, level]` is the share of the domain that the label covers; None if it is to be counted from the values
    of all parties.
    """

    codes: Codes = field(repr=False)
    levels: Codes = field(repr=False)
    cells: Cells = field(repr=False)
    shares: Floats | None = field(default=None, repr=False)

    def with_cells(self, cells: Cells) -> SealedColumn:
        """The same column with other ciphertexts for the same labels."""
        return replace(self, cells=cells)

    def chosen(self, rows: Counts) -> SealedColumn:
        """The column of these rows."""
        return replace(self, codes=self.codes[rows])

    def at(self, level: int) -> Codes:
        """The index of the cell of each row at a level."""
        shown: Codes = self.levels[:, level][self.codes]
        return shown


@dataclass(frozen=True, eq=False)
class SealedTable:
    """Columns of the same length; `identifiers` are encrypted, too, if rows are to be joined.

    `counters` are ciphertexts of how many people each row stands for, if there are dummy rows.
    """

    columns: Mapping[str, SealedColumn]
    identifiers: Cells | None = field(default=None, repr=False)
    counters: Cells | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """The number of rows, dummy rows included."""
        return len(next(iter(self.columns.values())).codes)

    def chosen(self, rows: Counts) -> SealedTable:
        """The table of these rows, in this order."""
        return SealedTable(
            {name: column.chosen(rows) for name, column in self.columns.items()},
            None if self.identifiers is None else self.identifiers[rows],
            None if self.counters is None else self.counters[rows],
        )

    def to_bytes(self) -> bytes:
        """The table as a message."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, column in enumerate(self.columns.values()):
            arrays |= {f"{number}.codes": _narrow(column.codes), f"{number}.levels": column.levels}
            arrays |= {f"{number}.cells": column.cells}
            arrays |= {} if column.shares is None else {f"{number}.shares": column.shares}
        arrays |= {} if self.identifiers is None else {"identifiers": self.identifiers}
        arrays |= {} if self.counters is None else {"counters": self.counters}
        return pack({"columns": list(self.columns)}, arrays)

    @classmethod
    def from_bytes(cls, message: bytes) -> SealedTable:
        """Read a message; one that is not a table, or refers to what is not there, is refused."""
        facts, arrays = unpack(message)
        names = facts.get("columns")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise malformed("it names no columns")
        columns = {name: _column(arrays, number) for number, name in enumerate(names)}
        if len(columns) < len(names) or len({len(column.codes) for column in columns.values()}) != 1:
            raise malformed("its columns do not fit together")
        table = cls(columns, _matrix(arrays.get("identifiers")), _matrix(arrays.get("counters")))
        for part in (table.identifiers, table.counters):
            if part is not None and len(part) != table.rows:
                raise malformed("its columns do not fit together")
        return table


def _narrow(codes: Codes) -> NDArray[Any]:
    """Codes in the smallest type that holds them."""
    largest = int(codes.max(initial=0))
    return codes.astype(np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32)


def _column(arrays: Mapping[str, NDArray[Any]], number: int) -> SealedColumn:
    codes, levels = arrays.get(f"{number}.codes"), arrays.get(f"{number}.levels")
    cells, shares = _matrix(arrays.get(f"{number}.cells")), arrays.get(f"{number}.shares")
    if codes is None or levels is None or cells is None or codes.ndim != 1 or levels.ndim != 2:
        raise malformed("a column is incomplete")
    if levels.dtype != np.uint32 or codes.dtype not in (np.uint8, np.uint16, np.uint32) or not levels.shape[1]:
        raise malformed("a column has numbers of the wrong kind")
    if codes.size and int(codes.max()) >= len(levels):
        raise malformed("a row refers to a value that is not there")
    known = levels[levels < STAR]
    if known.size and int(known.max()) >= len(cells):
        raise malformed("a value refers to a cell that is not there")
    if shares is not None and (shares.shape != levels.shape or shares.dtype != np.float64 or not _are_shares(shares)):
        raise malformed("the shares of a hierarchy do not fit")
    return SealedColumn(codes.astype(np.uint32), levels, cells, shares)


def _are_shares(shares: Floats) -> bool:
    return bool(((shares >= 0) & (shares <= 1)).all())


def _matrix(array: NDArray[Any] | None) -> Cells | None:
    if array is not None and (array.ndim != 2 or array.dtype != np.uint8):
        raise malformed("its ciphertexts are not a table of bytes")
    return array


# Messages: plain facts as JSON, then arrays


def pack(facts: Mapping[str, object], arrays: Mapping[str, NDArray[Any]] = MappingProxyType({})) -> bytes:
    """A message of plain facts and arrays of numbers."""
    heads = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    head = json.dumps([dict(facts), heads], ensure_ascii=False).encode()
    return b"".join(
        [len(head).to_bytes(4, "little"), head, *(np.ascontiguousarray(a).tobytes() for a in arrays.values())]
    )


KINDS = ("|u1", "<u2", "<u4", "<u8", "<i8", "<f8", "|b1")


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a message that `pack` made; anything else is refused."""
    try:
        length = int.from_bytes(message[:4], "little")
        facts, heads = json.loads(message[4 : 4 + length])
        position, arrays = 4 + length, {}
        for name, kind, shape in heads:
            if kind not in KINDS or not all(type(size) is int and size >= 0 for size in shape):
                raise malformed("it has numbers of an unknown kind")
            size = int(np.prod(shape, dtype=object)) * np.dtype(kind).itemsize
            if position + size > len(message):
                raise malformed("it ends too early")
            arrays[str(name)] = np.frombuffer(message, kind, size // np.dtype(kind).itemsize, position).reshape(shape)
            position += size
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise malformed("its head cannot be read") from None
    if not isinstance(facts, dict) or position != len(message):
        raise malformed("its parts do not add up")
    return facts, arrays


def malformed(reason: str) -> ProtocolError:
    """The error for a message that another party must not send."""
    return ProtocolError(f"a message of another party is not valid: {reason}", code="party-message-malformed")


__all__ = ["MISSING", "STAR", "Cells", "SealedColumn", "SealedTable", "malformed", "pack", "unpack"]
