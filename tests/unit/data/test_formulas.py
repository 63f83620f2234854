"""Cells that a spreadsheet program could run as formulas: which they are, and the apostrophe before them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import Formulas, TableFile, parse_table, without_quotes, write_csv
from kohorte.data.formulas import is_formula, quote_formulas, unquote_formulas

FORMULAS = [
    "=1+1",
    "+A1",
    "-A1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "-e5",
    "--5",
    "-10 - -5",
    "+49 89 12",
    "-5 %",
]
HARMLESS = ["-3.5", "+4", "-3,5", "-1.234,5", "-.5", "+1e-5", "-", "++", "4", "a=1", " =1", "*", "'", "", None]
CELLS = st.one_of(st.none(), st.text("'=+-@a1.\t", min_size=1, max_size=4), st.sampled_from([*FORMULAS, "'=1+1"]))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_begins_with_a_sign_of_a_formula_is_a_formula(text: str) -> None:
    assert is_formula(pl.Series([text])).to_list() == [True]


@pytest.mark.parametrize("text", HARMLESS)
def test_plain_numbers_lone_signs_and_other_texts_are_no_formulas(text: str | None) -> None:
    assert is_formula(pl.Series([text], dtype=pl.String)).to_list() == [False]


def file_of(frame: pl.DataFrame, formulas: Formulas = Formulas.QUOTE) -> TableFile:
    buffer = BytesIO()
    write_csv(frame, buffer, formulas=formulas)
    return parse_table(buffer.getvalue(), Path("release.csv"), separator=",")


def test_cells_and_names_of_columns_get_an_apostrophe_in_the_file() -> None:
    file = file_of(pl.DataFrame({"=name": ["=1+1", "-3.5"], "n": [-1, 2]}))
    assert file.frame.to_dict(as_series=False) == {"'=name": ["'=1+1", "-3.5"], "n": ["-1", "2"]}


def test_the_apostrophes_are_counted_by_column_and_removed() -> None:
    before, found = without_quotes(file_of(pl.DataFrame({"=name": ["=1+1", "'=1"], "n": ["a", "'b"]})), Formulas.QUOTE)
    assert before.frame.to_dict(as_series=False) == {"=name": ["=1+1", "'=1"], "n": ["a", "'b"]}
    assert (found.cells, found.names) == ({"=name": 2}, ("=name",))


def test_nothing_is_removed_where_the_plan_does_not_say_quote() -> None:
    file = file_of(pl.DataFrame({"a": ["'=1+1"]}), Formulas.AS_IS)
    assert without_quotes(file, Formulas.AS_IS)[0].frame["a"].to_list() == ["'=1+1"]


def test_a_file_with_a_bare_formula_is_not_touched_so_that_different_cells_stay_different() -> None:
    frame = pl.DataFrame({"a": ["=1", "'=1"]})
    same, found = unquote_formulas(frame)
    assert same.equals(frame)
    assert not found


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.sampled_from(["a", "=a", "'=a", "-1"]))
def test_what_is_written_is_read_back(rows: list[tuple[str | None, str | None]], name: str) -> None:
    frame = pl.DataFrame(rows, schema={name: pl.String, "b": pl.String}, orient="row")
    assert without_quotes(file_of(frame), Formulas.QUOTE)[0].frame.equals(frame)


@given(st.lists(CELLS, min_size=1, max_size=8))
def test_no_formula_is_left_in_the_file(cells: list[str | None]) -> None:
    written = quote_formulas(pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}))
    assert not is_formula(written["a"]).any()


@pytest.mark.parametrize("dtype", [pl.Categorical(pl.Categories.random()), pl.Categorical(), pl.Enum(["=1+1", "a"])])
def test_formulas_of_coded_columns_are_found_where_a_row_still_has_them(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"text": pl.Series(["a", "=1+1", None], dtype=dtype)})
    assert quote_formulas(frame)["text"].to_list() == ["a", "'=1+1", None]
    without = frame.filter(pl.col("text") == "a")
    assert quote_formulas(without)["text"].to_list() == ["a"]
    assert unquote_formulas(quote_formulas(frame))[1].cells == {"text": 1}
