"""Numbers and dates are measured by their values, whatever their hierarchy groups."""

from __future__ import annotations

import random
from datetime import date, timedelta

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Builder, CsvFile, Dates, Intervals, Ordering, Redaction
from support.recodings import QUASI, recode

ROWS = 60
RECODERS = ("mondrian", "mondrian_relaxed", "k_optimize", "hill_climbing")


def attribute(builder: Builder | None, **more: object) -> ko.Attribute:
    return ko.Attribute("quasi-identifying", builder, **more)


def two_columns() -> pl.DataFrame:
    """Numbers of one to four digits, and dates with dots: the order as text is another one."""
    draw = random.Random(7)
    days = [date(1950, 1, 1) + timedelta(days=draw.randrange(20_000)) for _ in range(ROWS)]
    return pl.DataFrame(
        {"number": [str(draw.randrange(3000)) for _ in days], "day": [day.strftime("%d.%m.%Y") for day in days]}
    )


def cells(table: pl.DataFrame, attributes: dict[str, ko.Attribute], algorithm: str) -> list[tuple[str, ...]]:
    return recode(table, attributes, algorithm, k=4).data.rows()


@pytest.mark.parametrize("algorithm", RECODERS)
@pytest.mark.parametrize(
    "builder", [Redaction(), Redaction(order="left_to_right"), Ordering(by="text", fanouts=[5])], ids=str
)
def test_numbers_have_the_same_cells_whatever_their_hierarchy_groups(builder: Builder, algorithm: str) -> None:
    table = two_columns().select("number")
    assert cells(table, {"number": attribute(builder)}, algorithm) == cells(table, {"number": QUASI}, algorithm)


@pytest.mark.parametrize("algorithm", RECODERS)
def test_dates_with_dots_have_the_same_cells_with_a_hierarchy_file_a_format_or_nothing(
    algorithm: str, tmp_path
) -> None:
    table = two_columns()
    lines = [f"{day};{day[3:]};{day[6:]};*" for day in sorted(set(table["day"]))]
    (tmp_path / "days.csv").write_text("\n".join(lines), encoding="utf-8")
    by_format, by_file, by_nothing = (
        cells(table, {"number": QUASI, "day": attribute(builder)}, algorithm)
        for builder in (Dates(format="%d.%m.%Y"), CsvFile("days.csv", folder=tmp_path), None)
    )
    assert by_format == by_file == by_nothing
    assert len(set(by_format)) > 1


def test_the_first_cut_is_along_the_widest_normalized_range_of_numbers_that_are_redacted() -> None:
    """By steps between neighbours the second column would be as wide; by its values the first one is cut."""
    table = pl.DataFrame({"far": ["1", "2", "98", "99"], "near": ["7", "80", "9", "10000"]})
    attributes = {name: attribute(Redaction()) for name in table.columns}
    assert cells(table, attributes, "mondrian_relaxed")[0] == ("[1-99]", "[7-10000]")
    found = recode(table, attributes, "mondrian", k=2).data.rows()
    assert found == [("[1-2]", "[7-80]"), ("[1-2]", "[7-80]"), ("[98-99]", "[9-10000]"), ("[98-99]", "[9-10000]")]


def test_numbers_that_may_not_be_shown_keep_the_groups_of_their_hierarchy() -> None:
    table = pl.DataFrame({"number": ["5", "51", "520", "6", "61", "620"]})
    hidden = attribute(Redaction(length=3), minimum_level=2)
    shown = recode(table, {"number": hidden}, "mondrian", k=3).data["number"].to_list()
    assert shown == ["5**"] * 3 + ["6**"] * 3


def test_the_height_of_an_interval_is_that_of_a_group_that_covers_all_of_it() -> None:
    """5, 10 and 51 in one cell: the ends are in the group 5*, the middle is not."""
    table = pl.DataFrame({"number": ["5", "10", "51"] * 2})
    found = recode(table, {"number": attribute(Redaction())}, "mondrian", k=6, metric="height")
    assert found.data["number"].to_list() == ["[5-51]"] * 6
    assert found.cost == 2


@pytest.mark.parametrize(
    "texts", [["31.02.2020", "01.03.2020"], ["01.02.2020", "x"], ["1.2.2020 10:00", "1.2.2020"], ["1.2.20", "2.2.20"]]
)
def test_texts_that_are_not_all_dates_of_the_calendar_are_no_line(texts: list[str]) -> None:
    with pytest.raises(ko.InputError, match="neither an order nor a hierarchy"):
        recode(pl.DataFrame({"q": [*texts, "01.01.1999"]}), {"q": QUASI}, "mondrian", k=2)


def test_numbers_with_intervals_are_measured_as_before() -> None:
    table = two_columns().select("number")
    builder = Intervals(lower=0, upper=3000, widths=[100])
    assert cells(table, {"number": attribute(builder)}, "mondrian") == cells(table, {"number": QUASI}, "mondrian")
