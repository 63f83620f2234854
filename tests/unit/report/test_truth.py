"""What the report says is true: losses, who is suppressed, what a figure counts, and what the page is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.report.figures.contributions import information_kept
from kohorte.report.figures.distributions import EITHER, REMOVED, ROW_SUPPRESSED, distribution
from kohorte.report.figures.rounding import Figures
from support.minority import minority, plan_for

VIEWS = ("public", "internal")
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(frame: Any, plan: ko.Plan, **options: Any) -> str:
        path = tmp_path / "report.html"
        ko.write_report(path, frame, plan, force=True, **options)
        return path.read_text(encoding="utf-8")

    return made


def words(page: str) -> str:
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " "))


def section(page: str, title: str) -> str:
    """What a reader sees of one section."""
    return words(page.split(f">{title}</h2>")[1].split("</section>")[0])


# Losses


@pytest.mark.parametrize("given", ["release", "table"])
def test_a_lost_value_is_named_inside_and_told_outside(make: Make, given: str) -> None:
    plan = plan_for()
    release = ko.anonymize(minority(), plan)
    passed = release if given == "release" else release.data
    public, internal = (make(minority(), plan, release=passed, view=view) for view in VIEWS)
    assert "Lost: sex: 1 value no longer appears: diverse (9 rows)." in words(internal)
    assert "Lost: sex: a rare value no longer appears (fewer than 10 values, in fewer than 10 rows)." in words(public)
    assert "diverse" not in public
    assert "porphyria" in internal
    assert "porphyria" not in words(public)


def test_information_is_kept_in_full_only_if_no_row_lost_anything(make: Make) -> None:
    plan = plan_for()
    release = ko.anonymize(minority(), plan)
    assert release.levels == {"age": 0, "sex": 0}
    for view in VIEWS:
        lost = section(make(minority(), plan, release=release, view=view), "What is lost").split("What is shown:")[0]
        assert "100 %" not in lost
    common = minority().filter(pl.col("sex") != "diverse")
    assert section(make(common, plan, release=ko.anonymize(common, plan)), "What is lost").count("100 %") >= 2


def test_a_value_that_only_changed_its_name_is_not_kept_in_full() -> None:
    before, stars = pl.Series(["f"] * 8 + ["d"]), pl.Series([False] * 8 + [True])
    kept = information_kept(before, pl.Series(["f"] * 8 + ["*"]), stars)
    assert kept == 0.0  # the other eight cannot be told apart
    mixed = pl.Series(["f", "m"] * 50 + ["d"] * 3)
    part = information_kept(mixed, pl.Series(["f", "m"] * 50 + ["*"] * 3), pl.Series([False] * 100 + [True] * 3))
    assert part is not None
    assert 0.5 < part < 1


def test_who_is_suppressed_is_told_by_attribute(make: Make) -> None:
    plan = plan_for()
    release = ko.anonymize(minority(), plan)
    public, internal = (
        section(make(minority(), plan, release=release, view=view), "Who is suppressed") for view in VIEWS
    )
    assert "diverse 9 9 100 %" in internal
    assert "m 300 0 0 %" in internal
    assert "porphyria 9 9 100 %" in internal
    assert re.search(r"age group .*20-29 150 5 3.33 %", internal)
    assert "f less than 5 %" in public
    assert "other values not told: few rows" in public
    assert not re.search(r"\b(0|100|3\.33) %", public)


def test_the_public_report_names_the_columns_whose_groups_it_does_not_tell(make: Make) -> None:
    plan = replace(plan_for(), models=[KAnonymity(200)])  # the ages are removed
    release = ko.anonymize(minority(), plan)
    public, internal = (
        section(make(minority(), plan, release=release, view=view), "Who is suppressed") for view in VIEWS
    )
    unlisted = [name for name in ("age", "sex", "diagnosis") if f" {name} group suppressed" not in f" {public}"]
    assert unlisted
    assert f"Not listed: {', '.join(unlisted)}." in public
    assert "Not listed" not in internal
    assert all(f" {name} group rows" in internal for name in unlisted)


def test_a_column_with_too_many_groups_to_compare_is_named_to_everybody(make: Make) -> None:
    table = minority().with_columns(diagnosis=pl.format("illness {}", pl.int_range(pl.len()) % 40))
    release = ko.anonymize(table, plan_for())
    for view in VIEWS:
        told = section(make(table, plan_for(), release=release, view=view), "Who is suppressed")
        assert re.search(r"Not listed: [^.]*diagnosis[^.]*\. They have too many groups to compare", told), view


def test_the_public_is_not_told_exactly_whether_none_or_all_of_a_group_are_suppressed() -> None:
    figures = Figures(5, exact=False)
    assert figures.banded(0.0, 300) == figures.banded(0.01, 300) == "less than 2 %"
    assert figures.banded(1.0, 300) == "over 98 %"
    assert figures.banded(0.5, 20) == "not told: few rows"


# Amber, with the reason in the box


def box(page: str) -> str:
    return words(page.split('<div class="verdict')[1].split("</div>")[0])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("given", ["release", "table"])
def test_the_verdict_is_amber_as_long_as_a_warning_is_open_and_says_why(make: Make, view: str, given: str) -> None:
    plan = plan_for(models=[KAnonymity(10), DistinctLDiversity("diagnosis", l=2)])
    release = ko.anonymize(minority(), plan)
    page = make(minority(), plan, release=release if given == "release" else release.data, view=view)
    assert '<div class="verdict fair">' in page
    assert "only 9 suppressed rows: a person who knows that somebody was suppressed has few" in box(page)
    unprotected = plan_for()
    page = make(minority(), unprotected, release=ko.anonymize(minority(), unprotected), view=view)
    assert "'diagnosis' is sensitive, but no model of the plan protects it" in box(page)


# What the figures count


def test_a_removed_attribute_and_a_suppressed_row_are_two_things(make: Make) -> None:
    stars = pl.Series("x", ["a"] * 5 + ["*"] * 12)
    suppressed = pl.Series([False] * 10 + [True] * 7)
    parts = distribution([stars], least=5, suppressed=[suppressed]).parts
    assert [(part.label, part.rows) for part in parts][1:] == [(REMOVED, (5,)), (ROW_SUPPRESSED, (7,))]
    few = distribution([stars], least=6, suppressed=[suppressed]).parts
    assert few == () or few[-1].label == EITHER
    plan = plan_for(models=[KAnonymity(290)], suppression_limit=0.05)
    release = ko.anonymize(minority(), plan)
    text = words(make(minority(), plan, release=release, view="internal"))
    assert "removed (top level" in text
    assert "only *" not in text


def test_every_chart_says_what_it_counts_and_in_which_unit(make: Make) -> None:
    plan = plan_for()
    page = make(minority(), plan, release=ko.anonymize(minority(), plan), view="internal")
    figures = re.findall(r"<figure>.*?</figure>", page, flags=re.DOTALL)
    assert len(figures) >= 6
    for figure in figures:
        unit = words(figure)
        of_risk = "share of the rows that are not suppressed" in unit or "in percentage points" in unit
        assert of_risk != ("share of all rows" in unit)
        assert ("are not counted" in unit) == of_risk
        assert ("suppressed rows are counted" in unit) != of_risk
    assert "no figure below counts them" not in words(page)


@pytest.mark.parametrize("view", VIEWS)
def test_bars_of_shares_always_end_at_one_hundred_per_cent(make: Make, view: str) -> None:
    plan = plan_for()
    page = make(minority(), plan, release=ko.anonymize(minority(), plan), view=view)
    shares = [one for one in re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL) if "share of" in one]
    assert shares
    for chart in shares:
        assert [tick in words(chart) for tick in ("0 %", "25 %", "50 %", "75 %", "100 %")] == [True] * 5


# What the page is about


@pytest.mark.parametrize("view", VIEWS)
def test_data_set_purpose_recipient_and_date_stand_at_the_head(make: Make, view: str) -> None:
    about = {"title": "Registry of gout", "purpose": "study 7", "recipient": "University <of> Kiel"}
    page = make(minority(), plan_for(), release=ko.anonymize(minority(), plan_for()), view=view, **about)
    head = words(page.split("</header>")[0])
    for said in ("data set Registry of gout", "purpose study 7", "recipient University <of> Kiel"):
        assert said in head
    assert re.search(r"date of the report \d{4}-\d\d-\d\d", head)
    assert "certificate, SHA-256 no certificate was given" in head
    assert "data set not stated" in words(make(minority(), plan_for(), view=view).split("</header>")[0])


@pytest.mark.parametrize("view", VIEWS)
def test_the_decision_has_room_for_two_signatures(make: Make, view: str) -> None:
    decision = section(make(minority(), plan_for(), view=view), "Decision")
    assert decision.count("Signature") == 2
    assert decision.count("Place and date") == 2
    assert "must not be passed on" in decision


def test_the_page_prints_with_numbers_and_type_that_can_be_read(make: Make) -> None:
    style = re.search(r"<style>(.*?)</style>", make(minority(), plan_for()), flags=re.DOTALL)
    assert style is not None
    assert "counter(page)" in style[1]
    printed = "".join(re.findall(r"@media print\{(.*?)\n\}", style[1], flags=re.DOTALL))
    sizes = [float(size) for size in re.findall(r"font-size:([\d.]+)pt", printed)]
    assert sizes
    assert min(sizes) >= 8.5
    assert [size for size in re.findall(r"font-size:(\d+)px", printed) if int(size) < 11] in ([], ["9"])


@pytest.mark.parametrize("view", VIEWS)
def test_the_table_of_contents_leads_to_every_section(make: Make, view: str) -> None:
    page = make(minority(), plan_for(), release=ko.anonymize(minority(), plan_for()), view=view)
    contents = page.split('<nav class="contents"')[1].split("</nav>")[0]
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', contents)
    assert links == re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', page)
    assert len(links) == len({address for address, _ in links}) >= 10
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


# Units


def test_a_heading_says_people_only_where_people_are_counted(make: Make) -> None:
    by_rows = make(minority(), plan_for())
    assert "Unique rows</h2>" in by_rows
    assert "Unique people</h2>" not in by_rows


def test_a_removed_column_is_not_said_to_show_its_values(make: Make) -> None:
    plan = plan_for(suppression_limit=0, models=[ko.models.KAnonymity(minority().height // 2)])
    removed = make(minority(), plan, release=ko.anonymize(minority(), plan))
    assert "removed (top level" in section(removed, "What is lost")
    assert "where it may be generalized" in section(removed, "Who is suppressed")


# Attackers


def test_attackers_that_cannot_be_told_apart_are_one_row(make: Make) -> None:
    plan = plan_for()
    alone = section(make(minority(), plan), "Who could find somebody?")
    assert "prosecutor, journalist or marketer" in alone
    assert "the three cannot be told apart" in alone
    apart = make(minority(), plan, population_size=80_000)
    rows = re.findall(
        r'<th scope="row">(\w+)</th>', apart.split("Who could find somebody?</h2>")[1].split("</table>")[0]
    )
    assert rows == ["prosecutor", "journalist", "marketer"]
    assert "cannot be told apart" not in section(apart, "Who could find somebody?")
