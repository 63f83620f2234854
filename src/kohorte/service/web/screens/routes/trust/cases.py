"""The grey zone of the patient list: open cases, two people side by side, the decision and how it is undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.patients.identity import FIELDS
from kohorte.service.trust import patients
from kohorte.service.web.dependencies import Number, PageNumber
from kohorte.service.web.models.patients import Decision
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/patients"
CASE = f"{LIST}/cases/{{number}}"
PER_PAGE = 50
ALIKE = 0.5
"""The share of equal letters from which on single letters are marked."""
LEVEL_OF = {
    "first_names": "first names",
    "last_name": "family name",
    "birth_name": "family name",
    "birth_date": "birth date",
    "sex": "sex",
    "postcode": "address",
    "place": "address",
    "insurance_number": "insurance number",
}
"""Which comparison of a case a field of identity data belongs to."""


@router.get(LIST, name="screen_cases")
def cases_page(visitor: Annotated[Visitor, Allowed("list_cases")], page: PageNumber = 1) -> Response:
    """List the cases that a person has to decide, without names."""
    found = patients.cases(visitor.service, visitor.actor)
    shown = [one.to_dict() for one in found[(page - 1) * PER_PAGE : page * PER_PAGE]]
    pages = -(-len(found) // PER_PAGE)
    return visitor.page("trust/cases.html.j2", cases=shown, total=len(found), page=page, pages=pages)


@router.get(CASE, name="screen_case")
def case_page(number: Number, visitor: Annotated[Visitor, Allowed("show_case")]) -> Response:
    """Show both people of a case side by side; it is recorded that they were shown."""
    return _case(visitor, number)


@router.post(CASE, name="screen_decide_case")
def decide(number: Number, visitor: Annotated[Visitor, Allowed("decide_case")]) -> Response:
    """Decide a case; the page says which PID stays, and how the decision is undone."""
    try:
        verdict = body_of(Decision, verdict=visitor.text("verdict")).verdict
    except KohorteError as error:
        return _case(visitor, number, error)
    kept, other = patients.decide(visitor.service, visitor.actor, number, same=verdict == "same")
    return visitor.page("trust/decided.html.j2", here=LIST, same=verdict == "same", pid=kept, other_pid=other)


def _case(visitor: Visitor, number: int, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    found = patients.case(visitor.service, visitor.actor, number)
    rows = side_by_side(found["this_record"], found["other_records"], found["levels"])
    return visitor.page("trust/case.html.j2", status=status, case=found, rows=rows, problem=problem)


def side_by_side(
    this: Mapping[str, str], others: Sequence[Mapping[str, str]], levels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a row for every field that a record has: what each says, cut where they differ, and how they agree."""
    rows = []
    for name in FIELDS:
        texts = [this[name], *(other[name] for other in others)]
        if any(texts):
            cells = [
                pieces(texts[0], texts[1] if others else texts[0]),
                *(pieces(text, texts[0]) for text in texts[1:]),
            ]
            rows.append({"field": name, "cells": cells, "level": levels.get(LEVEL_OF[name], "")})
    return rows


def pieces(text: str, other: str) -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether the other text lacks it; texts that are not alike are not cut."""
    compared = SequenceMatcher(None, text, other, autojunk=False)
    if text and compared.ratio() < ALIKE:
        return [(text, True)]
    return [(text[start:end], what != "equal") for what, start, end, _, _ in compared.get_opcodes() if start < end]
