"""What the cells of real columns are, and which hierarchy covers every one of them."""

from __future__ import annotations

import polars as pl
import pytest

from kohorte.data import as_text
from kohorte.hierarchies import Dates, Intervals, Redaction
from kohorte.identifiers import CellTable
from kohorte.plans.column_types import ColumnType, types_of


def column(cells: list[object]) -> ColumnType:
    series = pl.Series("x", cells, strict=False)
    [found] = types_of(CellTable.of([as_text(series)]), typed=[0] if series.dtype.is_numeric() else [])
    if found.hierarchy is not None:
        values = [text for text in as_text(series).drop_nulls().unique() if text not in found.marks]
        known = found.hierarchy.label(values, attribute="x").columns.height
        assert known == len(values), "the hierarchy covers every cell"
    return found


FORMATS = {
    "%Y-%m-%d": ["2024-02-17", "1999-12-31"],
    "%d.%m.%Y": ["17.02.2024", "1.3.1999"],
    "%d-%m-%Y": ["17-02-2024", "01-03-1999"],
    "%d/%m/%Y": ["17/02/2024", "01/03/1999"],
    "%m/%d/%Y": ["02/17/2024", "03/01/1999"],
    "%Y/%m/%d": ["2024/02/17", "1999/03/01"],
    "%Y%m%d": ["20240217", "19990301"],
    "%d. %B %Y": ["3. Mai 2021", "14. März 1999", "1. Jänner 2020", "24. DEZEMBER 1980"],
    "%d. %b %Y": ["3. Mai 2021", "14. Mrz. 1999", "1. Jän. 2020", "30. Sept. 1980", "2. Oktober 1981"],
    "%d-%b-%Y": ["03-May-2021", "14-Mar-1999"],
    "%d %B %Y": ["3 May 2021", "14 October 1999"],
    "%d. %B %Y %H:%M": ["3. Mai 2021 07:30", "14. Juli 1999 23:59"],
    "%d.%m.%Y %H:%M": ["17.02.2024 07:30", "01.03.1999 23:59"],
    "%Y-%m-%d %H:%M:%S": ["2024-02-17 07:30:00", "1999-03-01 23:59:59"],
    "%Y-%m-%dT%H:%M:%S%z": ["2024-02-17T07:30:00Z", "1999-03-01T23:59:59+01:00"],
    "%Y-%m-%dT%H:%M:%S.%f%z": ["2024-02-17T07:30:00.5+0100", "1999-03-01T23:59:59.125Z"],
}


@pytest.mark.parametrize("layout", FORMATS)
def test_the_format_of_dates_and_timestamps_is_stated(layout: str) -> None:
    found = column(FORMATS[layout])
    assert isinstance(found.hierarchy, Dates)
    assert found.hierarchy.format == layout
    assert found.kind == ("date and time" if "%H" in layout else "date")
    assert layout in found.why


def test_timestamps_are_first_generalized_to_their_day() -> None:
    timed, dated = (column(FORMATS[layout]).hierarchy for layout in ("%Y-%m-%dT%H:%M:%S.%f%z", "%d-%m-%Y"))
    assert isinstance(timed, Dates)
    assert isinstance(dated, Dates)
    assert (timed.levels[0], dated.levels[0]) == ("day", "month")


@pytest.mark.parametrize("sign", ["/", "-"])
def test_an_order_of_day_and_month_that_is_not_certain_is_said_and_not_guessed(sign: str) -> None:
    found = column([f"01{sign}02{sign}2020", f"03{sign}04{sign}2021"])
    assert (found.kind, found.hierarchy) == ("date", None)
    assert f"format %d{sign}%m{sign}%Y or %m{sign}%d{sign}%Y" in found.why


def test_dates_in_several_formats_and_years_of_two_digits_get_no_hierarchy_and_a_reason() -> None:
    several = column(["2024-02-17", "17.02.2024"])
    short = column(["17.02.24", "01.03.99"])
    assert (several.kind, several.hierarchy, short.kind, short.hierarchy) == ("date", None, "date", None)
    assert "several formats" in several.why
    assert "two digits" in short.why
    named = column(["3. Mai 21", "4. Juni 22"])
    assert (named.kind, named.hierarchy) == ("date", None)
    assert "two digits" in named.why


