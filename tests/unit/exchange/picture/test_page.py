"""The page of a check: what it shows, and what it must not show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.picture.page import _contained_in, to_html
from kohorte.exchange.statistics import Statistics, shipped_statistics
from kohorte.languages import ENGLISH, language
from kohorte.plans import Plan
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
TODAY = date(2026, 11, 17)
STANDS = re.compile('class="verdict ([a-z]+)"')
TABLE = patients(900, people=700, treated=350)
SECTIONS = (
    "The request", "What is rare in the world", "What stands out here", "Verdict on each attribute",
    "What would be sent", "What was sent before", "Decision",
)  # fmt: skip


def test_the_page_shows_every_part_and_two_fields_to_sign(check: Checked, ledger: Ledger) -> None:
    first = check(request(), TABLE)
    assert first.draft is not None
    ledger.record(first.draft.disclosure)
    text = to_html(first.record, number_of_request=3, earlier=ledger.releases())
    assert all(f">{title}<" in text for title in (*SECTIONS, "Risk before and after"))
    assert text.count("name, date, signature") == 2
    assert "Check of request 3" in text
    assert "1 in 3,333" in text
    assert first.record.sha256 in text
    assert text.count("Institute A") >= 2


def test_a_page_without_a_draft_says_why(check: Checked) -> None:
    record = check(request(), patients(900, people=700, treated=3)).record
    text = to_html(record, number_of_request=1)
    assert "Recommendation: do not release" in text
    assert "fewer than 100 people satisfy the condition" in text
    assert "Risk before and after" not in text
    assert "Nobody stands out" not in text  # nothing was compared with earlier answers
    assert "No finding of a comparison" in text


@pytest.mark.parametrize("purpose", ["<script>alert(1)</script>", "a & b"])
def test_what_a_requester_writes_is_escaped(check: Checked, purpose: str) -> None:
    from dataclasses import replace

    text = to_html(check(replace(request(), purpose=purpose), TABLE).record, number_of_request=1)
    assert purpose not in text


def test_no_value_of_the_table_is_on_the_page(check: Checked) -> None:
    text = to_html(check(request(), TABLE).record, number_of_request=1)
    assert not [value for value in ("farmer", "J45", "P00000") if value in text]


def test_the_page_says_whether_the_requester_is_proven(check: Checked) -> None:
    record = check(request(), TABLE).record
    assert "no: the request came as a file" in to_html(record, number_of_request=1)
    proven = to_html(record, number_of_request=1, proven=True)
    assert "yes: the institution, by its certificate" in proven
    assert "came as a file" not in proven


def test_a_check_by_the_small_set_is_never_green_and_says_why(ledger: Ledger) -> None:
    reason = (
        "the small set that comes with Kohorte, rounded, of several countries and partly estimates, not for decisions"
    )
    asked, house = request({"attribute": "drug", "is": "ibuprofen"}, ("sex",)), holding()
    known = Statistics(
        tuple(replace(table, origin=replace(table.origin, precision=None)) for table in shipped_statistics().tables)
    )
    rough, good = (
        check_request(asked, TABLE, house, one, ledger, today=TODAY) for one in (shipped_statistics(), known)
    )
    assert rough.record.recommendation == good.record.recommendation == "release"
    assert reason in " ".join(rough.record["recommendation"]["reasons"])
    assert reason not in " ".join(good.record["recommendation"]["reasons"])
    assert standing(rough) == "fair"
    assert standing(good) == "good"


def standing(found: Check, *, people_known: bool = True) -> str:
    stands = STANDS.search(to_html(found.record, number_of_request=1, people_known=people_known))
    assert stands is not None
    return stands[1]


def test_the_page_leaves_open_that_two_accounts_are_two_people(check: Checked) -> None:
    found = check(request({"attribute": "drug", "is": "ibuprofen"}), TABLE)
    assert "the program tells accounts apart, not people" in to_html(found.record, number_of_request=1)
    assert "the program tells accounts" not in to_html(found.record, number_of_request=1, people_known=True)


def test_a_page_is_not_green_where_one_person_may_have_two_accounts(ledger: Ledger) -> None:
    sourced = [replace(table, origin=replace(table.origin, precision=None)) for table in shipped_statistics().tables]
    asked = request({"attribute": "drug", "is": "ibuprofen"}, ("sex",))
    found = check_request(asked, TABLE, holding(), Statistics(tuple(sourced)), ledger, today=TODAY)
    assert (standing(found), standing(found, people_known=False)) == ("good", "fair")


def test_a_check_of_an_attribute_without_statistics_says_so_and_is_not_green(ledger: Ledger) -> None:
    sourced = [replace(table, origin=replace(table.origin, precision=None)) for table in shipped_statistics().tables]
    known, house = Statistics(tuple(sourced)), holding()
    unknown = replace(house, statistics={name: kind for name, kind in house.statistics.items() if name != "sex"})
    asked = request({"attribute": "drug", "is": "ibuprofen"}, ("sex",))
    found = check_request(asked, TABLE, unknown, known, ledger, today=TODAY)
    assert found.record.recommendation == "release"
    assert "there are no statistics of it" in " ".join(found.record["recommendation"]["reasons"])
    stands = STANDS.search(to_html(found.record, number_of_request=1))
    assert stands is not None
    assert stands[1] == "fair"


def test_only_rough_tables_that_gave_a_figure_are_named(ledger: Ledger) -> None:
    own = [
        replace(one, origin=replace(one.origin, name=f"own-{one.origin.name}", precision=None, date="2025-12-31"))
        for one in shipped_statistics().tables
    ]
    both = Statistics((*shipped_statistics().tables, *own))
    asked = request({"attribute": "drug", "is": "ibuprofen"}, ("sex",))
    found = check_request(asked, TABLE, holding(), both, ledger, today=TODAY)
    assert found.record["global look-up"]["rough"] == []


def test_a_column_of_dates_is_called_dates_and_not_words(check: Checked) -> None:
    table = TABLE.with_columns(day=pl.format("2026-0{}-15", pl.int_range(pl.len()) % 6 + 1))
    own = holding()
    dates = {"role": "quasi-identifying", "hierarchy": {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year"]}}}
    plan = Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], "day": dates}})
    asked = request({"attribute": "drug", "is": "ibuprofen"}, ("sex", "zip", "day", "diagnosis"))
    record = check(asked, table, replace(own, plan=plan)).record
    rows = re.findall(r'<tr><th scope="row">(\w+)</th><td>([^<]*)</td>', to_html(record, number_of_request=1))
    assert {("sex", "sex"), ("zip", "ZIP codes"), ("day", "dates"), ("diagnosis", "disease")} <= set(rows)
    german = language("de")
    assert german is not None
    rows = re.findall(
        r'<tr><th scope="row">(\w+)</th><td>([^<]*)</td>', to_html(record, number_of_request=1, language=german)
    )
    assert {("zip", "Postleitzahlen (ZIP)"), ("day", "Datumsangaben"), ("diagnosis", "Krankheit")} <= set(rows)


@pytest.mark.parametrize(
    ("content", "forms", "word"),
    [
        ({"statistics": None, "contents": "words"}, ["birth"], "dates of birth"),
        ({"statistics": None, "contents": "words"}, ["age"], "ages"),
        ({"statistics": None, "contents": "words"}, [], "words"),
        ({"statistics": None, "contents": "kg"}, [], "kg"),
        ({"statistics": None, "contents": "year"}, ["date"], "year"),
        ({"statistics": "blood-group", "contents": "words"}, [], "blood group"),
        ({}, [], ""),
    ],
)
def test_what_a_column_contains_is_said_by_the_house_or_recognised(
    content: dict[str, object], forms: list[str], word: str
) -> None:
    assert _contained_in({"content": content, "forms": forms}, ENGLISH) == word


def test_a_figure_on_the_page_names_its_publication(check: Checked) -> None:
    found = check(request({"attribute": "diagnosis", "is": "J45"}, ("sex", "age")), TABLE)
    assert "Robert Koch-Institut, Gesundheit in Deutschland aktuell, GEDA 2019/2020-EHIS" in to_html(
        found.record, number_of_request=1
    )
