from __future__ import annotations

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import Formulas, read_csv, write_csv
from kohorte.data.csv import CsvTable
from kohorte.errors import InputError
from support.examples import examples
from support.work import counted_calls


def read(data: bytes | str, separator: str | None = None, encoding: str | None = None) -> CsvTable:
    data = data.encode() if isinstance(data, str) else data
    return read_csv(data, source="t.csv", separator=separator, encoding=encoding)


def rows(data: bytes | str, separator: str | None = None, encoding: str | None = None) -> list[tuple[str, ...]]:
    return read(data, separator, encoding).frame.rows()


def refusal(data: bytes | str, separator: str | None = None, encoding: str | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        read(data, separator, encoding)
    return caught.value


def written(frame: pl.DataFrame, **layout: str) -> bytes:
    buffer = io.BytesIO()
    write_csv(frame, buffer, **layout)
    return buffer.getvalue()


# --- what is read ---------------------------------------------------------------------------------------


def test_every_column_is_text_and_an_empty_field_is_missing() -> None:
    table = read('a,b\n01,\n"",x\n')
    assert table.frame.schema == {"a": pl.String, "b": pl.String}
    assert table.frame.rows() == [("01", None), (None, "x")]


def test_a_byte_order_mark_is_not_part_of_the_first_name() -> None:
    table = read(b"\xef\xbb\xbfalter;plz\n39;81675\n")
    assert table.frame.columns == ["alter", "plz"]
    assert table.encoding == "utf-8"


def test_windows_line_ends_are_read_and_remembered() -> None:
    table = read("a,b\r\n1,2\r\n3,4\r\n")
    assert table.newline == "\r\n"
    assert table.frame.rows() == [("1", "2"), ("3", "4")]


def test_umlauts_and_other_scripts_survive() -> None:
    assert rows("straße;名\nMüller-Weg;π\n") == [("Müller-Weg", "π")]


def test_quotes_may_hold_separators_quotes_and_line_ends() -> None:
    assert rows('a,b\n"x,""y""\r\nz","\n"\n') == [('x,"y"\r\nz', "\n")]


def test_names_may_hold_quotes_and_line_ends() -> None:
    assert read('"a\n""q""","b,"\n1,2\n').frame.columns == ['a\n"q"', "b,"]


def test_one_row_without_line_end_is_a_table() -> None:
    assert rows("a,b\n1,2") == [("1", "2")]


def test_one_column_keeps_its_missing_values() -> None:
    assert rows('a\n\n1\n\n""\n2\n') == [(None,), ("1",), (None,), (None,), ("2",)]


def test_empty_lines_at_both_ends_are_no_rows() -> None:
    assert rows("\r\n\r\na\r\n1\r\n\r\n\r\n") == [("1",)]
    assert rows("\n\na,b\n1,2\n\n\n") == [("1", "2")]


def test_empty_lines_between_rows_of_several_columns_are_skipped_but_not_those_within_quotes() -> None:
    assert rows('a,b\n\n1,"x\n\n\ny"\n\r\n\n,\n') == [("1", "x\n\n\ny"), (None, None)]


def test_a_hundred_columns_are_read() -> None:
    names = [f"c{number}" for number in range(100)]
    table = read(";".join(names) + "\n" + ";".join(names) + "\n")
    assert table.frame.columns == names
    assert table.frame.height == 1


def test_names_keep_their_blanks() -> None:
    assert read("a, b \n1,2\n").frame.columns == ["a", " b "]


def test_many_quoted_line_ends_do_not_shift_rows() -> None:
    count = 50_000
    text = "id,note\n" + "".join(f'{i},"line one\nline two, ""{i}""\n"\n' for i in range(count))
    frame = read(text).frame
    assert frame.height == count
    assert frame["id"].to_list() == [str(i) for i in range(count)]
    assert frame["note"][-1] == f'line one\nline two, "{count - 1}"\n'


@pytest.mark.slow
def test_a_million_rows_are_read_without_a_step_in_python_for_each() -> None:
    data = b"a;b;c;d;e;f;g;h;i\n" + b"39;female;81675;Never-married;Germany;<=50K;Sales;123456;Private\n" * 1_000_000
    table, calls = counted_calls(lambda: read(data))
    assert table.frame.height == 1_000_000
    assert calls < 10_000, calls


# --- separators -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator: str) -> None:
    table = read(f"a{separator}b\n1{separator}2\n")
    assert table.separator == separator
    assert table.frame.rows() == [("1", "2")]


def test_decimal_commas_do_not_pass_for_separators() -> None:
    assert rows("x;y\n1,5;2,5\n3,5;4,5\n") == [("1,5", "2,5"), ("3,5", "4,5")]


def test_commas_in_the_names_do_not_pass_for_separators() -> None:
    assert read("Größe, cm;Gewicht, kg;Alter\n1,80;80,5;39\n").separator == ";"


def test_separators_within_quotes_do_not_count() -> None:
    assert read('"a,b";"c,d"\n"1,2";"3,4"\n').separator == ";"


def test_an_unclear_separator_is_refused_with_what_was_seen() -> None:
    error = refusal("a,b;c\n1,2;3\n")
    assert error.code == "csv-separator-ambiguous"
    assert "2 with comma, 2 with semicolon" in str(error)
    assert rows("a,b;c\n1,2;3\n", ";") == [("1,2", "3")]


def test_text_with_commas_below_one_name_is_one_column() -> None:
    table = read("note\none, two\nthree; four|\n")
    assert table.frame.rows() == [("one, two",), ("three; four|",)]
    assert table.separator == ","


def test_a_title_above_the_names_is_refused() -> None:
    error = refusal("Report\nid;age\n1;39\n2;40\n")
    assert error.code == "csv-ragged"
    assert "line 2 has 2 fields, the first line has 1" in str(error)


@pytest.mark.parametrize("word", ["tab", "\\t", "\t"])
def test_the_tab_can_be_given_by_name(word: str) -> None:
    assert rows("a\tb\n1\t2\n", word) == [("1", "2")]


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "\r", "a", "7", "¦", "\0"])
def test_an_impossible_separator_is_refused(separator: str) -> None:
    assert refusal("a,b\n1,2\n", separator).code == "csv-separator"


