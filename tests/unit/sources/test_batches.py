"""Tables in batches: the same rows as at once, and the same errors."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kohorte import InputError
from kohorte.data import parse_table, read_table
from kohorte.sources.batches import TableBatches, fill_table_in_batches

UGLY = {
    "plain": "a,b\n1,x\n2,y\n3,\n",
    "no line end": "a,b\n1,x\n2,y",
    "windows": "a;b\r\n1;x\r\n2;y\r\n",
    "byte order mark": "\ufeffa,b\n1,ä\n2,ö\n",
    "stated separator": "sep=;\na;b\n1;x,\n2;y\n",
    "quotes": 'a,b\n1,"x ""y"", z"\n2,"line\nbreak, and\n\nanother"\n3,"\n"\n4,w\n',
    "quoted header": '"a\nb",c\n1,2\n3,4\n',
    "empty lines": "\n\na,b\n\n1,x\n\n\n2,y\n\n\n",
    "one column": "a\n1\n\n2\n\n\n3\n4\n\n",
    "one column, quoted": 'a\n1\n""\n2\n',
    "one column with commas": 'name\n"b, a"\n"d, c"\nx\n',
    "tabs": "a\tb\n1\tx\n2\ty\n",
    "umlauts": "größe,straße\n" + "".join(f"{number},Müllerstraße {number}\n" for number in range(40)),
}


def batches(path: Path, **options: object) -> list[pl.DataFrame]:
    return [batch.frame for batch in TableBatches(path, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [1, 7, 16, 50, 1 << 20])
@pytest.mark.parametrize("name", UGLY)
def test_the_batches_of_a_csv_file_are_its_rows(tmp_path: Path, name: str, block: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(UGLY[name].encode())
    whole = read_table(path)
    found = list(TableBatches(path, block=block))
    assert pl.concat([batch.frame for batch in found]).equals(whole.frame)
    assert {batch.separator for batch in found} == {whole.separator}
    assert found[0].notes == whole.notes
    assert found[-1].done <= TableBatches(path).total


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-32", "iso8859-15", "utf-8-sig"])
@pytest.mark.parametrize("block", [9, 64])
def test_every_encoding_is_read_in_batches_as_at_once(tmp_path: Path, encoding: str, block: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(UGLY["umlauts"].encode(encoding))
    whole = read_table(path, encoding=encoding)
    assert pl.concat(batches(path, encoding=encoding, block=block)).equals(whole.frame)


def test_a_mark_of_the_encoding_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(UGLY["umlauts"].encode("utf-16"))
    assert pl.concat(batches(path, block=64)).equals(read_table(path).frame)


WRONG = {
    "empty": b"",
    "only line ends": b"\n\n\n",
    "ragged at the end": b"a,b\n" + b"1,2\n" * 30 + b"1,2,3\n",
    "ragged at the beginning": b"a,b\n1\n" + b"1,2\n" * 30,
    "open quote": b"a,b\n" + b"1,2\n" * 30 + b'1,"2\n' + b"1,2\n" * 5,
    "quote inside": b"a,b\n" + b"1,2\n" * 30 + b'1,2"3\n',
    "no utf-8 at the end": b"a,b\n" + b"1,2\n" * 30 + b"1,\xe4\n",
    "mixed encodings": "a,b\n1,ä\n".encode() + b"1,2\n" * 30 + b"1,\xe4\n",
    "nul": b"a,b\n" + b"1,2\n" * 30 + b"1,\0\n",
    "lone return": b"a,b\n" + b"1,2\n" * 30 + b"1,2\r3,4\n",
    "same names": b"a,a\n1,2\n",
    "gzip": b"\x1f\x8b" + b"x" * 40,
}


@pytest.mark.parametrize("block", [8, 40, 1 << 20])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_reported_as_if_the_file_was_read_at_once(tmp_path: Path, name: str, block: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(WRONG[name])
    with pytest.raises(InputError) as whole:
        read_table(path)
    with pytest.raises(InputError) as caught:
        batches(path, block=block)
    assert (caught.value.code, caught.value.message) == (whole.value.code, whole.value.message)


@pytest.mark.parametrize("block", [8, 1 << 20])
def test_encodings_that_are_mixed_between_batches_are_refused(tmp_path: Path, block: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("a,b\n1,ä\n".encode() + b"1,2\n" * 30 + b"1,\xe4\n")
    with pytest.raises(InputError) as caught:
        batches(path, block=block, encoding="cp1252")
    assert caught.value.code == "csv-encoding-mixed"


def test_a_wrong_separator_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    for separator, code in (("x", "csv-separator"),):
        with pytest.raises(InputError) as caught:
            batches(path, separator=separator)
        assert caught.value.code == code
    with pytest.raises(InputError) as caught:
        batches(tmp_path / "nothing.csv")
    assert caught.value.code == "file-unreadable"
    assert batches(path, separator=";")[0].columns == ["a,b"]


@pytest.fixture
def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": pl.Series([f"P{number}" for number in range(50)], dtype=pl.Categorical),
            "day": pl.Series([None, *range(49)]).cast(pl.Date),
            "value": [float("nan"), *map(float, range(49))],
            "text": ["", *['ä, "b"\nc'] * 49],
        }
    )


@pytest.mark.parametrize("rows", [1, 7, 50, 1000])
def test_the_batches_of_a_parquet_file_are_its_rows(tmp_path: Path, frame: pl.DataFrame, rows: int) -> None:
    path = tmp_path / "table.parquet"
    frame.write_parquet(path, row_group_size=20)
    found = list(TableBatches(path, rows=rows))
    assert pl.concat([batch.frame for batch in found]).equals(read_table(path).frame)
    assert max(batch.frame.height for batch in found) <= max(rows, 1)
    assert found[-1].done == TableBatches(path).total == 50


@pytest.mark.parametrize("content", [b"PAR1 this is not one", b"PAR1"])
def test_a_damaged_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        batches(path)
    assert caught.value.code == "parquet-damaged"
    assert TableBatches(path).total == 0


def test_a_parquet_file_with_lists_is_refused_also_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    for content in (pl.DataFrame({"a": [[1]]}), pl.DataFrame({"a": [[1]]}).clear()):
        content.write_parquet(path)
        with pytest.raises(InputError) as caught:
            batches(path)
        assert caught.value.code == "table-column-type"


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_table_without_rows_is_one_batch_with_its_columns(tmp_path: Path, frame: pl.DataFrame, name: str) -> None:
    path = tmp_path / name
    frame.clear().write_csv(path) if name.endswith("csv") else frame.clear().write_parquet(path)
    [batch] = TableBatches(path)
    assert (batch.frame.height, batch.frame.columns) == (0, frame.columns)


@pytest.mark.parametrize("content", ["pid\n", "pid", "\ufeffpid;value\r\n"])
def test_a_header_alone_is_a_table_without_rows(tmp_path: Path, content: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content.encode())
    [batch] = TableBatches(path)
    assert (batch.frame.height, batch.frame.columns[0]) == (0, "pid")


def test_bytes_are_read_like_a_file(tmp_path: Path, frame: pl.DataFrame) -> None:
    content = UGLY["quotes"].encode()
    table = TableBatches(Path("standard input"), content=content, block=8)
    assert pl.concat([batch.frame for batch in table]).equals(parse_table(content, Path("x")).frame)
    path = tmp_path / "table.parquet"
    frame.write_parquet(path)
    table = TableBatches(Path("standard input"), content=path.read_bytes(), rows=9)
    assert pl.concat([batch.frame for batch in table]).equals(read_table(path).frame)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_in_batches_is_read_back(tmp_path: Path, frame: pl.DataFrame, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    fill_table_in_batches(frame.iter_slices(7), path, path, separator=";")
    one = tmp_path / f"one{suffix}"
    fill_table_in_batches([frame], one, one, separator=";")
    assert read_table(path).frame.equals(read_table(one).frame)
    assert read_table(path).frame.height == 50


def test_an_error_while_rows_are_made_is_the_error_of_writing(tmp_path: Path, frame: pl.DataFrame) -> None:
    def rows() -> object:
        yield frame
        raise InputError("row 51", code="csv-ragged")

    for name in ("table.csv", "table.parquet"):
        with pytest.raises(InputError, match="row 51"):
            fill_table_in_batches(rows(), tmp_path / name, Path(name), separator=",")  # type: ignore[arg-type]
