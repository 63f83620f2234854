"""Birth dates as they are written."""

from __future__ import annotations

import pytest

from kohorte.patients.linkage.dates import NO_DATE, BirthDate, birth_date


@pytest.mark.parametrize(
    "text",
    ["1960-12-31", "31.12.1960", "31. 12. 1960", "31/12/1960", "31-12-1960", "12/31/1960", "1960/12/31", "19601231",
     "1960-12-31 00:00:00", "1960-12-31T00:00:00Z", " 31.12.1960 "],
)  # fmt: skip
def test_usual_ways_to_write_a_date_are_read(text: str) -> None:
    assert birth_date(text) == BirthDate(1960, 12, 31)


@pytest.mark.parametrize("text", ["1960", "00.00.1960", "1960-00-00", "01.01.1960", "1960-01-01"])
def test_the_year_alone_is_read_where_no_more_is_known(text: str) -> None:
    assert birth_date(text) == BirthDate(1960)


def test_a_month_or_a_day_without_a_possible_year_is_kept() -> None:
    assert birth_date("12.1960") == birth_date("00.12.1960") == BirthDate(1960, 12)
    assert birth_date("3984-02-29") == birth_date("29.2.84") == BirthDate(0, 2, 29)


@pytest.mark.parametrize("text", ["01.01.1900", "9999-12-31", "0000-00-00", "11.11.1111"])
def test_placeholders_are_no_date(text: str) -> None:
    assert birth_date(text) == NO_DATE
    assert not NO_DATE


@pytest.mark.parametrize(
    "text", ["31.02.1960", "29.02.1961", "45.13.1960", "31.13.60", "31/12/60", "unbekannt", "", "1960-13-45"]
)
def test_what_is_no_date_is_not_understood(text: str) -> None:
    assert birth_date(text) is None
