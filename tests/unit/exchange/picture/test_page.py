"""The page of a check: what it shows, and what it must not show."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check
from kohorte.exchange.picture.page import to_html
from testbed.hospital import patients, request

Checked = Callable[..., Check]
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
    assert "1 in 1,429" in text
    assert first.record.sha256 in text
    assert text.count("Institute A") >= 2


def test_a_page_without_a_draft_says_why(check: Checked) -> None:
    record = check(request(), patients(900, people=700, treated=3)).record
    text = to_html(record, number_of_request=1)
    assert "Recommendation: do not release" in text
    assert "fewer than 100 people satisfy the condition" in text
    assert "Risk before and after" not in text


@pytest.mark.parametrize("purpose", ["<script>alert(1)</script>", "a & b"])
def test_what_a_requester_writes_is_escaped(check: Checked, purpose: str) -> None:
    from dataclasses import replace

    text = to_html(check(replace(request(), purpose=purpose), TABLE).record, number_of_request=1)
    assert purpose not in text


def test_no_value_of_the_table_is_on_the_page(check: Checked) -> None:
    text = to_html(check(request(), TABLE).record, number_of_request=1)
    assert not [value for value in ("farmer", "J45", "P00000") if value in text]
