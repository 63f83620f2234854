"""Pages for everybody: legible on a phone, with enough contrast, and readable without seeing them.

Source
    W3C, Web Content Accessibility Guidelines (WCAG) 2.2, 2023: relative luminance, contrast ratio, success criteria
    1.4.3 (text, 4.5 to 1) and 1.4.11 (shapes, 3 to 1).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kohorte.in_words import number, percent
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
    Scale,
    horizontal_bars,
    line_chart,
    paired_bars,
    scatter,
    shares_of,
)
from kohorte.pages.charts.svg import PHONE, chart_rules
from kohorte.pages.contents import address
from kohorte.pages.style import COLOURS

SOURCES = Path(__file__).parents[3] / "src" / "kohorte"
HEADING = Heading("name", "Title", "Caption")
KINDS = (Kind("levels", "round"), Kind("cells", "square", diamond=True))
ROWS = Rows([Row("one", "one", KINDS[0]), Row("two", "two", KINDS[1])], KINDS, "")
CHARTS = {
    "bars": horizontal_bars(HEADING, [Bar("one", 0.4, "40 %"), Bar("two", 0.6, "60 %")], scale=shares_of("rows")),
    "pairs": paired_bars(HEADING, [Pair("one", 0.2, 0.4, "20 %", "40 %")], names=("before", "after")),
    "lines": line_chart(HEADING, [Line("risk", ((1, 0.2), (2, 0.3)))], axes=("release", "risk")),
    "scatter": scatter(
        HEADING,
        [Point("a", 0.1, 2.0, KINDS[0], "a: 0.1 s")],
        axes=("time", "cost"),
        shown=(number, number),
        kinds=KINDS,
        rules="",
    ),
    "columns": ROWS.columns(HEADING, [("cost", [1.0, 4.0])], number),
    "whiskers": ROWS.whiskers(HEADING, [(0.1, 0.5), (0.0, 0.0)], ("median", "nine in ten"), percent),
    "points": ROWS.points(HEADING, [0.2, 0.9], [("guessing", 0.2), ("best", 1.0)], percent),
}


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_of_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


TEXTS = ("ink", "soft", "mark", "link", "good", "fair", "bad", *(f"tone{tone}" for tone in range(6)))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast_on_the_page_in_boxes_and_on_shades(scheme: int) -> None:
    for name in TEXTS:
        for behind in ("paper", "panel"):
            assert contrast(COLOURS[name][scheme], COLOURS[behind][scheme]) >= 4.5, (name, behind)
    for shade in range(5):
        assert contrast(COLOURS[f"on{shade}"][scheme], COLOURS[f"shade{shade}"][scheme]) >= 4.5, shade


def rules() -> dict[str, dict[str, str]]:
    """The fill and the stroke of every class of a chart or lattice."""
    text = (
        chart_rules() + (SOURCES / "space" / "lattice.css").read_text() + ".levels{fill:@shade1}\n.cells{fill:@mark}\n"
    )
    found: dict[str, dict[str, str]] = {}
    for name, body in re.findall(r"^\.([\w-]+)\{([^}]*)\}", text, flags=re.MULTILINE):
        found.setdefault(name, {}).update(re.findall(r"(fill|stroke):@(\w+)", body))
    return found


SHAPES = (
    *(f"tone{tone}" for tone in range(6)),
    *(f"stroke{tone}" for tone in range(6)),
    *(f"cell{shade}" for shade in range(5)),
    *(f"s{shade}" for shade in range(5)),
    *("good", "fair", "bad", "axis", "whisker", "leader", "target", "dense", "off", "edges", "near", "ring", "beside"),
    *("gauge", "gap", "levels", "cells"),
)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_seen_by_its_area_or_by_its_edge(shape: str, scheme: int) -> None:
    parts = rules()[shape]
    assert max(contrast(COLOURS[name][scheme], COLOURS["paper"][scheme]) for name in parts.values()) >= 3


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("shade", range(5))
def test_neighbouring_regions_of_one_shade_are_told_apart_by_their_edge(shade: int, scheme: int) -> None:
    assert contrast(COLOURS[f"seam{shade}"][scheme], COLOURS[f"shade{shade}"][scheme]) >= 3


def font_sizes(text: str) -> dict[str, float]:
    found = {"": float(re.search(r"^text\{[^}]*font-size:([\d.]+)px", text, flags=re.MULTILINE)[1])}  # type: ignore[index]
    for name, size in re.findall(r"^\.([\w-]+)\{[^}]*font-size:([\d.]+)px", text, flags=re.MULTILINE):
        found[name] = float(size)
    return found


def smallest_type(drawing: Drawing) -> float:
    """The smallest text of a drawing, in pixels, on a page of a phone that is 390 pixels wide."""
    style = re.search(r'style="min-width:(\d+)px;max-width:(\d+)px"', drawing.inline())
    assert style is not None
    least, most = int(style[1]), int(style[2])
    width = min(max(PHONE, least), most)
    sizes = font_sizes(chart_rules())
    kinds = [element.get("class", "").split() for element in _texts(drawing)]
    own = [next((sizes[kind] for kind in some if kind in sizes), sizes[""]) for some in kinds]
    return min(own) * width / drawing.width


def _texts(drawing: Drawing) -> list[ET.Element]:
    return list(ET.fromstring(drawing.file()).iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.parametrize("name", CHARTS)
def test_text_of_a_chart_has_ten_pixels_on_a_phone(name: str) -> None:
    assert smallest_type(CHARTS[name]) >= 10


@pytest.mark.parametrize("name", ["bars", "pairs"])
def test_bars_fit_on_a_phone_without_moving_them(name: str) -> None:
    assert not CHARTS[name].scrolls
    assert CHARTS["lines"].scrolls


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_without_style_attributes_keeps_its_size_where_it_would_be_illegible(name: str) -> None:
    shown = ET.fromstring(CHARTS[name].without_style())
    assert "style=" not in CHARTS[name].without_style()
    assert shown.get("class") == ("scrolls" if CHARTS[name].scrolls else "shrinks")
    assert shown.get("width") == str(CHARTS[name].width)
    rules = (SOURCES / "service" / "web" / "screens" / "static" / "screens.css").read_text()
    assert ".scroll svg.scrolls{width:auto;max-width:none}" in rules


def test_a_page_on_a_phone_has_the_margins_that_the_charts_assume() -> None:
    style = (SOURCES / "pages" / "page.css").read_text()
    narrow = style.split("@media (max-width:600px){")[1].split("\n}")[0]
    padding = re.search(r"body\{padding:\d+px (\d+)px", narrow)
    assert padding is not None
    assert 390 - 2 * int(padding[1]) >= PHONE


@pytest.mark.parametrize("name", CHARTS)
def test_every_bar_and_point_has_a_name_for_screen_readers(name: str) -> None:
    inline = CHARTS[name].inline()
    assert inline.startswith('<svg role="group" aria-label="Title"')
    named = re.findall(r'role="img" aria-label="([^"]+)"', inline)
    assert len(named) >= len(re.findall("<title>", inline)) > 0
    assert all(named)


def test_what_a_bar_says_is_not_said_twice() -> None:
    inline = CHARTS["bars"].inline()
    assert 'aria-label="one: 40\u00a0%"' in inline
    spoken = re.sub(r'<g aria-hidden="true">.*?</g>', "", inline, flags=re.DOTALL)
    assert ">one</text>" not in spoken
    assert ">share of rows</text>" in spoken


def test_bars_are_as_long_as_their_share_of_a_fixed_scale() -> None:
    for highest in (1.0, 2.0):
        drawn = horizontal_bars(HEADING, [Bar("one", 0.5), Bar("two", 0.25)], scale=Scale(highest, "rows"))
        one, two = (float(width) for width in re.findall(r'<rect class="tone0"[^>]* width="([\d.]+)"', drawn.body))
        assert one == pytest.approx(2 * two, abs=0.2)
        assert one == pytest.approx(0.5 / highest * (drawn.width - 2), abs=0.2)
        assert ">rows</text>" in drawn.body


def test_sections_have_addresses_of_their_own() -> None:
    assert address("What is lost") == "what-is-lost"
    assert address("Größe") != address("Grüße")
    assert re.fullmatch(r"[a-z0-9-]+", address("\u4e2d <script>"))
