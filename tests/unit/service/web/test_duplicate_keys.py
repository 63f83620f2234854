"""Keys that occur twice in one object are refused at any depth, by their position and without their name."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from kohorte.service.web.middleware.duplicate_keys import duplicate_key

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('{"a": 1, "a": 1}', "line 1, column 10"),
        ('{"a": {"b": [1, {"c": 1,\n "c": 2}]}}', "line 2, column 2"),
        ('[[[[{"x": [], "y": {}, "x": 0}]]]]', "line 1, column 24"),
        ('{"a": 1, "\\u0061": 2}', "line 1, column 10"),
        ('{"\\"": "{", "}": "[", "\\"": ","}', "line 1, column 23"),
        ('{"": 1, "": 2}', "line 1, column 9"),
        ('{"a": {"a": 1, "b": {"a": 1}}, "b": [{"a": 1}, {"a": 1}], "a": 2}', "line 1, column 59"),
        ('{"a": "a", "b": ["a", "a"], "c": "a"}', None),
        ('{"a": {"a": {"a": 1}}}', None),
        ('{"a": 1, "a": ', None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_the_second_occurrence_is_found_where_it_is(body: str, place: str | None) -> None:
    assert duplicate_key(body.encode()) == place


def test_a_body_with_a_key_twice_is_refused_without_showing_the_key(plain: TestClient) -> None:
    body = '{"number": 1, "anything": {"Lung disease": [], "Lung disease": []}}'
    answer = plain.post("/body", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")
    reason = "line 1, column 48: this key occurs twice in its object"
    assert answer.json()["errors"] == [{"place": "body", "reason": reason}]
    assert "Lung" not in answer.text


def test_a_large_body_is_checked_as_well(plain: TestClient) -> None:
    body = '{"number": 1, "anything": [%s 0], "number": 1}' % ("1," * 30_000)
    assert plain.post("/body", content=body, headers=JSON).status_code == 400
    assert plain.post("/body", content=body.replace(', "number": 1}', "}"), headers=JSON).status_code == 200


keys = st.text(alphabet='ab"\\{}[],:é ', max_size=3)
values = st.recursive(
    st.none() | st.integers() | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
)


@given(values, st.booleans())
def test_json_without_duplicates_is_accepted(value: object, escaped: bool) -> None:
    assert duplicate_key(json.dumps(value, ensure_ascii=escaped).encode()) is None


@given(st.dictionaries(keys, values, min_size=1, max_size=4), keys, values, st.data())
def test_a_repeated_pair_is_found_at_any_depth(
    found: dict[str, object], around: str, other: object, data: st.DataObject
) -> None:
    again = data.draw(st.sampled_from(sorted(found)))
    inner = f"{json.dumps(found)[:-1]}, {json.dumps(again)}: {json.dumps(other)}}}"
    body = f"[{json.dumps(other)}, {{{json.dumps(around)}: "
    place = duplicate_key(f"{body}{inner}}}]".encode())
    expected = len(body) + len(json.dumps(found)) + 2
    assert place == f"line 1, column {expected}"
