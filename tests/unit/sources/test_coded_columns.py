"""Columns that are stored as numbers of texts count, release and write exactly what texts do."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import Formulas, parse_table, write_csv
from kohorte.data.columns import is_coded
from kohorte.data.formulas import bare_formulas, quote_formulas, unquote_formulas
from kohorte.sources import FrameSource
from support.examples import examples

TEXTS = st.sampled_from(
    ["a", "b", "7", "-7", "=1+1", "'=1+1", "'", "*", 'say "yes"', "x;y", "x,y", "line\nend", "ä", " ", None]
)
TABLES = st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=30)
NAMES = ["a", "b", "c"]


def read(rows: list[tuple[str | None, ...]], coded: list[str]) -> pl.DataFrame:
    file = io.BytesIO()
    write_csv(pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row"), file)
    return parse_table(file.getvalue(), Path("t.csv"), separator=",", coded=coded).frame


def written(frame: pl.DataFrame, formulas: Formulas) -> bytes:
    file = io.BytesIO()
    write_csv(frame, file, formulas=formulas)
    return file.getvalue()


@given(TABLES)
@examples(60)
def test_a_coded_column_counts_and_writes_what_its_texts_do(rows: list[tuple[str | None, ...]]) -> None:
    texts, codes = read(rows, []), read(rows, ["a", "c"])
    assert [is_coded(column) for column in codes.iter_columns()] == [True, False, True]
    one, other = FrameSource(texts), FrameSource(codes)
    assert one.count_shown(NAMES).equals(other.count_shown(NAMES))
    assert other.in_memory("").equals(texts)
    tuples, same = one.distinct(NAMES), other.distinct(NAMES)
    assert all(a.equals(b) for a, b in zip(tuples.values, same.values, strict=True))
    assert (tuples.codes == same.codes).all()
    assert (tuples.counts == same.counts).all()
    for formulas in Formulas:
        assert written(texts, formulas) == written(codes, formulas)


@given(TABLES)
@examples(60)
def test_formulas_of_a_coded_column_are_counted_and_quoted_as_in_texts(rows: list[tuple[str | None, ...]]) -> None:
    texts, codes = read(rows, []), read(rows, NAMES)
    assert bare_formulas(texts) == bare_formulas(codes)
    quoted = quote_formulas(codes)
    assert quoted.cast(pl.String).equals(quote_formulas(texts))
    back, cells = unquote_formulas(quoted)
    assert back.cast(pl.String).equals(texts)
    assert cells == unquote_formulas(quote_formulas(texts))[1]


def test_a_release_is_read_again_as_what_it_was_written_from(tmp_path: Path) -> None:
    rows: list[tuple[str | None, ...]] = [("a", "1", "=x"), ("b", "2", None), ("a", "1", "=x")]
    source, output = FrameSource(read(rows, ["a", "c"])), tmp_path / "out.csv"
    source.write(output, output, separator=",", formulas=Formulas.QUOTE)
    again = source.reread(output, output, separator=",", formulas=Formulas.QUOTE)
    assert again.table.count_shown(NAMES).equals(source.count_shown(NAMES))
    assert again.quoted.cells == {"c": 2}


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_written_table_holds_no_text_that_no_row_has(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": pl.Series(["kept", "gone"], dtype=pl.Enum(["kept", "gone", "never"]))})
    output = tmp_path / f"out{suffix}"
    FrameSource(frame.head(1)).write(output, output, separator=",")
    content = output.read_bytes()
    assert b"kept" in content
    assert b"gone" not in content
    assert b"never" not in content
