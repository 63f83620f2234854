"""The report in German: no English sentence, the same figures, values and names as they are."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.models import DistinctLDiversity, KAnonymity
from support.german import english_words

QUASI = {"role": "quasi-identifying"}
VIEWS = ("public", "internal")
SOURCES = re.compile(r"<ul>\n<li>Angreifer: El Emam.*?</ul>", re.DOTALL)
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(frame: Any, plan: ko.Plan, language: str = "de", **options: Any) -> str:
        path = tmp_path / "report.html"
        ko.write_report(path, frame, plan, force=True, language=language, **options)
        return path.read_text(encoding="utf-8")

    return made


def texts(page: str) -> Iterator[str]:
    """The texts of a page, without style and the titles of English sources."""
    seen = SOURCES.sub("", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))
    for found in re.finditer(r">([^<]+)<|aria-label=\"([^\"]*)\"", seen):
        yield re.sub(r"\s+", " ", unescape(found[1] or found[2] or "")).strip()


@pytest.fixture(scope="module")
def cohort() -> tuple[pl.DataFrame, ko.Plan]:
    rows = range(400)
    diagnoses = ("unknown", "cold", "fracture", "none")
    frame = pl.DataFrame(
        {
            "name": [f"person {row}" for row in rows],
            "age": [20 + row % 40 for row in rows],
            "sex": [("f", "m")[row % 2] for row in rows],
            "born": [f"19{50 + row % 40}-0{1 + row % 9}-1{row % 10}" for row in rows],
            "diagnosis": [diagnoses[3 if row == 7 else row % 3] for row in rows],
        }
    )
    plan = ko.Plan(
        attributes={
            "name": {"role": "identifying"},
            "age": {**QUASI, "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}}},
            "sex": QUASI,
            "born": {**QUASI, "hierarchy": {"dates": {"format": "%Y-%m-%d", "levels": ["year", "decade"]}}},
            "diagnosis": {"role": "sensitive"},
        },
        models=[KAnonymity(5)],
        suppression_limit=0.1,
    )
    return frame, plan


@pytest.fixture(scope="module")
def release(cohort: tuple[pl.DataFrame, ko.Plan]) -> ko.Release:
    return ko.anonymize(*cohort)


def stays() -> pl.DataFrame:
    chance = random.Random(9)
    blood = {number: chance.choice("AB0") for number in range(128)}
    whom = [*range(128), *(chance.randrange(128) for _ in range(75))]
    rows = [(f"p{n}", chance.choice(["11", "12", "21", "22"]), chance.choice("fm"), blood[n]) for n in whom]
    rows[0] = ("p0", "31", "f", "A")
    return pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood"], orient="row")


def people(knows: str) -> ko.Plan:
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            "ward": {**QUASI, "hierarchy": {"redaction": {}}},
            "sex": QUASI,
            "blood": {"role": "sensitive"},
        },
        models=[KAnonymity(3), DistinctLDiversity("blood", 2)],
        suppression_limit=0.05,
        person={"column": "patient", "attacker_knows": knows},
    )


@pytest.mark.parametrize("view", VIEWS)
def test_a_report_of_a_release_has_no_english_sentence(make: Make, cohort, release: ko.Release, view: str) -> None:
    frame, plan = cohort
    page = make(frame, plan, release=release, view=view, population_size=10_000)
    assert '<html lang="de">' in page
    assert [text for text in texts(page) if english_words(text)] == []
    assert "Erfüllt den Plan" in page


@pytest.mark.parametrize("view", VIEWS)
def test_a_report_of_a_raw_table_has_no_english_sentence(make: Make, cohort, view: str) -> None:
    page = make(*cohort, view=view)
    assert [text for text in texts(page) if english_words(text)] == []
    assert "Geben Sie diese Tabelle nicht weiter." in page


@pytest.mark.parametrize("knows", ["one_row", "all_rows"])
def test_a_report_that_counts_people_has_no_english_sentence(make: Make, knows: str) -> None:
    table, plan = stays(), people(knows)
    release = ko.anonymize(table, plan)
    for made in (release, release.data):
        page = make(table, plan, release=made, view="internal")
        assert [text for text in texts(page) if english_words(text)] == []


def test_the_figures_of_both_languages_are_the_same_numbers(make: Make, cohort, release: ko.Release) -> None:
    frame, plan = cohort
    pages = [make(frame, plan, language, release=release, view="internal") for language in ("en", "de")]
    english, german = ([cell for row in cells(page) for cell in row] for page in pages)
    assert [number(cell) for cell in english if number(cell)] == [
        number(cell.replace(".", "").replace(",", ".")) for cell in german if number(cell)
    ]


def cells(page: str) -> list[list[str]]:
    """The cells of all tables of figures, without versions and dates."""
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page)
    return [[unescape(cell) for cell in re.findall(r"<td>([^<]*)</td>", row)] for row in rows]


def number(cell: str) -> str:
    """A cell that is a number or a percentage, without signs that depend on the language."""
    found = re.fullmatch(r"([\d.,]+)[ \u00a0]?%?", cell)
    return found[1].replace(",", "") if found else ""


def test_values_of_the_data_stay_as_they_are_although_they_are_known_words(make: Make, cohort, release) -> None:
    frame, plan = cohort
    page = make(frame, plan, release=release, view="internal")
    assert {"unknown", "fracture"} <= set(texts(page))
    assert "unbekannt" not in set(texts(page))


def test_names_and_stated_texts_stay_as_they_are(make: Make, cohort, release) -> None:
    frame, plan = cohort
    renamed = frame.rename({"diagnosis": "release"})
    plan = ko.Plan(
        attributes={("release" if name == "diagnosis" else name): one for name, one in plan.attributes.items()},
        models=[KAnonymity(5)],
        suppression_limit=0.1,
    )
    page = make(renamed, plan, release=ko.anonymize(renamed, plan), view="internal", purpose="the table")
    assert "<dd>the table</dd>" in page
    assert "'release' ist sensibel" in unescape(page)


def test_a_language_that_pages_do_not_have_is_refused(make: Make, cohort) -> None:
    with pytest.raises(InputError, match="known are en, de") as refused:
        make(*cohort, language="fr")
    assert refused.value.code == "language"
