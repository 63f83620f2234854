"""Read how large a Parquet file is when it is unpacked, without unpacking anything.

The footer states rows, columns, row groups and bytes, and the header before each page states the bytes of the page.
Both are read here, because a reader reserves memory by the headers of pages, and the footer could claim less. Only the
fields that are needed are kept; everything else is skipped.

Source
    Apache Parquet, parquet-format: parquet.thrift and README, version 2.11; Apache Thrift, Compact protocol encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kohorte.errors import InputError

MAGIC = b"PAR1"
TAIL = 8
"""The last bytes of a file: the length of the footer and the magic number."""
DEEPEST = 32
MOST_PAGES = 200_000
LONGEST_NUMBER = 10
STOP, TRUE, FALSE = 0, 1, 2
Fields: TypeAlias = Mapping[int, Any]

# Numbers of fields in parquet.thrift
SCHEMA, ROWS, ROW_GROUPS = 2, 3, 4
CHILDREN = 5
COLUMNS, GROUP_ROWS = 1, 3
CHUNK = 3
VALUES, UNCOMPRESSED, COMPRESSED, DATA_PAGE, DICTIONARY_PAGE = 5, 6, 7, 9, 11
PAGE_UNCOMPRESSED, PAGE_COMPRESSED = 2, 3


class _Damaged(Exception):
    """The bytes are not what the format says."""


@dataclass(frozen=True)
class UnpackedSize:
    """The size of a Parquet file when it is unpacked: the larger of what its footer and its pages state."""

    rows: int
    columns: int
    row_groups: int
    bytes: int


def unpacked_size(data: bytes) -> UnpackedSize:
    """Return the size that a Parquet file states; refuse one that cannot be understood or has too many pages."""
    try:
        return _size(data)
    except (_Damaged, IndexError, KeyError, TypeError, RecursionError):
        raise InputError(
            "the Parquet file is damaged: its footer or the headers of its pages cannot be read", code="parquet-damaged"
        ) from None


def _size(data: bytes) -> UnpackedSize:
    end = len(data) - TAIL
    if not data.startswith(MAGIC) or not data.endswith(MAGIC) or end < len(MAGIC):
        raise _Damaged
    length = int.from_bytes(data[end : end + 4], "little")
    if length > end - len(MAGIC):
        raise _Damaged
    footer = _Reader(data[end - length : end]).struct()
    groups = footer.get(ROW_GROUPS, [])
    chunks = [column[CHUNK] for group in groups for column in group[COLUMNS]]
    rows = max(footer[ROWS], sum(group[GROUP_ROWS] for group in groups), *(chunk[VALUES] for chunk in chunks), 0)
    stated = sum(chunk[UNCOMPRESSED] for chunk in chunks)
    in_pages = sum(_bytes_of_pages(data, chunks, before=end - length))
    leaves = sum(not element.get(CHILDREN) for element in footer[SCHEMA])
    return UnpackedSize(rows, leaves, len(groups), max(stated, in_pages))


def _bytes_of_pages(data: bytes, chunks: list[Fields], *, before: int) -> Iterator[int]:
    """The bytes of every page when it is unpacked."""
    pages = 0
    for chunk in chunks:
        at = min(chunk[DATA_PAGE], chunk.get(DICTIONARY_PAGE) or chunk[DATA_PAGE])
        last = at + chunk[COMPRESSED]
        if at < len(MAGIC) or last > before or chunk[COMPRESSED] < 0:
            raise _Damaged
        while at < last:
            reader = _Reader(data, at)
            header = reader.struct()
            packed, unpacked = header[PAGE_COMPRESSED], header[PAGE_UNCOMPRESSED]
            if packed < 0 or unpacked < 0 or reader.at + packed > before:
                raise _Damaged
            pages += 1
            if pages > MOST_PAGES:
                raise InputError(f"the Parquet file has more than {MOST_PAGES:,} pages", code="table-too-large")
            yield unpacked
            at = reader.at + packed


class _Reader:
    """Reads values of Thrift's compact protocol; texts are skipped."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        if depth > DEEPEST:
            raise _Damaged
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) & 0x0F != STOP:
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 0x0F
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:  # a byte, or a boolean within a list
                return self._byte()
            case 4 | 5 | 6:  # whole numbers of 16, 32 and 64 bits
                return self._signed()
            case 7:  # a floating-point number
                return self._skip(8)
            case 8:  # a text
                return self._skip(self._number())
            case 9 | 10:  # a list or a set
                return self._list(depth)
            case 11:
                return self._map(depth)
            case 12:
                return self.struct(depth)
        raise _Damaged

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._number() if head >> 4 == 15 else head >> 4
        if size > len(self._data) - self.at:  # every element has at least one byte
            raise _Damaged
        return [self._value(head & 0x0F, depth) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self._number()
        if size > len(self._data) - self.at:
            raise _Damaged
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._value(kinds >> 4, depth)
            self._value(kinds & 0x0F, depth)

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)

    def _number(self) -> int:
        number = 0
        for place in range(LONGEST_NUMBER):
            byte = self._byte()
            number |= (byte & 0x7F) << 7 * place
            if not byte & 0x80:
                return number
        raise _Damaged

    def _skip(self, size: int) -> None:
        if size > len(self._data) - self.at:
            raise _Damaged
        self.at += size

    def _byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte
