from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from kohorte.service.web.middleware.strict_json import why_refused

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400", '"\\u0000"', '"\\ud800"', '["\\uDFFF"]', "1" * 400 + ".5"],
)
def test_what_is_no_json_or_cannot_be_kept_is_refused(plain: TestClient, value: str) -> None:
    answer = plain.post("/body", content=f'{{"number": 1, "anything": {value}}}', headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["place"] == "body"


@pytest.mark.parametrize("value", ["NaN", "\\u0000", "Infinity", "1e999", "\U0001f600", "\\ud800", "ü"])
def test_the_same_signs_as_ordinary_text_are_taken(plain: TestClient, value: str) -> None:
    for escaped in (True, False):
        content = json.dumps({"number": 1, "anything": value}, ensure_ascii=escaped)
        answer = plain.post("/body", content=content.encode(), headers=JSON)
        assert answer.json()["anything"] == value


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (text for inner in value for text in texts(inner))
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for inner in pair for text in texts(inner))


@given(values, st.booleans())
def test_of_ordinary_json_only_a_zero_character_is_refused(value: object, escaped: bool) -> None:
    body = json.dumps(value, ensure_ascii=escaped).encode()
    assert (why_refused(body) is not None) == any("\x00" in text for text in texts(value))


def test_a_body_in_another_encoding_is_refused(plain: TestClient) -> None:
    answer = plain.post("/body", content=json.dumps({"number": 1}).encode("utf-16"), headers=JSON)
    assert answer.status_code == 400
