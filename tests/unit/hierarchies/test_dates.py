import datetime as dt

import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import Dates
from support.work import counted_calls


def labels(text, **options):
    hierarchy = Dates(**options).build([text], attribute="admitted")
    return [level[0] for level in hierarchy.labels] if hierarchy.values else None


def test_periods_are_named():
    assert labels("2024-02-17") == ["2024-02-17", "2024-02", "2024-Q1", "2024", "2020-2029", "*"]
    assert labels("1999-12-31", levels=["five-years", "century"])[1:3] == ["1995-1999", "1900-1999"]
    assert labels("0007-03-01", levels=["year", "decade"])[1:3] == ["0007", "0000-0009"]


@pytest.mark.parametrize(("month", "quarter"), [("03", 1), ("04", 2), ("09", 3), ("10", 4)])
def test_quarters_begin_where_they_should(month, quarter):
    assert labels(f"2024-{month}-01", levels=["quarter"])[1] == f"2024-Q{quarter}"


def test_iso_weeks_belong_to_the_iso_year():
    assert labels("2024-02-17", levels=["week"])[1] == "2024-W07"
    assert labels("2024-12-30", levels=["day", "week"])[1:3] == ["2024-12-30", "2025-W01"]
    assert labels("2021-01-01", levels=["week"])[1] == "2020-W53"


def test_timestamps_have_hours_and_days():
    options = {"format": "%Y-%m-%d %H:%M:%S", "levels": ["hour", "day", "month"]}
    assert labels("2024-02-17 09:30:00", **options)[1:] == [
        "2024-02-17 09:00-09:59",
        "2024-02-17",
        "2024-02",
        "*",
    ]
    assert labels("2024-02-17 24:00:00", **options) is None
    assert labels("2024-02-17T09:30:00.123+01:00", format="%FT%T.%f%z", levels=["day"])[1] == "2024-02-17"


def test_other_formats_are_read():
    assert labels("7.2.2024", format="%d.%m.%Y", levels=["day"])[1] == "2024-02-07"
    assert labels("20240217", format="%Y%m%d", levels=["day"])[1] == "2024-02-17"
    assert labels("2024217", format="%Y%m%d", levels=["day"]) is None
    assert labels("17 FEB 2024", format="%d %b %Y", levels=["day"])[1] == "2024-02-17"
    assert labels("17 February 2024", format="%d %B %Y", levels=["day"])[1] == "2024-02-17"
    assert labels("17. März 2024", format="%d. %B %Y", levels=["day"])[1] == "2024-03-17"
    assert labels("1. Jänner 2024", format="%d. %B %Y", levels=["day"])[1] == "2024-01-01"
    assert labels("1. Sept. 2024", format="%d. %b %Y", levels=["day"])[1] == "2024-09-01"
    assert labels("1. Dez. 2024", format="%d. %B %Y", levels=["day"]) is None
    assert labels("17 Brumaire 2024", format="%d %B %Y", levels=["day"]) is None
    assert labels("2024-02", format="%Y-%m", levels=["quarter"])[1] == "2024-Q1"
    assert labels("2024", format="%Y", levels=["decade"])[1] == "2020-2029"
    assert labels("100% 2024", format="100%% %Y", levels=["year"])[1] == "2024"
    assert labels("[2024]", format="[%Y]", levels=["year"])[1] == "2024"


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "0000-01-01",
     "2024-02-17 ", " 2024-02-17", "2024-02-17\n", "24-02-17", "12024-02-17", "2024/02/17", "", "*",
     "unknown", "٢٠٢٤-02-17"],
)  # fmt: skip
def test_texts_that_are_no_dates_are_unknown(text):
    assert labels(text) is None


def test_leap_days_are_dates():
    assert labels("2024-02-29")[1] == "2024-02"
    assert labels("2000-02-29")[1] == "2000-02"


def test_every_day_of_a_century_agrees_with_the_standard_library():
    days = [dt.date(1950, 1, 1) + dt.timedelta(n) for n in range(36_525)]
    texts = [day.isoformat() for day in days]
    periods = Dates(levels=["month", "quarter", "year", "decade"])
    hierarchy, calls = counted_calls(lambda: periods.build(texts, attribute="d"))
    assert hierarchy.column(1) == [f"{day:%Y-%m}" for day in days]
    weeks = Dates(levels=["week"]).build(texts, attribute="d")
    assert weeks.column(1) == [f"{day:%G-W%V}" for day in days]
    assert calls < 20_000, calls  # not one for each day


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        ({"levels": []}, "hierarchy-option-invalid", "levels"),
        ({"levels": "month"}, "hierarchy-option-invalid", "levels"),
        ({"levels": ["months"]}, "hierarchy-option-invalid", "did you mean 'month'"),
        ({"levels": ["year", "month"]}, "dates-not-nested", "coarser"),
        ({"levels": ["month", "month"]}, "dates-not-nested", "coarser"),
        ({"levels": ["week", "month"]}, "dates-not-nested", "week must be the last"),
        ({"levels": ["week", "year"]}, "dates-not-nested", "week must be the last"),
        ({"levels": ["month", "week"]}, "dates-not-nested", "coarser"),
        ({"levels": ["hour"]}, "dates-format-too-coarse", "hour"),
        ({"format": "%Y"}, "dates-format-too-coarse", "month"),
        ({"format": "%Y-%m", "levels": ["week"]}, "dates-format-too-coarse", "day"),
        ({"format": "%d.%m.%y"}, "dates-format-invalid", "century"),
        ({"format": "%d.%m"}, "dates-format-invalid", "year"),
        ({"format": "%Y-%d"}, "dates-format-invalid", "month"),
        ({"format": "%Y-%m-%d %Y"}, "dates-format-invalid", "twice"),
        ({"format": "%Y-%b-%m"}, "dates-format-invalid", "twice"),
        ({"format": "%Y-%q"}, "dates-format-invalid", "directives"),
        ({"format": "%Y%"}, "dates-format-invalid", "directives"),
        ({"format": 5}, "dates-format-invalid", "text"),
    ],
)
def test_bad_options_are_refused_by_name(options, code, named):
    with pytest.raises(InputError, match=named) as caught:
        Dates(**options)
    assert caught.value.code == code
