"""The report as a page: the verdict comes first, both views are safe, and nothing comes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.models import DistinctLDiversity, KAnonymity

QUASI = {"role": "quasi-identifying"}
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
    """What a reader sees, without the style."""
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def cohort() -> tuple[pl.DataFrame, ko.Plan]:
    rows = range(400)
    frame = pl.DataFrame(
        {
            "name": [f"person {row}" for row in rows],
            "age": [20 + row % 40 for row in rows],
            "sex": [("f", "m")[row % 2] for row in rows],
            "diagnosis": [("flu", "cold", "fracture")[row % 3] for row in rows],
        }
    )
    plan = ko.Plan(
        attributes={
            "name": {"role": "identifying"},
            "age": {**QUASI, "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}}},
            "sex": QUASI,
            "diagnosis": {"role": "sensitive"},
        },
        models=[KAnonymity(20)],
        person="none",
    )
    return frame, plan


@pytest.mark.parametrize("view", VIEWS)
def test_the_verdict_on_a_raw_table_comes_first_and_says_what_to_do(make: Make, cohort, view: str) -> None:
    page = make(*cohort, view=view)
    text = words(page)
    assert '<div class="verdict bad">' in page
    verdict, meaning = text.index("\u2717 Does not meet the plan"), text.index("What this means")
    assert verdict < meaning < text.index("Who could find somebody?")
    assert "does not satisfy k-anonymity (k = 20)" in text[:meaning]
    assert "Do not pass this table on." in text
    assert "kohorte anonymize" in text


@pytest.mark.parametrize("view", VIEWS)
def test_the_verdict_on_a_release_names_what_is_reached(make: Make, cohort, view: str) -> None:
    frame, plan = cohort
    text = words(make(frame, plan, release=ko.anonymize(frame, plan), view=view))
    assert "! Meets the plan, but look closer The release satisfies k-anonymity (k = 20), reached" in text
    assert "none of 400 rows is above the threshold of 20 %" in text
    protected = replace(plan, models=[KAnonymity(20), DistinctLDiversity("diagnosis", l=2)])
    text = words(make(frame, protected, release=ko.anonymize(frame, protected), view=view))
    assert "\u2713 Meets the plan The release satisfies k-anonymity (k = 20), reached" in text
    unstated = replace(protected, person=None)
    text = words(make(frame, unstated, release=ko.anonymize(frame, unstated), view=view))
    assert "! Meets the plan, but look closer" in text
    assert "nobody has said that every row is another person" in text


def test_rows_above_the_threshold_are_a_reservation(make: Make, cohort) -> None:
    frame, plan = cohort
    release = ko.anonymize(frame, plan)
    text = words(make(frame, plan, release=release, threshold=0.001))
    assert "! Meets the plan, but look closer" in text
    assert "all of 400 rows are above the threshold of 0.1 %" in text


def test_a_policy_whose_limit_is_passed_is_a_bad_verdict(make: Make, cohort) -> None:
    frame, plan = cohort
    policy = ko.RiskPolicy({"highest_prosecutor_risk": 1}, limit=0.001)
    text = words(make(frame, plan, release=ko.anonymize(frame, plan), policy=policy))
    assert "\u2717 Does not meet" in text
    assert "ABOVE its limit of 0.1 %" in text


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("given", ["release", "table"])
def test_a_sensitive_value_that_is_known_of_everybody_is_a_reservation_in_the_verdict(
    make: Make, view: str, given: str
) -> None:
    """All rows that look alike share their diagnosis: 5-anonymous, and everything is known."""
    frame = pl.DataFrame({"a": [str(row // 50) for row in range(600)]}).with_columns(diagnosis="d" + pl.col("a"))
    plan = ko.Plan(attributes={"a": QUASI, "diagnosis": {"role": "sensitive"}}, models=[KAnonymity(5)])
    page = make(frame, plan, view=view, **({"release": ko.anonymize(frame, plan)} if given == "release" else {}))
    assert '<div class="verdict fair">' in page
    box = words(page.split('<div class="verdict fair">')[1].split("</div>")[0])
    assert "! Meets the plan, but look closer" in box
    everybody = "600" if view == "internal" else "all"
    assert f"A sensitive value (diagnosis) of {everybody} of 600 rows is known without finding the row" in box
    text = words(page)
    assert "add to the plan: l-diversity" in text
    assert "'diagnosis' is sensitive, but no model of the plan protects it" in text


@pytest.mark.parametrize("view", VIEWS)
def test_the_three_questions_of_the_authorities_are_answered(make: Make, cohort, view: str) -> None:
    frame, plan = cohort
    raw, released = (words(make(frame, plan, view=view, release=made)) for made in (None, ko.anonymize(frame, plan)))
    for text in (raw, released):
        assert "Can somebody be singled out?" in text
        assert "Can records about somebody be linked?" in text
        assert "No person's sensitive value is certain" in text
    assert "no row is the only one of its kind" in released
    unique = words(make(frame.with_columns(age=pl.int_range(400)), plan, view=view))
    assert f"Yes: {'400' if view == 'internal' else 'all'} of 400 rows are the only ones of their kind" in unique


def test_estimators_are_compared_inside_alone(make: Make, cohort) -> None:
    public, internal = (words(make(*cohort, view=view, population_size=10_000)) for view in VIEWS)
    assert "zayatz" in internal
    assert "zayatz" not in public
    assert "far too high" in public
    assert "far too high" in internal


def test_a_bar_that_reaches_above_the_threshold_says_so(make: Make, cohort) -> None:
    """Classes of 10 rows, a threshold of 1 / 15, and a range of 10 to 19 rows."""
    page = make(*cohort, threshold=1 / 15, view="internal")
    assert "partly above" in words(page)
    assert '<rect class="fair"' in page


def test_a_name_cannot_turn_the_text_around(make: Make) -> None:
    name = "rate\u202etsiruot\u2066"
    frame = pl.DataFrame({name: ["a", "b"] * 20})
    page = make(frame, ko.Plan(attributes={name: QUASI}, models=[KAnonymity(2)]))
    assert "rate\ufffdtsiruot\ufffd" in page
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page)


def test_the_views_differ_in_what_they_tell(make: Make, cohort) -> None:
    frame, plan = cohort
    release = ko.anonymize(frame, plan)
    public, internal = (words(make(frame, plan, release=release, view=view)) for view in VIEWS)
    for inside in (
        "INTERNAL \u2013 do not pass on",
        "Rows at the highest risk",
        "Columns that look like",
        "before and after",
    ):
        assert inside in internal
    assert "INTERNAL" not in public
    assert "Rows at the highest risk" not in public
    assert "diagnosis, in the release" in public
    assert "diagnosis, before and after" in internal


def test_the_public_view_of_a_raw_table_has_no_value_at_all(make: Make, cohort) -> None:
    frame, plan = cohort
    public = words(make(frame, plan))
    assert "How the values are spread" not in public
    assert not {"flu", "cold", "fracture"} & set(re.findall(r"\w+", public))
    assert "fracture" in words(make(frame, plan, view="internal"))


# Canaries


@pytest.fixture(scope="module")
def canaries() -> tuple[pl.DataFrame, ko.Plan]:
    """Rare values in every role: alone, twice and four times; k is 2, so that some of them stay in the release."""
    times = (1, 2, 4)
    rare = [f"canary{number}" for number, count in enumerate(times) for _ in range(count)]
    common = 300
    frame = pl.DataFrame(
        {
            "name": [f"canaryname{row}" for row in range(common + len(rare))],
            "town": ["Berlin", "Bonn", "Kiel"] * (common // 3) + rare,
            "age": [20 + row % 50 for row in range(common)] + [987_654] * len(rare),
            "born": [f"19{50 + row % 40}-05-0{1 + row % 9}" for row in range(common)] + ["1801-02-03"] * len(rare),
            "diagnosis": ["flu", "cold", "fracture"] * (common // 3) + [f"{value}d" for value in rare],
            "note": [f"canarynote{row}" for row in range(common + len(rare))],
        }
    )
    plan = ko.Plan(
        attributes={
            "name": {"role": "identifying"},
            "town": QUASI,
            "age": QUASI,
            "born": QUASI,
            "diagnosis": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        models=[KAnonymity(2)],
        suppression_limit=1.0,
    )
    return frame, plan


@pytest.mark.parametrize("view", VIEWS)
def test_no_value_of_a_small_group_is_in_a_report(make: Make, canaries, view: str) -> None:
    frame, plan = canaries
    table = frame.drop("name")
    pages = [
        make(frame, plan, view=view),
        make(frame, plan, release=ko.anonymize(frame, plan), view=view),
        make(table, plan, release=table, view=view),
    ]
    for page in pages:
        assert not re.findall(r"canary|987.?654|1801|02-03", page)
    assert ("Berlin" in pages[0]) is (view == "internal")


def test_the_public_view_counts_no_small_group_of_the_raw_table(make: Make) -> None:
    """Three rows stand alone among many; neither that number nor that of the others is told."""
    frame = pl.DataFrame({"a": [str(row // 50) for row in range(500)] + ["x", "y", "z"]})
    plan = ko.Plan(attributes={"a": QUASI}, models=[KAnonymity(5)], suppression_limit=0.1)
    raw = words(make(frame, plan))
    both = words(make(frame, plan, release=ko.anonymize(frame, plan)))
    assert "less than 1 % of 503 rows are above the threshold" in raw
    assert "smallest class fewer than 5 rows 50 rows" in both
    assert "unique rows less than 1 % none" in both
    assert "3 rows of 503 are suppressed" in both  # as the certificate says
    assert not re.search(r"(?<![\w.,])3 \(|(?<![\w.,])3 rows", raw)
    assert "3 (0.596 %) of the rows are the only ones of their kind" in words(make(frame, plan, view="internal"))


# The page


class Page(HTMLParser):
    """Notes elements and attributes, and that all that is opened is closed."""

    void = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


HOSTILE = "</style><script>alert(1)</script> \"' http://evil.example/ \u00fc"


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_needs_nothing_from_elsewhere_and_no_script(make: Make, cohort, view: str) -> None:
    frame, plan = cohort
    page = make(frame, plan, release=ko.anonymize(frame, plan), view=view, population_size=10_000)
    found = Page(page)
    assert not re.search(r"https?://|url\(|src=|@import", page)
    assert not found.elements & {"script", "link", "img", "iframe", "object", "form"}
    assert all(address.startswith("#") for address in re.findall(r'href="([^"]*)"', page))
    assert not any(name.startswith("on") for name in found.attributes)
    assert "default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert "@media print" in page
    assert "prefers-color-scheme:dark" in page
    assert len(page.encode()) < 200_000


@pytest.mark.parametrize("view", VIEWS)
def test_names_and_values_are_text_and_never_markup(make: Make, view: str) -> None:
    frame = pl.DataFrame({HOSTILE: [HOSTILE, "b"] * 20, "s": [HOSTILE] * 40})
    plan = ko.Plan(attributes={HOSTILE: QUASI, "s": {"role": "sensitive"}}, models=[KAnonymity(2)])
    page = make(frame, plan, release=frame, view=view)
    Page(page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([["x"]], 1),
        ([["*", "*"]] * 7, 2),
        pytest.param([["a"] * 40, ["b"] * 40] * 3, 40, marks=pytest.mark.slow),
        ([[None]] * 9, 1),
    ],
)
def test_tables_at_the_ends_have_a_report(make: Make, view: str, rows: list[list[str]], columns: int) -> None:
    names = [f"column {number}" for number in range(columns)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    plan = ko.Plan(attributes=dict.fromkeys(names, QUASI), models=[KAnonymity(2)], suppression_limit=1.0)
    for options in ({}, {"release": frame}):
        page = make(frame, plan, view=view, largest_set=1, **options)
        Page(page)
        assert not re.search(r"\bnan\b|\binf\b", page)


def test_a_release_of_a_part_is_compared_with_that_part_and_verified_with_the_whole(make: Make) -> None:
    frame = pl.DataFrame({"a": [*"xxxxyyyyyyyyyyyy"], "chosen": [1, 1, 0, 0] + [1, 1, 1] * 2 + [0] * 6})
    plan = ko.Plan(
        attributes={"a": QUASI, "chosen": {"role": "insensitive"}},
        models=[{"model": "delta-presence", "minimum": 0.0, "maximum": 0.9, "subset": "chosen"}],
    )
    text = words(make(frame, plan, release=ko.anonymize(frame, plan), view="internal"))
    assert "\u2713 Meets" in text or "! Meets" in text
    assert "8 rows, 1 quasi-identifier" in text


# Evidence and errors


def test_the_hash_of_the_raw_table_is_for_the_house_alone(tmp_path: Path, cohort) -> None:
    from kohorte.cli.main import main

    frame, plan = cohort
    ko.write_table(frame, tmp_path / "in.csv", like=None, force=False)
    (tmp_path / "plan.yaml").write_text(plan.to_yaml())
    digest = ko.read_table(tmp_path / "in.csv").sha256
    for view in VIEWS:
        made = tmp_path / f"{view}.html"
        arguments = [
            "anonymize",
            str(tmp_path / "in.csv"),
            "--plan",
            str(tmp_path / "plan.yaml"),
            "--report",
            str(made),
        ]
        assert main([*arguments, "--output", str(tmp_path / f"{view}.csv"), "--report-view", view, "--json"]) == 0
        page = made.read_text(encoding="utf-8")
        assert (digest in page) is (view == "internal")
        assert ("in.csv" in page) is (view == "internal")
        assert ko.read_table(tmp_path / f"{view}.csv").sha256 in page
        assert plan.fingerprint() in page


@pytest.mark.parametrize(("k", "shown"), [(5, True), (50, False), (1, False)])
def test_a_single_table_is_named_to_the_public_if_it_satisfies_the_plan(tmp_path: Path, k: int, shown: bool) -> None:
    """One that does not, or whose plan promises nothing, may be raw."""
    from kohorte.cli.main import main

    plan = ko.Plan(attributes={"a": QUASI}, models=[KAnonymity(k)])
    ko.write_table(pl.DataFrame({"a": [*"xy"] * 20}), tmp_path / "in.csv", like=None, force=False)
    (tmp_path / "plan.yaml").write_text(plan.to_yaml())
    made = tmp_path / "report.html"
    arguments = ["risk", str(tmp_path / "in.csv"), "--plan", str(tmp_path / "plan.yaml"), "--report", str(made)]
    assert main([*arguments, "--json"]) == 0
    assert (ko.read_table(tmp_path / "in.csv").sha256 in made.read_text(encoding="utf-8")) is shown


def test_what_cannot_be_checked_is_no_good_verdict(make: Make) -> None:
    frame = pl.DataFrame({"a": [*"xxyy"]})
    plan = ko.Plan(
        attributes={"a": QUASI, "chosen": {"role": "insensitive"}},
        models=[{"model": "delta-presence", "minimum": 0.0, "maximum": 0.9, "subset": "chosen"}],
    )
    text = words(make(frame, plan))
    assert "could not be checked" in text
    assert "\u2717 Does not meet" in text


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("report.txt", {}, "page-format"),
        ("there.html", {}, "output-exists"),
        ("report.html", {"view": "secret"}, "report-view"),
        ("report.html", {"view": None}, "report-view"),
        ("report.html", {"rows": -1, "view": "internal"}, "risk-rows"),
        ("report.html", {"threshold": 2}, "risk-threshold"),
        ("no/report.html", {}, "output-folder-missing"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(tmp_path: Path, cohort, name, options, code) -> None:
    (tmp_path / "there.html").write_text("there")
    with pytest.raises(InputError) as caught:
        ko.write_report(tmp_path / name, *cohort, **options)
    assert caught.value.code == code
    assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
    assert (tmp_path / "there.html").read_text() == "there"
