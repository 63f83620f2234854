"""The kernel `csv_scan` in NumPy: counts the records and fields of a CSV file and checks its quotes.

native/src/csv_scan.hpp describes the rules and does the same in one pass. Here a byte is quoted if an odd number of
quotes precedes it. This is correct up to the first misplaced quote, and a file with one is refused anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Bytes

QUOTE, LINE_FEED, CARRIAGE_RETURN = 0x22, 0x0A, 0x0D
Positions = NDArray[np.int64]


class CsvScan(NamedTuple):
    """The result of a scan; lines and records count from 1, and 0 means none.

    If quotes are broken, nothing is counted and all fields but `quote_error_line` are 0.
    """

    records: int = 0  # the header is a record, too
    fields: int = 0  # fields expected in each record
    first_bad_record: int = 0  # the first record with another number of fields ...
    first_bad_line: int = 0  # ... the line on which it starts ...
    first_bad_fields: int = 0  # ... and the fields it has
    bad_records: int = 0  # how many such records there are
    quote_error_line: int = 0  # where the first field with broken quotes starts
    skipped_lines: int = 0  # empty lines that are no records


def csv_scan(data: Bytes, separator: int, fields: int) -> CsvScan:
    """Scan the bytes of a CSV file; `fields=0` expects as many fields as the first record has."""
    quotes = np.flatnonzero(data == QUOTE)
    broken = _first_broken_field(data, quotes, separator)
    if broken >= 0:
        return CsvScan(quote_error_line=_line_of(data, broken))
    starts, counts, empty = _records(data, quotes, separator)
    full = np.flatnonzero(~empty)
    if full.size == 0:
        return CsvScan(fields=fields, skipped_lines=empty.size)
    fields = fields or int(counts[full[0]])
    kept = np.zeros(empty.size, np.bool_) if fields == 1 else ~empty
    if fields == 1:  # between the records of one column an empty line is a missing value
        kept[full[0] : full[-1] + 1] = True
    wrong = np.flatnonzero(kept & (counts != fields))
    first = int(wrong[0]) if wrong.size else -1
    return CsvScan(
        records=int(kept.sum()),
        fields=fields,
        first_bad_record=int(kept[: first + 1].sum()),
        first_bad_line=_line_of(data, int(starts[first])) if wrong.size else 0,
        first_bad_fields=int(counts[first]) if wrong.size else 0,
        bad_records=wrong.size,
        skipped_lines=int(empty.size - kept.sum()),
    )


def _line_of(data: Bytes, position: int) -> int:
    return int(np.count_nonzero(data[:position] == LINE_FEED)) + 1


def _records(data: Bytes, quotes: Positions, separator: int) -> tuple[Positions, Positions, Bools]:
    """Return where each record starts, how many fields it has and whether it is an empty line."""
    ends = np.flatnonzero((data == separator) | (data == LINE_FEED))
    if quotes.size:
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    line_ends = np.flatnonzero(data[ends] == LINE_FEED)
    stops = ends[line_ends]
    starts = np.concatenate([[0], stops + 1])
    counts = np.diff(line_ends, prepend=-1, append=ends.size)
    lengths = np.append(stops, data.size) - starts
    empty = lengths == 0
    returns = np.flatnonzero(lengths[:-1] == 1)
    empty[returns] = data[starts[returns]] == CARRIAGE_RETURN
    if lengths[-1] == 0:  # nothing follows the last line end
        return starts[:-1], counts[:-1], empty[:-1]
    return starts, counts, empty


def _first_broken_field(data: Bytes, quotes: Positions, separator: int) -> int:
    """Return where the first field with broken quotes starts (or its misplaced quote is), or -1."""
    if quotes.size == 0:
        return -1
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening > 0, data[opening - 1], LINE_FEED)
    starts_field = (before == separator) | (before == LINE_FEED)
    bad_opening = np.flatnonzero(~starts_field & (before != QUOTE))
    bad_closing = np.flatnonzero(~_may_follow(data, closing + 1, separator))
    never = quotes.size
    first_opening = 2 * int(bad_opening[0]) if bad_opening.size else never
    first_closing = 2 * int(bad_closing[0]) + 1 if bad_closing.size else never
    if first_opening < first_closing:
        return int(quotes[first_opening])
    if first_closing == never and quotes.size % 2 == 0:
        return -1
    pair = min(first_closing, never - 1) // 2
    return int(opening[np.flatnonzero(starts_field[: pair + 1])[-1]])


def _may_follow(data: Bytes, positions: Positions, separator: int) -> Bools:
    """Tell at which positions the byte may follow a closing quote."""
    padded = np.full((2, positions.size), LINE_FEED, np.uint8)  # the end of the file ends a line
    for row in (0, 1):
        within = positions + row < data.size
        padded[row, within] = data[positions[within] + row]
    follower, second = padded
    second[positions + 1 >= data.size] = 0  # a CR at the end of the file is not a line end
    ends_line = (follower == LINE_FEED) | ((follower == CARRIAGE_RETURN) & (second == LINE_FEED))
    allowed: Bools = ends_line | (follower == separator) | (follower == QUOTE)
    return allowed
