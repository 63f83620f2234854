"""Charts: well formed, inside their frame, and refusing what cannot be drawn."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InternalError
from kohorte.in_words import number, percent, seconds
from kohorte.pages import (
    Bar,
    Drawing,
    Heading,
    Kind,
    Line,
    Pair,
    Point,
    Row,
    Rows,
    horizontal_bars,
    line_chart,
    paired_bars,
    scatter,
)
from kohorte.pages.charts.axis import Axis, ceiling, date_ticks
from kohorte.pages.charts.boxes import outlined, shaded
from kohorte.pages.charts.lines import spread

HEADING = Heading("name", "A <title> & more", "How to read it")
FIGURES = st.floats(0, 1e12)
SVG = "{http://www.w3.org/2000/svg}"


def check(drawing: Drawing) -> ET.Element:
    """A drawing is XML, nothing in it is no number, and no bar leaves the frame."""
    root = ET.fromstring(drawing.file())
    assert not re.search(r"nan|inf", drawing.body)
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        assert x >= -0.1
        assert x + width <= drawing.width + 0.6
        assert y >= -0.1
        assert y + height <= drawing.height + 0.6
    return root


@given(st.lists(st.tuples(st.text(max_size=80), FIGURES), max_size=30))
def test_bars_of_any_figures_are_drawn(figures: list[tuple[str, float]]) -> None:
    bars = [Bar(label, value, f"{value:g}") for label, value in figures]
    root = check(horizontal_bars(HEADING, bars))
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + len(bars)


@given(st.lists(st.tuples(st.text(max_size=80), st.none() | FIGURES, st.none() | FIGURES), max_size=20))
def test_pairs_of_any_figures_are_drawn(figures: list[tuple[str, float | None, float | None]]) -> None:
    check(paired_bars(HEADING, [Pair(*figure) for figure in figures], names=("before", "after")))


def test_a_bar_is_as_long_as_its_share_of_the_largest() -> None:
    root = check(horizontal_bars(HEADING, [Bar("one", 1), Bar("four", 4)]))
    _, one, four = (float(rect.get("width", "0")) for rect in root.iter(f"{SVG}rect"))
    assert four == pytest.approx(4 * one, abs=0.3)


@given(st.lists(st.lists(st.tuples(st.integers(-1000, 1000), st.floats(-1e6, 1e6)), max_size=8), max_size=5))
def test_lines_over_numbers_and_over_dates_are_drawn(lines: list[list[tuple[int, float]]]) -> None:
    ordered = [sorted(points) for points in lines]
    numbers = [Line(f"line {place}", tuple(points)) for place, points in enumerate(ordered)]
    check(line_chart(HEADING, numbers, axes=("release", "risk"), limit=("limit", 0.2)))
    days = [Line("days", tuple((date(2020, 1, 1) + timedelta(x), y) for x, y in points)) for points in ordered]
    check(line_chart(HEADING, days, axes=("date", "rows")))


def test_a_line_has_its_name_its_points_and_the_limit() -> None:
    line = Line("highest risk", ((1, 0.2), (2, 0.25)))
    text = line_chart(HEADING, [line], axes=("release", "risk"), limit=("limit", 0.3)).body
    assert ">highest risk</text>" in text
    assert "highest risk, 2: 0.25" in text
    assert ">limit 0.3</text>" in text


@given(st.lists(st.floats(0, 300), max_size=20))
def test_names_at_the_ends_of_lines_do_not_cover_each_other(wanted: list[float]) -> None:
    places = sorted(spread(wanted, 15, 0, 300))
    assert all(later - earlier >= 15 - 1e-9 for earlier, later in pairwise(places))
    assert not places or places[-1] <= 300


KINDS = (Kind("levels", "round"), Kind("cells", "square", diamond=True))
ROWS = Rows([Row("one", "one, other", KINDS[0]), Row("<two>", "<two>", KINDS[1])], KINDS, ".levels{fill:@mark}\n")


def test_rows_are_drawn_in_columns_with_whiskers_and_as_points() -> None:
    charts = (
        ROWS.columns(HEADING, [("cost", [1.0, 4.0]), ("none", [0.0, 0.0])], number),
        ROWS.whiskers(HEADING, [(0.1, 0.5), (0.0, 0.0)], ("median", "nine in ten"), percent),
        ROWS.points(HEADING, [0.2, 0.9], [("guessing", 0.2), ("best", 1.0)], percent),
    )
    for chart in charts:
        check(chart)
        assert ">&lt;two&gt;</text>" in chart.body
        assert "@mark" not in chart.file()
    assert "one, other: cost 1" in charts[0].body
    assert "one, other: median 10\u00a0%, nine in ten 50\u00a0%" in charts[1].body
    assert ">guessing 20\u00a0%</text>" in charts[2].body


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1e9)), min_size=1, max_size=12))
def test_points_of_any_time_and_cost_are_drawn_once(figures: list[tuple[float, float]]) -> None:
    points = [Point(f"p{place}", x, y, KINDS[place % 2], f"hint {place}") for place, (x, y) in enumerate(figures)]
    shown = (seconds, number)
    drawing = scatter(HEADING, points, axes=("time", "cost"), shown=shown, kinds=KINDS, rules="")
    hints = [found.text for found in check(drawing).iter(f"{SVG}title")][1:]
    assert hints == [point.hint for point in points]


def test_a_few_boxes_have_names_many_are_joined_by_shade_and_the_smallest_are_left_out() -> None:
    few = np.array([[0.0, 0.0, 10.0, 20.0], [10.0, 0.0, 5.0, 20.0]])
    drawn = shaded(few, np.array([0, 4]), lambda box: f"box {box}")
    assert re.findall(r"<title>(.*?)</title>", drawn) == ["box 0", "box 1"]
    many = np.tile([[0.0, 0.0, 1.0, 1.0]], (2000, 1))
    drawn = shaded(many, np.full(2000, 3), lambda _: "x")
    assert "<title>" not in drawn
    assert drawn.count("M") == 1500
    assert 'class="dense"' in outlined(many)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bar("x", math.nan),
        lambda: Bar("x", -1),
        lambda: Pair("x", math.inf, None),
        lambda: Line("x", ((2, 1.0), (1, 1.0))),
        lambda: Line("x", ((1, math.nan),)),
        lambda: Axis(1, 1, 0, 100),
    ],
)
def test_what_cannot_be_drawn_is_refused(make) -> None:
    with pytest.raises(InternalError) as caught:
        make()
    assert caught.value.code == "chart-data"


@given(st.floats(1e-9, 1e12))
def test_the_end_of_an_axis_is_round_and_not_far_above(value: float) -> None:
    assert value <= ceiling(value) * (1 + 1e-9)
    assert ceiling(value) <= 2.1 * value


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_on_the_axis(low: float, width: float) -> None:
    axis = Axis(low, low + width, 0, 100)
    ticks = axis.ticks(6)
    assert len(ticks) <= 7
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in ticks)


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (date(1931, 5, 1), date(1968, 1, 1), ["1940", "1950", "1960"]),
        (date(2023, 11, 20), date(2024, 4, 2), ["2023-12", "2024-01", "2024-02", "2024-03", "2024-04"]),
        (date(2024, 1, 1), date(2024, 1, 3), ["2024-01-01", "2024-01-02", "2024-01-03"]),
    ],
)
def test_dates_on_an_axis_are_round(first: date, last: date, labels: list[str]) -> None:
    axis = Axis(first.toordinal(), last.toordinal(), 0, 100)
    assert [label for _, label in date_ticks(axis)] == labels
