"""The layout of a CSV file: separator, line ends, header."""

from __future__ import annotations

import csv
import io
import re

import numpy as np

from kohorte import kernels
from kohorte.data.columns import check_names
from kohorte.errors import InputError
from kohorte.kernels import CsvScan

CANDIDATES = (",", ";", "\t", "|")
ONE_COLUMN = "\x1f"  # occurs in no text, so that every line is one field
_WORDS = {"tab": "\t", "\\t": "\t"}
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space", ONE_COLUMN: "none"}
_LOOKED_AT = 100


def scan(data: bytes, separator: str) -> CsvScan:
    """Count records and fields and check quotes, expecting as many fields as the first record has."""
    return kernels.csv_scan(np.frombuffer(data, np.uint8), ord(separator), 0)


def name_of(separator: str) -> str:
    """Return a word for a separator."""
    return _NAMES.get(separator, repr(separator))


def checked_separator(separator: str) -> str:
    """Return the separator that the caller gave; `tab` and `\\t` mean the tab."""
    character = _WORDS.get(separator, separator)
    if len(character) != 1 or not character.isascii() or character.isalnum() or character in '"\r\n\0':
        raise InputError(
            "the separator must be one ASCII character other than a letter, a digit, a quote or a line end; "
            "write tab for the tab",
            code="csv-separator",
        )
    return character


def without_separator_line(data: bytes, *, given: str | None, source: str) -> tuple[bytes, str | None, tuple[str, ...]]:
    """Return the data without the line `sep=;` that Excel puts first, the separator it states, and a note in words.

    The line becomes an empty one, so that line numbers stay those of the file.
    """
    stated = re.match(rb'"?sep=([^\r\n])"?(?=\r?\n)', data, re.IGNORECASE)
    if stated is None:
        return data, None, ()
    separator = checked_separator(stated.group(1).decode(errors="replace"))
    if given is not None and given != separator:
        raise InputError(
            f"{source}: the first line states the separator {name_of(separator)}, but {name_of(given)} was given "
            "(--separator); give no separator, or correct the first line",
            code="csv-separator-conflict",
        )
    note = f"{source}: the first line only states the separator for Excel ({name_of(separator)}); line 2 is the header"
    return data[stated.end() :], separator, (note,)


def detect_separator(data: bytes, *, source: str) -> str:
    """Return the separator with which the first records have the same number of fields, more than one.

    ONE_COLUMN if the file seems to have one column. If no candidate fits, return the one that the first line or
    all other lines suggest: the file is then ragged or its quotes are broken, and reading it reports the line.
    """
    start = first_records(data, _LOOKED_AT)
    scans = {separator: scan(start, separator) for separator in CANDIDATES}
    fitting = [s for s, seen in scans.items() if seen.fields > 1 and seen.bad_records == 0]
    likely = [s for s in fitting if _has_good_names(header(data, s, source=source))] or fitting
    if len(likely) > 1:
        seen = ", ".join(f"{scans[s].fields} with {name_of(s)}" for s in likely)
        raise InputError(
            f"{source}: the separator is ambiguous: several separators give all rows the same number of fields "
            f"({seen}); give the separator (--separator)",
            code="csv-separator-ambiguous",
        )
    return likely[0] if likely else _nearest_separator(start)


def _has_good_names(names: list[str]) -> bool:
    return len(set(names)) == len(names) and all(name and name == name.strip() for name in names)


def _nearest_separator(start: bytes) -> str:
    first = first_records(start, 1)
    fields = {separator: scan(first, separator).fields for separator in CANDIDATES}
    if max(fields.values()) < 2:
        others = {separator: scan(start[len(first) :], separator) for separator in CANDIDATES}
        fields = {s: seen.fields for s, seen in others.items() if seen.records > 1 and seen.bad_records == 0}
    best = max(fields, key=lambda separator: fields[separator], default=ONE_COLUMN)
    return best if fields.get(best, 0) > 1 else ONE_COLUMN


def first_records(data: bytes, count: int) -> bytes:
    """Return the first records, up to the end of a line outside quotes."""
    start = len(data) - len(data.lstrip(b"\r\n")) if data[:1] in (b"\r", b"\n") else 0
    end, records, whole, odd = start, 0, 0, False
    while records < count:
        stop = data.find(b"\n", end) + 1
        if stop == 0:
            return data if not odd or not whole else data[:whole]
        odd ^= data.count(b'"', end, stop) % 2 == 1
        end = stop
        if not odd:
            records, whole = records + 1, end
    return data[:whole]


def header(data: bytes, separator: str, *, source: str) -> list[str]:
    """Return the fields of the first record."""
    text = first_records(data, 1).decode().lstrip("\r\n")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        raise InputError(
            f"{source}: the first line, with the names of the columns, cannot be read", code="csv-header"
        ) from None


def checked_header(data: bytes, separator: str, *, source: str) -> list[str]:
    """Return the names of the columns; empty and duplicate names are refused."""
    names = header(data, separator, source=source)
    check_names(names, source=source)
    return names


def refuse_lone_returns(data: bytes, *, source: str) -> None:
    """Refuse a CR outside quotes without a following LF, an obsolete line end: it would merge rows."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):  # most files have none, which is seen at once
        return
    array = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero(array == ord("\r"))
    alone = returns[np.append(array, 0)[returns + 1] != ord("\n")]
    outside = alone[np.searchsorted(np.flatnonzero(array == ord('"')), alone) % 2 == 0]
    if outside.size:
        line = data.count(b"\n", 0, int(outside[0])) + 1
        raise InputError(
            f"{source}: line {line} has a carriage return (CR) without line feed (LF) outside quotes; "
            "save the file with the line ends of Unix or Windows",
            code="csv-line-ends",
        )


def without_empty_lines(data: bytes, *, one_column: bool) -> bytes:
    """Return the data without the empty lines that `scan` skipped; quotes must match."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    stop = len(data.rstrip(b"\r\n"))
    data = data[start:stop]
    if one_column:
        return data
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array == ord("\n"))
    ends = ends[np.searchsorted(np.flatnonzero(array == ord('"')), ends) % 2 == 0]
    gaps = np.diff(ends)
    returns = (gaps == 2) & (array[ends[1:] - 1] == ord("\r"))
    keep = np.ones(array.size, np.bool_)
    keep[ends[1:][(gaps == 1) | returns]] = False
    keep[ends[1:][returns] - 1] = False
    return array[keep].tobytes()
