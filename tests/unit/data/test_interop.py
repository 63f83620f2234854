from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohorte
from kohorte.data import FrameKind, from_polars, to_polars
from kohorte.errors import InputError


def refusal(frame: object) -> InputError:
    with pytest.raises(InputError) as caught:
        to_polars(frame)
    return caught.value


VALUES = {"age": [39, None, 41], "sex": ["f", "", None], "bmi": [1.5, float("nan"), None]}
PLAIN = [(39, "f", 1.5), (None, None, None), (41, None, None)]
FRAMES = [
    (pl.DataFrame(VALUES), FrameKind.POLARS, pl.DataFrame),
    (pl.LazyFrame(VALUES), FrameKind.POLARS, pl.DataFrame),
    (pd.DataFrame(VALUES), FrameKind.PANDAS, pd.DataFrame),
    (pa.table(VALUES), FrameKind.ARROW_TABLE, pa.Table),
    (pa.RecordBatch.from_pydict(VALUES), FrameKind.ARROW_BATCH, pa.RecordBatch),
]


@pytest.mark.parametrize(("frame", "kind", "back"), FRAMES, ids=lambda value: str(type(value)))
def test_a_frame_comes_in_with_missing_as_null_and_goes_out_as_its_kind(
    frame: object, kind: FrameKind, back: type
) -> None:
    converted, found = to_polars(frame)
    assert found is kind
    assert converted.rows() == PLAIN
    assert converted.columns == list(VALUES)
    returned = from_polars(converted, kind)
    assert type(returned) is back
    assert to_polars(returned)[0].rows() == PLAIN
    assert type(from_polars(converted.clear(), kind)) is back


def test_the_frame_of_the_caller_is_not_changed() -> None:
    mine = pd.DataFrame(VALUES)
    before = mine.copy(deep=True)
    to_polars(mine)
    pd.testing.assert_frame_equal(mine, before)


def test_dates_and_booleans_come_through() -> None:
    frame = pd.DataFrame({"d": [date(2024, 2, 17)], "t": [pd.Timestamp("2024-02-17 13:45")], "b": [True]})
    converted, _ = to_polars(frame)
    assert [str(dtype.base_type()) for dtype in converted.dtypes] == ["Date", "Datetime", "Boolean"]


def test_categories_become_text_so_that_removed_values_do_not_go_along() -> None:
    frames = [
        pd.DataFrame({"a": pd.Categorical(["x"], categories=["x", "CANARY4711"])}),
        pa.table({"a": pa.array(["x", "CANARY4711"]).dictionary_encode().slice(0, 1)}),
        pl.DataFrame({"a": ["x"]}, schema={"a": pl.Enum(["x", "CANARY4711"])}),
    ]
    for frame in frames:
        converted, _ = to_polars(frame)
        assert converted.schema == {"a": pl.String}
        assert converted.rows() == [("x",)]
    enum = frames[2]
    assert isinstance(enum, pl.DataFrame)
    assert "CANARY4711" not in str(from_polars(enum, FrameKind.ARROW_TABLE))


@pytest.mark.parametrize("index", [[1, 2], ["x", "y"], pd.RangeIndex(1, 3), pd.RangeIndex(2, name="patient")])
def test_an_index_of_its_own_is_refused(index: object) -> None:
    error = refusal(pd.DataFrame({"a": [1, 2]}, index=index))
    assert error.code == "frame-index"
    assert "reset_index" in str(error)


def test_names_must_be_different_texts() -> None:
    assert refusal(pd.DataFrame([[1, 2]])).code == "frame-column-names"
    assert refusal(pd.DataFrame([[1, 2]], columns=["a", "a"])).code == "table-duplicate-columns"
    assert refusal(pa.table([pa.array([1]), pa.array([2])], ["a", "a"])).code == "table-duplicate-columns"
    assert refusal(pd.DataFrame({"": [1]})).code == "table-unnamed-columns"
    assert refusal(pl.DataFrame()).code == "table-no-columns"


def test_columns_that_are_no_plain_values_are_refused_by_name() -> None:
    mixed = refusal(pd.DataFrame({"odd": ["CANARY4711", 1, object()]}))
    assert mixed.code in ("frame-column-unreadable", "table-column-type")
    assert "'odd'" in str(mixed)
    assert "CANARY4711" not in str(mixed)
    assert refusal(pl.DataFrame({"odd": [[1]]})).code == "table-column-type"
    assert refusal(pa.table({"odd": [{"x": 1}]})).code == "table-column-type"
    assert refusal(pd.DataFrame({"odd": [[1], [2]]})).code == "table-column-type"


def test_a_lazy_frame_that_fails_is_refused_without_the_words_of_polars() -> None:
    lazy = pl.LazyFrame({"a": ["CANARY4711"]}).with_columns(pl.col("a").cast(pl.Int64))
    error = refusal(lazy)
    assert error.code == "frame-not-collected"
    assert "CANARY4711" not in str(error)


@pytest.mark.parametrize("thing", [None, 3, "t.csv", [1], {"a": [1]}, pl.Series([1]), pd.Series([1])])
def test_something_else_is_refused_with_its_type(thing: object) -> None:
    error = refusal(thing)
    assert error.code == "frame-unknown"
    assert type(thing).__qualname__ in str(error)


def test_without_pyarrow_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("pyarrow")

    monkeypatch.setattr(pl, "from_pandas", missing)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", missing)
    error = refusal(pd.DataFrame({"a": ["x"]}))
    assert error.code == "frame-library-missing"
    assert "kohorte[pandas]" in str(error)
    with pytest.raises(InputError, match=r"kohorte\[pandas\]"):
        from_polars(pl.DataFrame({"a": ["x"]}), FrameKind.PANDAS)


def test_reading_data_imports_neither_pandas_nor_pyarrow() -> None:
    program = "import sys, kohorte.data; sys.exit('pandas' in sys.modules or 'pyarrow' in sys.modules)"
    sources = str(Path(next(iter(kohorte.__path__))).parent)
    assert subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": sources}).returncode == 0
