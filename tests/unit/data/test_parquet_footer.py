"""How large a Parquet file will be is read from what it states, and a file that lies is found out."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import parquet_footer
from kohorte.data.parquet_footer import UnpackedSize, unpacked_size
from kohorte.errors import InputError
from support.examples import examples

TABLE = pa.table({"a": [1, 2, 3] * 1000, "b": ["x", "yy", None] * 1000})


def written(table: pa.Table, **options: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target, **options)
    return target.getvalue()


def by_pyarrow(data: bytes) -> UnpackedSize:
    facts = pq.read_metadata(io.BytesIO(data))
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(facts.num_columns)]
    size = sum(chunk.total_uncompressed_size for chunk in chunks)
    return UnpackedSize(facts.num_rows, facts.num_columns, facts.num_row_groups, size)


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        unpacked_size(data)
    return caught.value.code


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "zstd"},
        {"compression": "none", "use_dictionary": False},
        {"data_page_version": "2.0"},
        {"row_group_size": 100},
        {"data_page_size": 10, "write_page_index": True},
        {"write_statistics": False, "store_schema": False},
    ],
    ids=str,
)
def test_the_size_is_what_another_reader_finds(options: dict[str, Any]) -> None:
    data = written(TABLE, **options)
    assert unpacked_size(data) == by_pyarrow(data)


def test_files_of_polars_are_understood() -> None:
    for frame in (pl.DataFrame({"a": ["x"] * 1000, "b": [1.5] * 1000}), pl.DataFrame({"a": [None, None]})):
        target = io.BytesIO()
        frame.write_parquet(target)
        found = unpacked_size(target.getvalue())
        assert (found.rows, found.columns) == frame.shape


def test_a_bomb_of_compressed_text_states_its_size() -> None:
    data = written(pa.table({"a": ["x" * 1_000_000] * 30}), use_dictionary=False, compression="zstd")
    assert len(data) < 100_000
    assert unpacked_size(data).bytes > 30_000_000


def test_a_footer_that_claims_less_than_the_pages_is_found_out() -> None:
    honest = written(pa.table({"a": ["x" * 1_000_000] * 20}), use_dictionary=False, compression="zstd")
    stated = by_pyarrow(honest).bytes
    end = len(honest) - 8 - int.from_bytes(honest[-8:-4], "little")
    claim, lie = number(stated), number(5 << 18)
    assert len(claim) == len(lie)
    assert honest[end:].count(claim) >= 1
    lying = honest[:end] + honest[end:].replace(claim, lie)
    assert by_pyarrow(lying).bytes == 5 << 18
    assert unpacked_size(lying).bytes > 19_000_000


def number(value: int) -> bytes:
    """A whole number as Thrift's compact protocol writes it."""
    value, found = value << 1, b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def test_a_file_with_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_footer, "MOST_PAGES", 5)
    assert refusal(written(TABLE, row_group_size=100)) == "table-too-large"
    assert unpacked_size(written(TABLE)).rows == 3000


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + b"\xff" * 4 + b"PAR1", b"PAR1\x00\x00\x00\x00PAR1", b"PAR1" + b"\x1c" * 99],
)
def test_what_is_no_parquet_file_is_refused(data: bytes) -> None:
    assert refusal(data) == "parquet-damaged"


DATA = written(TABLE, row_group_size=1500)


@examples(200)
@given(st.integers(0, len(DATA) - 1), st.integers(0, 255), st.booleans())
def test_a_damaged_file_is_measured_or_refused_but_never_a_surprise(at: int, byte: int, cut: bool) -> None:
    damaged = DATA[:at] if cut else DATA[:at] + bytes([byte]) + DATA[at + 1 :]
    with suppress(InputError):
        assert unpacked_size(damaged).rows >= 0
