"""The page of a series: whole, without an address outside, small, and without a word about few rows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.pages.charts.boxes import MOST_DRAWN
from kohorte.series.domain.regions import Regions
from kohorte.series.picture import to_html
from kohorte.series.picture.panels import HIGH, WIDE, Panel, Slice, shades_of
from kohorte.series.picture.story import Chapter, Story
from support.growing import SETTINGS, patients, plan

MARGINALS = {
    "age": {"0-49": 0.5, "50-119": 0.5},
    "zip": {"000-299": 0.5, "300-999": 0.5},
    "ward": {"A": 0.5, "B": 0.5},
}


def drawn(folder: Path, series: ko.Series, of: object = None) -> str:
    series.write_picture(folder / "picture.html", of)
    return (folder / "picture.html").read_text(encoding="utf-8")


def test_a_page_has_all_pictures_and_no_address_outside(tmp_path: Path) -> None:
    target = {"target": {"expected_rows": 2000, "marginals": MARGINALS}}
    series = ko.Series.start(tmp_path / "series", plan(), {**SETTINGS, **target})
    for rows in (200, 400, 800):
        series.release(patients(rows))
    page = drawn(tmp_path, series, patients(1200))
    for words in ("A series of 3 releases", "Information over time", "Rows shown and held back", "Regions over time"):
        assert words in page
    for words in ("Distance to the target", "age and zip", "age and ward", "zip and ward", "release 4, next"):
        assert words in page
    assert not re.search(r"https?:|//|url\(|@import|<script|<img|<link|src=", page)
    assert "default-src 'none'" in page
    assert not re.search(r"\bnan\b|\binf\b", page)


def test_no_value_of_a_row_is_in_the_page(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    table = patients(400).with_columns(
        pl.concat_str(pl.lit("canary-"), "id").alias("id"),
        pl.concat_str(pl.lit("canary-"), "diagnosis").alias("diagnosis"),
    )
    series.release(table[:200])
    assert "canary" not in drawn(tmp_path, series, table)


def test_few_rows_held_back_are_not_counted(tmp_path: Path) -> None:
    pieces = {"regions": {"zip": {"digits": 3}, "age": {"pieces": [[0, 100], [110, 120]]}}}
    series = ko.Series.start(tmp_path / "series", plan(), pieces)
    lonely = patients(3).with_columns(pl.lit("115").alias("age"), pl.concat_str(pl.lit("q"), "id").alias("id"))
    release = series.release(pl.concat([patients(300), lonely]))
    assert release.held == 3
    page = drawn(tmp_path, series)
    assert "Held back: fewer than 5 rows" in page
    assert "held back, 1: fewer than 5" in page
    assert not re.search(r">3<|: 3<|\b3 rows|>303<|\b303 rows", page)


def test_an_existing_file_another_format_and_the_secret_folder_are_refused(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    drawn(tmp_path, series)
    for name, code in (
        ("picture.html", "output-exists"),
        ("p.svg", "page-format"),
        ("series/p.html", "series-output-inside"),
    ):
        with pytest.raises(ko.InputError) as refused:
            series.write_picture(tmp_path / name)
        assert refused.value.code == code
    series.write_picture(tmp_path / "picture.html", force=True)


def test_a_series_without_a_release_says_so(tmp_path: Path) -> None:
    assert "No release has been made yet." in drawn(tmp_path, ko.Series.start(tmp_path / "series", plan(), SETTINGS))


def test_one_attribute_is_drawn_in_strips(tmp_path: Path) -> None:
    attributes = {"x": {"role": "quasi-identifying"}}
    models = [{"model": "k-anonymity", "k": 2}]
    one = ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": models, "missing": "suppress"})
    series = ko.Series.start(tmp_path / "series", one, {"regions": {"x": {"lower": 0, "upper": 8}}})
    series.release(pl.DataFrame({"x": ["0", "1", "4", "5"]}))
    page = drawn(tmp_path, series)
    assert re.findall(r"<title>(x \d-\d)</title>", page) == ["x 3-7", "x 0-2"]


def test_a_full_domain_series_has_its_lines(tmp_path: Path) -> None:
    plain = plan().to_dict()
    plain["attributes"]["zip"]["hierarchy"] = {"redaction": {"length": 3}}  # type: ignore[index]
    series = ko.Series.start(tmp_path / "series", ko.Plan.from_dict(plain), {"kind": "full-domain"})
    series.release(patients(200))
    page = drawn(tmp_path, series, patients(900))
    assert "Regions over time" in page
    assert "age and zip" not in page


# Regions in a plane


def story(tmp_path: Path, *regions: Regions) -> Story:
    definition = ko.Series.start(tmp_path / "series", plan(), SETTINGS).definition
    chapters = [Chapter(number, "2026-01-01", 10, 0, 0.5, len(one), one) for number, one in enumerate(regions, 1)]
    return Story(definition, chapters)


def grid(ages: int, zips: int, wards: int) -> Regions:
    """So many regions along each axis of the patients: 121 ages, 1001 codes and 5 wards with the missing ones."""
    edges = [np.linspace(0, length, parts + 1).astype(int) for length, parts in ((121, ages), (1001, zips), (5, wards))]
    spans = [list(zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True)) for edge in edges]
    return Regions.of([(age, code, ward) for age in spans[0] for code in spans[1] for ward in spans[2]])


@pytest.mark.slow
def test_many_regions_make_a_page_of_less_than_two_megabytes(tmp_path: Path) -> None:
    fine = grid(60, 80, 5)
    page = to_html(story(tmp_path, *[fine] * 30))
    assert len(fine) == 24_000
    assert len(page.encode()) < 2_000_000
    assert f"Of more than {MOST_DRAWN:,} regions the smallest are one area in the shade of the finest." in page


def test_a_slice_shows_the_regions_that_cover_its_place_without_overlap(tmp_path: Path) -> None:
    regions = grid(4, 3, 2)
    axes = story(tmp_path, regions).definition.axes
    cut = Slice.through(axes, regions, 0, 1)
    crossed = cut.crossed(regions)
    assert len(crossed) == 4 * 3
    lows, highs = regions.lows[crossed, 2], regions.highs[crossed, 2]
    assert ((lows <= cut.at[2]) & (cut.at[2] < highs)).all()
    assert Regions(regions.lows[crossed][:, :2], regions.highs[crossed][:, :2]).disjoint()


def test_rectangles_fill_the_whole_panel_and_leave_it_nowhere(tmp_path: Path) -> None:
    told = story(tmp_path, grid(4, 3, 1))
    regions = told.chapters[0].regions
    assert regions is not None
    cut = Slice.through(told.definition.axes, regions, 0, 1)
    page = Panel(cut, "release 1", regions, told.losses(regions), None).drawn(0, 0)
    sizes = re.findall(r"M(\S+) (\S+)h(\S+)v(\S+)h", page)[1:]
    boxes = np.array(sizes, dtype=float)
    assert (boxes[:, 2] * boxes[:, 3]).sum() == pytest.approx(WIDE * HIGH, rel=0.01)
    assert (boxes[:, 0] + boxes[:, 2]).max() == pytest.approx(WIDE, abs=0.2)
    assert boxes[:, :2].min() >= 0


def test_the_finer_a_region_the_darker() -> None:
    assert shades_of(np.array([0.9, 0.3, 0.2, 0.05, 0.02, 0.001, 0.0])).tolist() == [4, 4, 3, 2, 1, 0, 0]


def test_of_many_releases_the_first_the_last_and_some_between_are_drawn(tmp_path: Path) -> None:
    told = story(tmp_path, *[grid(1, 1, 1)] * 50)
    assert [one.number for one in told.some(6)] == [1, 11, 21, 30, 40, 50]
    assert [one.number for one in replace(told, chapters=told.chapters[:3]).some(6)] == [1, 2, 3]
