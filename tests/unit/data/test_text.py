from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

import polars as pl
import pytest

from kohorte.data import Role, as_text
from kohorte.errors import InputError

CASES = [
    (pl.Series([39, -1, None]), ["39", "-1", None]),
    (pl.Series([1.5, 2.0, -0.0, 0.1, None, float("nan")]), ["1.5", "2", "0", "0.1", None, None]),
    (pl.Series([123456789012.0, 1e15, 1e17]), ["123456789012", "1000000000000000", "100000000000000000"]),
    (pl.Series([0.1, 3.0], dtype=pl.Float32), ["0.1", "3"]),
    (pl.Series([2**64 - 1], dtype=pl.UInt64), ["18446744073709551615"]),
    (pl.Series([True, False, None]), ["true", "false", None]),
    (pl.Series([date(2024, 2, 17), None]), ["2024-02-17", None]),
    (pl.Series([datetime(2024, 2, 17, 13, 45)]), ["2024-02-17 13:45:00"]),
    (pl.Series([datetime(2024, 2, 17, 13, 45, 0, 500000)]), ["2024-02-17 13:45:00.500"]),
    (pl.Series([datetime(2024, 2, 17, 13, tzinfo=UTC)]), ["2024-02-17 13:00:00+00:00"]),
    (pl.Series([time(7, 5)]), ["07:05:00"]),
    (pl.Series(["x", "", None, " "]), ["x", None, None, " "]),
    (pl.Series(["x", "", None], dtype=pl.Categorical), ["x", None, None]),
    (pl.Series(["x"], dtype=pl.Enum(["x", "y"])), ["x"]),
    (pl.Series([Decimal("1.50")]), ["1.50"]),
    (pl.Series([None, None]), [None, None]),
    (pl.Series([], dtype=pl.Int64), []),
]


@pytest.mark.parametrize(("series", "texts"), CASES, ids=lambda value: str(getattr(value, "dtype", "")))
def test_every_type_has_one_text(series: pl.Series, texts: list[str | None]) -> None:
    for name in ("a", "", "*", "^.*$", "^(", "values"):
        text = as_text(series.alias(name))
        assert text.dtype == pl.String
        assert text.name == name
        assert text.to_list() == texts


def test_infinity_has_a_text_too() -> None:
    assert as_text(pl.Series([float("inf"), float("-inf")])).to_list() == ["inf", "-inf"]


def test_roles_are_the_words_of_a_plan() -> None:
    assert [str(role) for role in Role] == ["identifying", "quasi-identifying", "sensitive", "insensitive"]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("odd", [b"\xff"]),
        pl.Series("odd", [[1]]),
        pl.Series("odd", [{"x": 1}]),
        pl.Series("odd", [1]).cast(pl.Duration("us")),
        pl.Series("odd", [[1, 2]], dtype=pl.Array(pl.Int64, 2)),
        pl.Series("odd", [object()], dtype=pl.Object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_without_plain_values_are_refused_by_name(column: pl.Series) -> None:
    with pytest.raises(InputError, match="'odd'") as caught:
        as_text(column)
    assert caught.value.code == "table-column-type"
