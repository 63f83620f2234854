"""Pages for people in a real browser: on a phone, on paper, in the dark, and with the keyboard alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

import kohorte as ko
from kohorte.cli.main import main
from kohorte.space.page import to_html as space_page
from support.browser import PHONE, look, opened

READABLE = 8 * 96 / 72
"""Eight points, in pixels: the smallest type on paper."""
PAPER = {"portrait": (680, 990), "landscape": (1009, 660)}
"""What the margins leave of a sheet of A4, in pixels."""
SIZES = """() => [...document.querySelectorAll('svg text')]
    .filter(one => one.getBoundingClientRect().width > 0).map(one => {
    const drawn = one.getScreenCTM();
    return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(drawn.a, drawn.b);
})"""
DECLARED = """() => [[...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .filter(rule => rule instanceof CSSPageRule && rule.style.size).map(rule => rule.style.size)]"""
SPLIT = """() => [...document.querySelectorAll('h2, h3, h2 + p')].filter(one =>
    getComputedStyle(one).breakAfter !== 'avoid').map(one => one.textContent)"""


def stays() -> pl.DataFrame:
    """Patients with one to three stays; few have a rare sex, so that something is lost."""
    chance = random.Random(3)
    rows = []
    for number in range(200):
        person = (f"P{number}", str(chance.randint(20, 89)), "diverse" if number < 3 else chance.choice("mf"))
        rows += [(*person, chance.choice(["flu", "gout", "stroke"])) for _ in range(chance.randint(1, 3))]
    return pl.DataFrame(rows, schema=["patient", "age", "sex", "diagnosis"], orient="row")


PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "patient": {"role": "identifying"},
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}},
        },
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "person": "patient",
    "suppression_limit": 0.05,
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report, a solution space, a series and a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    table, plan = folder / "stays.csv", folder / "plan.yaml"
    stays().write_csv(table)
    plan.write_text(json.dumps(PLAN), encoding="utf-8")
    asked = ["anonymize", str(table), "--plan", str(plan), "--output", str(folder / "release.csv")]
    assert main([*asked, "--report", str(folder / "report.html"), "--report-view", "internal"]) == 0
    (folder / "lattice.html").write_text(space_page(ko.solution_space(stays(), ko.Plan.from_dict(PLAN))))
    found = ko.compare_algorithms(stays(), ko.Plan.from_dict(PLAN), algorithms=["optimal", "datafly"])
    (folder / "comparison.html").write_text(found.to_html())
    _write_series(folder)
    return folder


def _write_series(folder: Path) -> None:
    tree = {"hierarchy": {"tree": {"known": ["m", "f", "diverse"]}}}
    attributes = PLAN["attributes"] | {"sex": PLAN["attributes"]["sex"] | tree}
    plan = ko.Plan.from_dict(PLAN | {"attributes": attributes})
    series = ko.Series.start(folder / "series", plan, {"regions": {"age": {"lower": 0, "upper": 100, "step": 1}}})
    series.release(stays())
    series.write_picture(folder / "series.html")


def shown(page: Page, pages: Path, name: str) -> None:
    page.goto((pages / f"{name}.html").as_uri())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report", "lattice", "series", "comparison"])
def test_a_page_is_accessible_in_light_and_dark_and_readable_on_a_phone(
    chromium: Browser, pages: Path, name: str
) -> None:
    for scheme in ("light", "dark"):
        with opened(chromium, "http://localhost", color_scheme=scheme) as page:
            shown(page, pages, name)
            look(page)
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            assert min(page.evaluate(SIZES)) >= 10


@pytest.mark.parametrize(
    ("name", "paper"),
    [("report", "portrait"), ("lattice", "landscape"), ("series", "landscape"), ("comparison", "landscape")],
)
def test_a_page_is_readable_on_paper(chromium: Browser, pages: Path, name: str, paper: str) -> None:
    with opened(chromium, "http://localhost") as page:
        shown(page, pages, name)
        page.emulate_media(media="print")
        width, height = PAPER[paper]
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width  # otherwise everything is made smaller
        assert min(page.evaluate(SIZES)) >= READABLE
        assert page.evaluate(SPLIT) == []
        assert page.evaluate(DECLARED) == ([["landscape"]] if paper == "landscape" else [[]])


def test_every_combination_of_levels_is_reached_with_the_keyboard(chromium: Browser, pages: Path) -> None:
    """Tab leads into the drawing, the arrow keys from cell to cell, and Enter shows the neighbours of one."""
    with opened(chromium, "http://localhost") as page:
        shown(page, pages, "lattice")
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#drawing .node')"):
                break
        seen, left = set[str](), [_focused(page)]
        while left:
            here = left.pop()
            if here in seen:
                continue
            seen.add(here)
            for key in ("ArrowRight", "ArrowUp", "ArrowDown", "ArrowLeft"):
                page.locator(f"#drawing .node[data-node='{here}']").focus()
                page.keyboard.press(key)
                left.append(_focused(page))
        assert len(seen) == page.locator("#drawing .node").count() == 8
        before = page.locator("#around").text_content()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(page.locator("#around")).not_to_have_text(before or "")


def _focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.dataset.node")
    return found