def test_a_wrong_separator_gives_one_column_or_a_ragged_file() -> None:
    assert rows("a;b\n1;2\n", ",") == [("1;2",)]
    assert refusal("a;b\n1,5;2\n", ",").code == "csv-ragged"


# --- encodings ------------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    error = refusal("a;b\n1;2\nMüller;3\nGroß;4\n".encode("cp1252"))
    assert error.code == "csv-not-utf-8"
    assert "line 3" in str(error)
    assert "(lines of this kind: 2)" in str(error)
    assert "encoding cp1252 (--encoding)" in str(error)


def test_a_given_encoding_is_used() -> None:
    table = read("a;b\nMüller;€\n".encode("cp1252"), encoding="windows-1252")
    assert table.frame.rows() == [("Müller", "€")]
    assert table.encoding == "cp1252"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_tells_wide_encodings(encoding: str) -> None:
    table = read("a;b\nü;€\n".encode(encoding))
    assert table.frame.rows() == [("ü", "€")]
    assert table.encoding == encoding


def test_utf_16_without_mark_is_refused_with_a_hint_and_read_when_given() -> None:
    data = "a;b\nü;2\n".encode("utf-16-le")
    assert "utf-16-le" in str(refusal(data))
    assert refusal(data).code == "csv-nul"
    assert rows(data, encoding="utf-16-le") == [("ü", "2")]


def test_a_given_encoding_that_does_not_fit_is_refused_with_the_line() -> None:
    error = refusal(b"a;b\n1;2\n1;\x81\n", encoding="cp1252")
    assert error.code == "csv-not-decodable"
    assert "line 3" in str(error)
    assert "line 2" in str(refusal("a;b\n".encode("utf-16-le") + b"\x00\xd8\x00\x00", encoding="utf-16-le"))