@pytest.mark.parametrize(
    "cell",
    ["30.02.2024", "2024-13-01", "2024-02-17 25:00", "17.02/2024", "00.01.2024", "31. April 2021", "3. Brumaire 2021"],
)
def test_what_is_no_day_of_the_calendar_or_no_time_of_the_clock_is_no_date(cell: str) -> None:
    assert column([cell]).kind == "text"


NUMBERS = {
    "decimal point": (["1.5", "2", "3.25", "4"], ".", ""),
    "decimal comma": (["1,5", "2", "3,25", "4"], ",", ""),
    "decimal comma, thousands separated by point": (["1.234,5", "2", "3,25", "1.000.000"], ",", "."),
    "decimal point, thousands separated by comma": (["1,234.5", "2", "3.25", "1,000,000"], ".", ","),
    "decimal point, thousands separated by apostrophe": (["1'234.5", "2", "3.25", "4"], ".", "'"),
    "decimal comma, thousands separated by blank": (["1 234,5", "2", "3,25", "4"], ",", " "),
}


@pytest.mark.parametrize("how", NUMBERS)
def test_decimal_signs_and_thousands_are_recognised_and_stated(how: str) -> None:
    cells, decimal, thousands = NUMBERS[how]
    found = column(list(cells))
    assert isinstance(found.hierarchy, Intervals)
    assert (found.kind, found.hierarchy.decimal, found.hierarchy.thousands) == ("number", decimal, thousands)
    assert found.why == how


@pytest.mark.parametrize("sign", [".", ","])
def test_a_sign_that_can_separate_thousands_or_decimals_is_said_and_not_guessed(sign: str) -> None:
    found = column([f"1{sign}234", f"2{sign}500", "3", "4"])
    assert found.hierarchy is None
    assert "thousands or decimals" in found.why


def test_a_point_in_a_column_of_floats_is_the_decimal_sign() -> None:
    assert isinstance(column([1.234, 2.125, 3.875, 4.001]).hierarchy, Intervals)


def test_small_and_negative_numbers_get_intervals_of_a_fitting_width() -> None:
    small = column(["0.1", "0.25", "0.9", "0.31"]).hierarchy
    assert isinstance(small, Intervals)
    assert [float(width) for width in small.widths or ()] == [0.05, 0.1, 0.2]
    negative = column(["-7", "-3", "12", "0"]).hierarchy
    assert isinstance(negative, Intervals)
    assert negative.integer


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([*map(str, range(99)), "about ten"], "integer except for 1 cell"),
        ([*(f"{n},5" for n in range(98)), "1.5", "x"], "number except for 2 cells"),
        ([*(f"{n:02}.01.2020" for n in range(1, 29)), "01.02.20203"], "date except for 1 cell"),
    ],
)
def test_a_column_that_is_of_a_type_except_for_some_cells_says_so_and_still_gets_a_plan_that_runs(
    cells: list[object], kind: str
) -> None:
    found = column(cells)
    assert found.kind == kind
    assert found.hierarchy is None
    assert "missing_values" in found.why


def test_usual_texts_for_missing_are_proposed_where_all_other_cells_have_a_type() -> None:
    found = column(["1", "2", "NA", "4", "k.A.", "17", "-", "NA"])
    assert (found.kind, found.marks, found.distinct, found.rows) == ("integer", ("-", "NA", "k.A."), 4, 4)
    assert isinstance(found.hierarchy, Intervals)
    assert column(["17.02.2024", "unbekannt"]).marks == ("unbekannt",)


@pytest.mark.parametrize(
    "values", [["+", "-", "++"], ["none", "pollen"], ["Na", "K", "Cl"], ["unknown", "NA"], ["Nadine", "unknowns"]]
)
def test_words_that_other_values_explain_are_values_in_a_column_of_texts(values: list[str]) -> None:
    found = column(values)
    assert (found.kind, found.marks, found.distinct) == ("text", (), len(values))


def test_the_same_texts_are_proposed_for_a_column_of_texts() -> None:
    found = column(["yes", "no", "unknown", "NA", "k.A. "])
    assert (found.kind, found.marks, found.distinct, found.rows) == ("text", ("NA", "k.A. ", "unknown"), 2, 2)
    assert column(["NA", "-"]).kind == "text"


def test_digits_of_one_length_are_a_code_and_an_empty_column_is_empty() -> None:
    assert column(["01234", "12345"]).hierarchy == Redaction(length=5)
    assert column([None, ""]).kind == "empty"
    assert column(["*", None]).kind == "empty"
