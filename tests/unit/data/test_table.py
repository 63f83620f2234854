from __future__ import annotations

import io
import random
from pathlib import Path

import polars as pl
import pytest

from kohorte.data import (
    TableFile,
    missing_as_null,
    read_parquet,
    read_table,
    sha256_of,
    write_parquet,
    write_table,
)
from kohorte.errors import InputError, KohorteError


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        read_table(path)
    return caught.value


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_a_csv_file_is_read_with_its_layout_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "t.CSV"
    path.write_bytes(b"a;b\n1;\n")
    table = read_table(str(path))
    assert (table.format, table.separator, table.encoding) == ("csv", ";", "utf-8")
    assert table.frame.rows() == [("1", None)]
    assert table.sha256 == sha256_of(b"a;b\n1;\n")


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.csv", "t"])
def test_parquet_is_known_by_suffix_or_first_bytes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(parquet(pl.DataFrame({"a": [1, 2]})))
    table = read_table(tmp_path / name)
    assert table.format == "parquet"
    assert table.frame.rows() == [(1,), (2,)]


def test_a_tsv_file_has_tabs(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a,x\tb,x\n1\t2\n")
    assert read_table(tmp_path / "t.tsv").frame.columns == ["a,x", "b,x"]


@pytest.mark.parametrize(
    ("name", "start"),
    [("t.xlsx", b"PK\x03\x04"), ("t.csv", b"PK\x03\x04"), ("t.xls", b"\xd0\xcf\x11\xe0"), ("t.xls", b"a,b\n"),
     ("t.csv.gz", b"\x1f\x8b\x08")],
)  # fmt: skip
def test_workbooks_and_archives_are_refused_with_advice(tmp_path: Path, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start)
    error = refusal(tmp_path / name)
    assert error.code == "file-format"
    assert "CSV or Parquet" in str(error)


def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv").code == "file-unreadable"
    assert "no such file" in str(refusal(tmp_path / "none.csv"))
    assert "folder" in str(refusal(tmp_path))


def test_what_may_not_be_read_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert "no permission" in str(refusal(tmp_path / "t.csv"))


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    whole = parquet(pl.DataFrame({"a": ["CANARY4711"] * 50, "b": range(50)}))
    for data in (b"", b"PAR1", whole[:-1], whole[:-20], whole[: len(whole) // 2], b"a,b\n1,2\n"):
        path.write_bytes(data)
        error = refusal(path)
        assert error.code == "parquet-damaged"
        assert "CANARY4711" not in str(error)


def test_parquet_with_any_byte_changed_is_read_or_refused_by_us() -> None:
    whole = parquet(pl.DataFrame({"a": ["CANARY4711"] * 50, "b": range(50)}))
    chance = random.Random(1)
    for _ in range(150):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            read_parquet(bytes(data), source="t")
        except KohorteError as error:
            assert "CANARY4711" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "values", [[[1]], [{"x": 1}], [b"x"], pl.Series([1], dtype=pl.Duration("us"))], ids=lambda _: ""
)
def test_columns_without_plain_values_are_refused_by_name(values: object) -> None:
    with pytest.raises(InputError, match="'odd'") as caught:
        read_parquet(parquet(pl.DataFrame({"fine": [1], "odd": values})), source="t")
    assert caught.value.code == "table-column-type"


def test_parquet_without_rows_or_columns_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_parquet(parquet(pl.DataFrame({"a": []}, schema={"a": pl.Int64})), source="t")
    assert caught.value.code == "table-no-rows"
    with pytest.raises(InputError) as caught:
        read_parquet(parquet(pl.DataFrame()), source="t")
    assert caught.value.code in ("table-no-columns", "parquet-damaged")


def test_parquet_keeps_types_and_turns_empty_text_and_nan_into_missing() -> None:
    frame = pl.DataFrame({"a": ["", "x"], "b": [float("nan"), 1.5], "c": [1, None]})
    assert read_parquet(parquet(frame), source="t").rows() == [(None, None, 1), ("x", 1.5, None)]


def test_the_values_of_removed_rows_do_not_go_along_as_categories() -> None:
    for dtype in (pl.Categorical(), pl.Enum(["CANARY4711", "x"])):
        frame = pl.DataFrame({"a": ["CANARY4711", "x"]}, schema={"a": dtype}).filter(pl.Series([False, True]))
        buffer = io.BytesIO()
        write_parquet(frame, buffer)
        assert b"CANARY4711" not in buffer.getvalue()


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.txt", "out.parquet", "out.pq"])
def test_a_written_table_reads_back(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"a": ["x;y", None], "b": ["1", "2"]})
    write_table(frame, tmp_path / name, like=None, force=False)
    assert read_table(tmp_path / name).frame.equals(frame)


def test_a_table_is_written_with_the_separator_of_its_source(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["1"], "b": ["ü"]})
    like = TableFile(tmp_path / "in.csv", "csv", frame, "", ";", "cp1252")
    write_table(frame, tmp_path / "out.csv", like=like, force=False)
    assert (tmp_path / "out.csv").read_bytes() == "a;b\n1;ü\n".encode()


def test_a_table_is_not_written_over_its_source_nor_as_a_workbook(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    table = read_table(tmp_path / "in.csv")
    with pytest.raises(InputError) as caught:
        write_table(table.frame, tmp_path / "in.csv", like=table, force=True)
    assert caught.value.code == "output-is-input"
    with pytest.raises(InputError) as caught:
        write_table(table.frame, tmp_path / "out.xlsx", like=table, force=True)
    assert caught.value.code == "file-format"


def test_missing_is_null_whatever_the_name_of_the_column() -> None:
    frame = pl.DataFrame({"^.*$": ["", "x"], "*": ["", "y"], "f": [float("nan"), 1.0], "n": [1, 2]})
    assert missing_as_null(frame).rows() == [(None, None, None, 1), ("x", "y", 1.0, 2)]
    assert frame["*"][0] == ""


@pytest.mark.parametrize("name", ["release.json", "release.csv.gz", "release.dta", "release.sav", "release.cvs"])
def test_an_output_with_an_unknown_suffix_is_refused_and_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a format that Kohorte writes") as caught:
        write_table(pl.DataFrame({"a": ["1"]}), tmp_path / name, like=None, force=False)
    assert caught.value.code == "file-format"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["release", "release.txt", "release.TSV", "release.csv", "release.pq"])
def test_an_output_with_a_known_suffix_is_written(tmp_path: Path, name: str) -> None:
    write_table(pl.DataFrame({"a": ["1"]}), tmp_path / name, like=None, force=False)
    assert read_table(tmp_path / name).frame.rows() == [("1",)]