@pytest.mark.parametrize("encoding", ["klingon", "base64", "", "a\0b", "undefined"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    assert refusal("a,b\n1,2\n", encoding=encoding).code == "csv-encoding-unknown"


def test_an_encoding_against_the_byte_order_mark_is_refused() -> None:
    assert refusal(b"\xef\xbb\xbfa,b\n1,2\n", encoding="cp1252").code == "csv-encoding-conflict"


def test_a_binary_file_is_refused() -> None:
    error = refusal(b"a,b\n1,2\n1,\0\n")
    assert error.code == "csv-nul"
    assert "line 3" in str(error)


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["", "\n", "\r\n \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes | str) -> None:
    assert refusal(data).code == "csv-empty"


@pytest.mark.parametrize("data", ["a,b", "a,b\n", "a\n\n\n", "\na\n"])
def test_a_file_without_rows_is_refused(data: str) -> None:
    assert refusal(data).code == "table-no-rows"


def test_names_that_occur_twice_are_refused_by_name() -> None:
    error = refusal("age,zip,age\n1,2,3\n")
    assert error.code == "table-duplicate-columns"
    assert "'age'" in str(error)


def test_columns_without_name_are_refused_by_position() -> None:
    error = refusal('a,,"",b\n1,2,3,4\n')
    assert error.code == "table-unnamed-columns"
    assert "position 2, 3" in str(error)


def test_ragged_rows_are_refused_with_line_and_counts() -> None:
    error = refusal('a,b,c\n1,"x\ny",3\n1,2\n1,2,3,4\n1,2,3\n')
    assert error.code == "csv-ragged"
    assert "line 4 has 2 fields, the first line has 3" in str(error)
    assert "2 of 4 rows" in str(error)


def test_a_blank_in_an_otherwise_empty_line_is_a_ragged_row() -> None:
    assert refusal("a,b\n1,2\n  \n").code == "csv-ragged"


@pytest.mark.parametrize("data", ['a,b\n1,5" pipe\n', 'a,b\n1,"x"y\n', 'a,b\n1,"open\n', '"a,b\n1,2\n'])
def test_broken_quotes_are_refused_with_the_line(data: str) -> None:
    error = refusal(data)
    assert error.code == "csv-quotes"
    assert f"line {2 if data.startswith('a') else 1} " in str(error)


@pytest.mark.parametrize("data", ["a,b\r1,2\r", "a\n1\r2\n", "a,b\n1,2\r"])
def test_a_carriage_return_alone_does_not_end_a_line(data: str) -> None:
    assert refusal(data).code == "csv-line-ends"


def test_a_name_too_long_to_be_one_is_refused() -> None:
    assert refusal("a," + "x" * 200_000 + "\n1,2\n").code == "csv-header"


# --- what is written ------------------------------------------------------------------------------------

CELL = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
UGLY = st.none() | st.text(alphabet="a,;|\t\"\r\n '=", min_size=1, max_size=6)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.one_of(CELL, UGLY)] * width), min_size=1, max_size=6)
)


