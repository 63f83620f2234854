"""Dates shifted by one offset per person."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import polars as pl
import pytest

from kohorte import InputError
from kohorte.pseudonyms.dates import DateColumn, offsets
from kohorte.trust.keys import Key, Keys

KEYS = Keys("the domain 'x'", (Key(1, bytes(32)), Key(2, bytes([1]) * 32)))
PEOPLE = [str(number) for number in range(2000)]


def shifted(texts: list[str | None], days: list[int | None], format_: str | None = None) -> list[str | None]:
    return DateColumn("date", format_).shift(pl.Series("date", texts), pl.Series(days, dtype=pl.Int32)).to_list()


@pytest.mark.parametrize("within", [1, 2, 30])
def test_every_offset_but_zero_occurs_about_equally_often(within: int) -> None:
    found = offsets(PEOPLE, [1] * len(PEOPLE), KEYS, within)
    assert set(found) == set(range(-within, within + 1)) - {0}
    expected = len(PEOPLE) / (2 * within)
    assert all(abs(found.count(days) - expected) < 6 * expected**0.5 for days in set(found))


def test_an_offset_depends_on_person_and_key_only() -> None:
    first = offsets(PEOPLE, [1] * len(PEOPLE), KEYS, 365)
    assert first == offsets(PEOPLE, [1] * len(PEOPLE), KEYS, 365)
    assert offsets(PEOPLE[::-1], [1] * len(PEOPLE), KEYS, 365) == first[::-1]
    other = offsets(PEOPLE, [2] * len(PEOPLE), KEYS, 365)
    assert sum(a == b for a, b in zip(first, other, strict=True)) < 20


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("2020-02-27", "2020-03-01"),
        ("27.02.2020", "01.03.2020"),
        ("2020/12/30", "2021/01/02"),
        ("20200227", "20200301"),
        ("2020-02-27T08:15:30", "2020-03-01T08:15:30"),
        ("2020-02-27 08:15", "2020-03-01 08:15"),
        ("27.02.2020 08:15:30.123", "01.03.2020 08:15:30.123"),
        ("2020-02-27T08:15:30+01:00", "2020-03-01T08:15:30+01:00"),
        (" 2020-02-27 ", "2020-03-01"),
        ("30/12/2020", "02/01/2021"),
        ("12/30/2020", "01/02/2021"),
    ],
)
def test_a_date_in_text_moves_and_its_time_stays(text: str, moved: str) -> None:
    assert shifted([text, None], [3, 3]) == [moved, None]


def test_dates_of_the_right_type_move() -> None:
    days = pl.Series([3, None], dtype=pl.Int32)
    day, moment = date(2020, 2, 27), datetime(2020, 2, 27, 8, 15)
    column = DateColumn("date")
    assert column.shift(pl.Series([day, day]), days).to_list() == [day + timedelta(3), None]
    assert DateColumn("date").shift(pl.Series([moment] * 2), days).to_list() == [moment + timedelta(3), None]
    assert (column.shifted, column.removed) == (1, 1)
    assert DateColumn("date").shift(pl.Series([None, None]), days).to_list() == [None, None]


def test_a_date_without_a_person_is_removed() -> None:
    assert shifted(["2020-02-27", "2020-02-27"], [None, 1]) == [None, "2020-02-28"]


def test_day_and_month_are_never_guessed() -> None:
    with pytest.raises(InputError, match="--date-format") as caught:
        shifted(["01/02/2020", "03/04/2020"], [1, 1])
    assert caught.value.code == "pseudonym-date-format"
    assert shifted(["01/02/2020"], [1], "%d/%m/%Y") == ["02/02/2020"]
    assert shifted(["01/02/2020"], [1], "%m/%d/%Y") == ["01/03/2020"]
    assert shifted(["01/02/2020", "13/02/2020"], [1, 1]) == ["02/02/2020", "14/02/2020"]


@pytest.mark.parametrize(
    "text", ["unknown", "2020-02-30", "2020-13-01", "27.02.20", "2020", "2020-02-27 afternoon", "-"]
)
def test_a_cell_that_is_no_date_is_refused_with_its_row_and_not_with_its_value(text: str) -> None:
    with pytest.raises(InputError, match="column 'date'") as caught:
        shifted(["2020-02-27", text], [1, 1])
    assert caught.value.code in ("pseudonym-dates", "pseudonym-date-format")
    assert text not in caught.value.message or text == "-"


def test_the_row_of_a_wrong_cell_counts_from_the_beginning_of_the_table() -> None:
    column = DateColumn("date")
    days = pl.Series([1, 1], dtype=pl.Int32)
    column.shift(pl.Series("date", [None, "2020-02-27"]), days)
    with pytest.raises(InputError, match="row 2"):
        column.shift(pl.Series("date", ["2020-02-27", "x"]), days)
    with pytest.raises(InputError, match="row 40"):
        column.shift(pl.Series("date", ["2020-02-27", "x"]), days, lambda place: 40 * place)


def test_the_format_is_found_in_the_first_rows_that_have_dates() -> None:
    column = DateColumn("date")
    days = pl.Series([1], dtype=pl.Int32)
    assert column.shift(pl.Series("date", [None], dtype=pl.String), days).to_list() == [None]
    assert column.shift(pl.Series("date", ["27.02.2020"]), days).to_list() == ["28.02.2020"]
    with pytest.raises(InputError):
        column.shift(pl.Series("date", ["2020-02-27"]), days)


def test_numbers_are_no_dates() -> None:
    with pytest.raises(InputError) as caught:
        DateColumn("date").shift(pl.Series([1, 2]), pl.Series([1, 1], dtype=pl.Int32))
    assert caught.value.code == "pseudonym-dates"


@pytest.mark.parametrize("format_", ["%y-%m-%d", "%d", "dd.mm.yyyy", ""])
def test_a_format_that_is_none_is_refused(format_: str) -> None:
    with pytest.raises(InputError) as caught:
        DateColumn("date", format_)
    assert caught.value.code == "pseudonym-date-format"


@pytest.mark.parametrize(
    "text",
    ["9999-12-31", "1900-01-01", "1901-01-01", "1911-11-11", "1899-12-30", "1111-11-11", "0001-01-01", "2999-12-31"],
)
def test_a_placeholder_is_removed_because_it_would_tell_the_offset(text: str) -> None:
    """Everybody knows what 9999-12-31 was before it was shifted, and so would know all true dates of the person."""
    column = DateColumn("date")
    texts = pl.Series("date", ["2020-02-27", text, text, None])
    moved = column.shift(texts, pl.Series([3, 3, None, 3], dtype=pl.Int32)).to_list()
    assert moved == ["2020-03-01", None, None, None]
    assert (column.shifted, column.removed, column.placeholders) == (1, 0, 2)


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("us"), pl.Datetime("ms", "Europe/Berlin")])
def test_a_placeholder_of_the_right_type_is_removed(kind: pl.DataType) -> None:
    column = DateColumn("date")
    days = pl.Series([date(9999, 12, 31), date(2020, 2, 27)]).cast(pl.Datetime("ms")).cast(kind)
    moved = column.shift(days, pl.Series([300, 3], dtype=pl.Int32))
    assert moved.dtype == kind
    assert moved.dt.to_string("%Y-%m-%d").to_list() == [None, "2020-03-01"]
    assert (column.shifted, column.removed, column.placeholders) == (1, 0, 1)


def test_true_dates_of_old_people_and_far_plans_stay() -> None:
    assert shifted(["1800-01-01", "1899-06-01", "2199-12-31"], [1, 1, 1]) == ["1800-01-02", "1899-06-02", "2200-01-01"]


def test_a_date_that_most_people_share_is_told() -> None:
    """It may stand for an unknown date: 1970-01-01 is one of people, too, so that it cannot be removed."""
    column = DateColumn("birth")
    column.shift(pl.Series(["1970-01-01"] * 20 + ["1980-05-01"] * 5), pl.Series([1] * 25, dtype=pl.Int32))
    assert len(column.notes) == 1
    assert "20 of the first 25 dates" in column.notes[0]
    assert "1970" not in column.notes[0]
    other = DateColumn("birth")
    different = pl.Series([f"19{year}-05-01" for year in range(40, 90)])
    other.shift(different, pl.Series([1] * 50, dtype=pl.Int32))
    assert other.notes == []
