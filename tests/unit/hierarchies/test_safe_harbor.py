"""ZIP codes, dates and ages in the form that Safe Harbor permits."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError
from kohorte.hierarchies import SafeHarbor, builder_from_dict, check_hierarchy

ZIP3 = "zip3,population\n036,20000\n945,20001\n946,1500000\n"


def shown(builder: SafeHarbor, *values: str) -> dict[str, str]:
    table = builder.build(values, attribute="x").table()
    assert table["2"].to_list() == ["*"] * len(table)
    return dict(zip(table["0"], table["1"], strict=True))


def populations(folder: Path, text: str = ZIP3, **options: object) -> SafeHarbor:
    (folder / "zip3.csv").write_text(text, encoding="utf-8")
    return SafeHarbor("zip", populations="zip3.csv", folder=folder, **options)


# ZIP codes


def test_three_digits_stay_where_more_than_20000_people_live(tmp_path: Path) -> None:
    builder = populations(tmp_path)
    assert shown(builder, "94501", "94599-1234", "03601", "94601", "99999") == {
        "94501": "945",
        "94599-1234": "945",
        "03601": "000",
        "94601": "946",
        "99999": "000",
    }


def test_an_area_that_the_file_lacks_is_small_and_a_note_counts_it(tmp_path: Path) -> None:
    hierarchy = populations(tmp_path).build(["99999", "99998", "88888", "94501"], attribute="zip")
    assert hierarchy.notes == ("2 areas have no population in the file: they become 000",)
    assert populations(tmp_path).build(["94501"], attribute="zip").notes == ()


@pytest.mark.parametrize(
    "text", ["94501,15000\n94502,5001\n03601,20000\n", "ZIP;people\r\n94501;15000\r\n94502;5001\r\n"]
)
def test_five_digit_codes_are_summed_up(tmp_path: Path, text: str) -> None:
    assert shown(populations(tmp_path, text), "94577", "03601") == {"94577": "945", "03601": "000"}


def test_without_a_file_every_area_is_small() -> None:
    hierarchy = SafeHarbor("zip").build(["94501"], attribute="zip")
    assert hierarchy.column(1) == ["000"]
    assert hierarchy.notes == ("1 areas have no population because no file is given: they become 000",)


def test_codes_that_lost_a_zero_and_others_are_left_out(tmp_path: Path) -> None:
    assert shown(populations(tmp_path), "3601", "94501", "945", "94501-12", "A1B 2C3", "945011234", "*", "") == {
        "94501": "945"
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "hierarchy-file-empty"),
        ("zip,population\n", "hierarchy-file-empty"),
        ("zip,name,population\n94501,x,5\n", "hierarchy-file-ragged"),
        ("94501,5\n94502\n", "hierarchy-file-ragged"),
        ("3601,5\n", "hierarchy-file-malformed"),
        ("94501,5\n3601,5\n", "hierarchy-file-malformed"),
        ("94501,many\n94502,5\nx,y\n", "hierarchy-file-malformed"),
        ("94501,5\n94502,-5\n", "hierarchy-file-malformed"),
        ("94501,5\n94501,5\n", "hierarchy-file-malformed"),
        ("94501,5\n946,5\n", "hierarchy-file-malformed"),
    ],
)
def test_a_file_that_is_wrong_is_refused_without_its_content(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        populations(tmp_path, text).build(["94501"], attribute="zip")
    assert caught.value.code == code
    assert "945" not in caught.value.message
    assert "zip3.csv" in caught.value.message


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    builder = SafeHarbor("zip", populations="none.csv", folder=tmp_path)
    assert builder.files() == (tmp_path / "none.csv",)
    with pytest.raises(InputError) as caught:
        builder.build([], attribute="zip")
    assert caught.value.code == "hierarchy-file-missing"


# Dates


def test_of_an_event_the_year_stays() -> None:
    assert shown(SafeHarbor("date"), "1921-05-01", "2024-02-17", "2024-02-30", "2024") == {
        "1921-05-01": "1921",
        "2024-02-17": "2024",
    }
    assert shown(SafeHarbor("date", format="%m/%d/%Y"), "2/17/2024") == {"2/17/2024": "2024"}


def test_birth_years_of_people_who_can_be_over_89_are_one_category() -> None:
    """Who was born on 1 January 1936 is 90 on 1 January 2026."""
    births = SafeHarbor("date", of="birth", as_of="2026-01-01")
    assert births.oldest_year == 1936
    assert shown(births, "1900-01-01", "1936-12-31", "1937-01-01") == {
        "1900-01-01": "1936 or earlier",
        "1936-12-31": "1936 or earlier",
        "1937-01-01": "1937",
    }
    assert shown(SafeHarbor("date", format="%Y", of="birth", as_of="2026-12-31"), "1936", "1937")["1936"] != "1936"


@given(birth=st.dates(), as_of=st.dates())
def test_no_year_that_is_shown_tells_an_age_over_89(birth, as_of) -> None:
    builder = SafeHarbor("date", of="birth", as_of=as_of.isoformat())
    if as_of.year <= 90:
        return
    [label] = shown(builder, birth.isoformat()).values()
    age = as_of.year - birth.year - ((as_of.month, as_of.day) < (birth.month, birth.day))
    assert age <= 89 or label == f"{as_of.year - 90:04} or earlier"


# Ages


def test_ages_over_89_are_one_category() -> None:
    values = ("0", "89", "90", "150", "151", "-1", "4.5", "045", "90+", "old")
    assert shown(SafeHarbor("age"), *values) == {"0": "0", "89": "89", "90": "90+", "150": "90+"}


# All of them


@pytest.mark.parametrize(
    ("builder", "safe", "unsafe"),
    [
        (SafeHarbor("age"), "0 7 89 90+ *", "90 104 089 4.5 x"),
        (SafeHarbor("date"), "2024 1901 *", "2024-02 17.02.2024 24 x"),
        (SafeHarbor("date", of="birth", as_of="2026-01-01"), "1937 2024 *", "1936 1901 1937-01 x"),
        (SafeHarbor("zip"), "000 *", "945 94501 9450* x"),
    ],
)
def test_the_safe_form_is_recognized(builder: SafeHarbor, safe: str, unsafe: str) -> None:
    assert builder.safe(pl.Series(safe.split()), attribute="x").all()
    assert not builder.safe(pl.Series(unsafe.split()), attribute="x").any()


def test_the_one_category_and_large_areas_are_safe(tmp_path: Path) -> None:
    births = SafeHarbor("date", of="birth", as_of="2026-01-01")
    assert births.safe(pl.Series(["1936 or earlier", "1920 or earlier"]), attribute="x").to_list() == [True, False]
    cells = pl.Series(["945", "946", "036", "000", "999"])
    assert populations(tmp_path).safe(cells, attribute="x").to_list() == [True, True, False, True, False]


@given(values=st.lists(st.integers(0, 150).map(str) | st.text(max_size=4), unique=True))
def test_what_is_labelled_is_safe_at_every_level_but_0(values: list[str]) -> None:
    table = SafeHarbor("age").build(values, attribute="x").table()
    assert SafeHarbor("age").safe(table["1"], attribute="x").all()
    assert SafeHarbor("age").safe(table["2"], attribute="x").all()


def test_the_levels_are_monotone_and_true() -> None:
    check = check_hierarchy(SafeHarbor("age"), pl.Series(["3", "91", "97", None]), attribute="age")
    assert check.ok
    assert check.groups_per_level == (3, 2, 1)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "hierarchy-option-missing"),
        ("zip", "hierarchy-option-missing"),
        ({"kind": "zipcode"}, "hierarchy-option-invalid"),
        ({"kind": "zip", "population": "x"}, "hierarchy-option-unknown"),
        ({"kind": "zip", "populations": ""}, "hierarchy-option-invalid"),
        ({"kind": "zip", "as_of": "2026-01-01"}, "hierarchy-option-invalid"),
        ({"kind": "age", "populations": "x.csv"}, "hierarchy-option-invalid"),
        ({"kind": "age", "of": "birth"}, "hierarchy-option-invalid"),
        ({"kind": "date", "of": "birth"}, "hierarchy-option-missing"),
        ({"kind": "date", "of": "death"}, "hierarchy-option-invalid"),
        ({"kind": "date", "as_of": "01.01.2026"}, "hierarchy-option-invalid"),
        ({"kind": "date", "format": "%y"}, "dates-format-invalid"),
    ],
)
def test_options_that_are_wrong_are_refused(options: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        builder_from_dict({"safe_harbor": options}, folder=Path())
    assert caught.value.code == code
