"""No error of this layer may carry a value of a cell; here the same value stands near every kind of error."""

from __future__ import annotations

import io
import traceback

import pandas as pd
import polars as pl
import pytest

from kohorte.data import read_csv, read_parquet, to_polars, write_csv
from kohorte.errors import KohorteError

CANARY = "CANARY4711"
FILES: dict[str, tuple[bytes, dict[str, str]]] = {
    "csv-not-utf-8": (f"a,b\n{CANARY},ü\n".encode("cp1252"), {}),
    "csv-not-decodable": (f"a,b\n{CANARY},".encode() + b"\x81\n", {"encoding": "cp1252"}),
    "csv-encoding-unknown": (f"a,b\n{CANARY},1\n".encode(), {"encoding": "klingon"}),
    "csv-encoding-conflict": (f"\ufeffa,b\n{CANARY},1\n".encode(), {"encoding": "cp1252"}),
    "csv-nul": (f"a,b\n{CANARY},\0\n".encode(), {}),
    "csv-separator": (f"a,b\n{CANARY},1\n".encode(), {"separator": "::"}),
    "csv-separator-ambiguous": (f"a,b;c\n{CANARY},1;2\n".encode(), {}),
    "csv-line-ends": (f"a,b\r{CANARY},1\r".encode(), {}),
    "csv-ragged": (f"a,b\n{CANARY},1,{CANARY}\n".encode(), {}),
    "csv-quotes": (f'a,b\n{CANARY},"{CANARY}\n'.encode(), {}),
    "csv-header": (f"a,{'x' * 140_000}\n{CANARY},1\n".encode(), {}),
    "table-duplicate-columns": (f"a,a\n{CANARY},1\n".encode(), {}),
    "table-unnamed-columns": (f"a,\n{CANARY},1\n".encode(), {}),
}


def check_silent(error: BaseException) -> None:
    assert CANARY not in str(error)
    assert CANARY not in repr(error)
    printed = traceback.TracebackException.from_exception(error, capture_locals=False)
    seen = [printed]
    while seen:
        part = seen.pop()
        assert CANARY not in "".join(part.format_exception_only())
        if part.__cause__ is not None:
            seen.append(part.__cause__)
        if part.__context__ is not None and not part.__suppress_context__:
            seen.append(part.__context__)


@pytest.mark.parametrize("code", FILES)
def test_a_refused_csv_file_does_not_tell_its_values(code: str) -> None:
    data, options = FILES[code]
    with pytest.raises(KohorteError) as caught:
        read_csv(data, source="t.csv", **options)
    assert caught.value.code == code
    check_silent(caught.value)


def test_a_disagreement_with_the_reader_is_an_error_that_does_not_tell_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: object, **__: object) -> pl.DataFrame:
        raise pl.exceptions.ComputeError(CANARY)

    readers = [failing, lambda *_, **__: pl.DataFrame({"a": [CANARY, CANARY], "b": ["", ""]})]
    for reader in readers:
        monkeypatch.setattr(pl, "read_csv", reader)
        with pytest.raises(KohorteError) as caught:
            read_csv(f"a,b\n{CANARY},1\n".encode(), source="t.csv")
        assert caught.value.code == "csv-not-readable"
        check_silent(caught.value)


def test_a_refused_parquet_file_does_not_tell_its_values() -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"a": [[CANARY]]}).write_parquet(buffer)
    for data in (buffer.getvalue(), buffer.getvalue()[:-30], CANARY.encode()):
        with pytest.raises(KohorteError) as caught:
            read_parquet(data, source="t.parquet")
        check_silent(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [CANARY, 1, b"x"]}),
        pd.DataFrame({"a": [1, 2]}, index=[CANARY, "y"]),
        pd.DataFrame({"a": [[CANARY]]}),
        pl.DataFrame({"a": [{"x": CANARY}]}),
        pl.LazyFrame({"a": [CANARY]}).with_columns(pl.col("a").cast(pl.Date)),
        {"a": [CANARY]},
    ],
    ids=lambda frame: type(frame).__module__,
)
def test_a_refused_frame_does_not_tell_its_values(frame: object) -> None:
    with pytest.raises(KohorteError) as caught:
        to_polars(frame)
    check_silent(caught.value)


def test_what_cannot_be_written_is_not_told() -> None:
    for frame in (pl.DataFrame({"a": [f"{CANARY}名"]}), pl.DataFrame({"a": [[CANARY]]})):
        with pytest.raises(KohorteError) as caught:
            write_csv(frame, io.BytesIO(), encoding="cp1252")
        check_silent(caught.value)
