"""Pages for people in a real browser: on a phone, on paper, in the dark, and with the keyboard alone."""

from __future__ import annotations

import json
import random
import re
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

import kohorte as ko
from kohorte.cli.main import main
from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import check_request
from kohorte.exchange.picture.page import to_html as check_page
from kohorte.exchange.statistics import shipped_statistics
from kohorte.space.page import to_html as space_page
from support.browser import PHONE, look, opened
from testbed import hospital

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

WIDER = """() => [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth)
    .map(one => one.getAttribute('aria-label'))"""
"""Tables of which a part is out of sight."""


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
    """A folder with a report, a solution space, a series, a comparison and the page of a check."""
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
    _write_check(folder)
    return folder


def _write_series(folder: Path) -> None:
    tree = {"hierarchy": {"tree": {"known": ["m", "f", "diverse"]}}}
    attributes = PLAN["attributes"] | {"sex": PLAN["attributes"]["sex"] | tree}
    plan = ko.Plan.from_dict(PLAN | {"attributes": attributes})
    series = ko.Series.start(folder / "series", plan, {"regions": {"age": {"lower": 0, "upper": 100, "step": 1}}})
    series.release(stays())
    series.write_picture(folder / "series.html")


def _write_check(folder: Path) -> None:
    """A request for dates, ZIP codes and ages, of which each verdict has reasons in several words."""
    dates = {"role": "quasi-identifying", "hierarchy": {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year"]}}}
    days = pl.format("2026-0{}-1{}", pl.int_range(pl.len()) % 6 + 1, pl.int_range(pl.len()) % 10)
    table = hospital.patients(900, people=700, treated=350).with_columns(admitted=days)
    plan = ko.Plan.from_dict(hospital.PLAN | {"attributes": hospital.PLAN["attributes"] | {"admitted": dates}})
    asked = hospital.request(attributes=("age", "sex", "occupation", "zip", "admitted", "diagnosis"))
    house, day = replace(hospital.holding(), plan=plan), date(2026, 11, 17)
    with closing(Ledger.open(folder / "ledger", create=True)) as ledger:
        found = check_request(asked, table, house, shipped_statistics(), ledger, today=day)
    (folder / "check.html").write_text(check_page(found.record, number_of_request=1), encoding="utf-8")


def shown(page: Page, pages: Path, name: str) -> None:
    page.goto((pages / f"{name}.html").as_uri())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report", "lattice", "series", "comparison", "check"])
def test_a_page_is_accessible_in_light_and_dark_and_readable_on_a_phone(
    chromium: Browser, pages: Path, name: str
) -> None:
    for scheme in ("light", "dark"):
        with opened(chromium, "http://localhost", color_scheme=scheme) as page:
            shown(page, pages, name)
            look(page)
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            assert min(page.evaluate(SIZES)) >= 10


@pytest.mark.parametrize("name", ["report", "lattice", "series", "comparison", "check"])
def test_tables_that_can_be_wider_than_a_phone_are_reached_with_the_keyboard(pages: Path, name: str) -> None:
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    around = re.findall(r'<div class="scroll"([^>]*)><table', text)
    assert around
    assert all(re.fullmatch(r' tabindex="0" role="region" aria-label="[^"]+"', one) for one in around)
    assert text.count("<main>") == 1


def test_every_column_of_a_check_is_read_on_a_phone_without_scrolling(chromium: Browser, pages: Path) -> None:
    with opened(chromium, "http://localhost") as page:
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        shown(page, pages, "check")
        assert page.evaluate(WIDER) == []
        why = page.get_by_role("cell", name="the policy allows no finer date").bounding_box()
        assert why is not None
        assert why["width"] > 300  # it is text, and has the whole width


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