@examples(400)
@given(
    table=TABLES,
    separator=st.sampled_from([",", ";", "\t", "|", " "]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_survives_a_round_trip(table: list[tuple[str | None, ...]], separator: str, newline: str) -> None:
    names = [f"name {number}" for number in range(len(table[0]))]
    frame = pl.DataFrame(table, schema=dict.fromkeys(names, pl.String), orient="row")
    data = written(frame, separator=separator, newline=newline)
    back = read(data, separator)
    assert back.frame.equals(frame)
    assert written(back.frame, separator=separator, newline=newline) == data


@examples(200)
@given(names=st.lists(UGLY.filter(bool), min_size=1, max_size=4, unique=True))
def test_any_name_survives_a_round_trip(names: list[str]) -> None:
    frame = pl.DataFrame({name: ["x"] for name in names})
    if names != ["\r"] and not "".join(names).isspace():
        assert read(written(frame), ",").frame.equals(frame)


def test_quotes_are_written_only_where_necessary() -> None:
    frame = pl.DataFrame({"a": ["x", "y,z", 'q"', None], "b": ["1", "2", "3\n", ""]})
    assert written(frame) == b'a,b\nx,1\n"y,z",2\n"q""","3\n"\n,\n'


def test_one_column_with_missing_values_survives() -> None:
    frame = pl.DataFrame({"a": [None, "x", None, None]}, schema={"a": pl.String})
    assert read(written(frame)).frame.equals(frame)


def test_numbers_and_dates_are_written_in_their_canonical_text() -> None:
    frame = pl.DataFrame({"a": [1.0, None, 2.5], "b": [True, False, None]})
    assert written(frame) == b"a,b\n1,true\n,false\n2.5,\n"


def test_another_encoding_can_be_written_and_says_when_it_cannot_express_something() -> None:
    assert written(pl.DataFrame({"a": ["ü"]}), encoding="cp1252") == b"a\n\xfc\n"
    with pytest.raises(InputError, match="line 3") as caught:
        written(pl.DataFrame({"a": ["ü", "名"]}), encoding="cp1252")
    assert caught.value.code == "csv-not-encodable"
    with pytest.raises(InputError) as unknown:
        written(pl.DataFrame({"a": ["ü"]}), encoding="klingon")
    assert unknown.value.code == "csv-encoding-unknown"


def test_formulas_are_written_as_they_are_unless_quotes_are_wanted() -> None:
    assert written(pl.DataFrame({"a": ["=1+1"]})) == b"a\n=1+1\n"
    assert written(pl.DataFrame({"a": ["=1+1"]}), formulas=Formulas.QUOTE) == b"a\n'=1+1\n"


def test_nested_columns_are_not_written() -> None:
    with pytest.raises(InputError, match="'x'") as caught:
        written(pl.DataFrame({"x": [[1]]}))
    assert caught.value.code == "table-column-type"


# --- the line `sep=;` of Excel ----------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
def test_a_first_line_for_excel_states_the_separator_and_is_no_row(first: str) -> None:
    table = read(first + "a;b\n1,5;2\n")
    assert table.frame.rows() == [("1,5", "2")]
    assert table.separator == ";"
    [note] = table.notes
    assert "states the separator for Excel (semicolon)" in note


def test_line_numbers_after_the_line_for_excel_are_those_of_the_file() -> None:
    assert "line 4 has 3 fields" in refusal("sep=,\na,b\n1,2\n1,2,3\n").message


def test_a_separator_that_contradicts_the_line_for_excel_is_refused() -> None:
    error = refusal("sep=;\na;b\n1;2\n", separator=",")
    assert error.code == "csv-separator-conflict"
    assert read("sep=;\na;b\n1;2\n", separator=";").frame.rows() == [("1", "2")]


def test_a_column_whose_name_only_starts_like_the_line_for_excel_stays_a_column() -> None:
    assert read("sep=a,b\n1,2\n").frame.columns == ["sep=a", "b"]


# --- two encodings in one file ----------------------------------------------------------------------------

MIXED = b"name,n\nM\xc3\xbcller,1\nplain,2\nK\xf6nig,3\nJ\xf6rg,4\n"


@pytest.mark.parametrize("encoding", [None, "cp1252", "latin-1"])
def test_a_file_with_lines_in_two_encodings_is_named_as_such_with_its_lines(encoding: str | None) -> None:
    error = refusal(MIXED, encoding=encoding)
    assert error.code == "csv-encoding-mixed"
    assert "line 2 is in UTF-8, lines 4, 5 are not" in error.message


def test_a_file_with_columns_in_two_encodings_is_named_as_such_with_its_lines() -> None:
    error = refusal("name,town\nMüller,".encode("cp1252") + "Köln\nMaier,Bonn\n".encode())
    assert error.code == "csv-encoding-mixed"
    assert "line 2 is partly in UTF-8" in error.message


def test_a_file_in_one_other_encoding_is_not_called_mixed() -> None:
    latin = "name,n\nMüller,1\nKönig,2\n".encode("cp1252")
    assert refusal(latin).code == "csv-not-utf-8"
    assert rows(latin, encoding="cp1252") == [("Müller", "1"), ("König", "2")]
