"""Hierarchies that are made, and hierarchies that are stored."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from kohorte.errors import InputError
from kohorte.hierarchies import Dates, Ordering, Redaction, Rows, Tree
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies as stored_hierarchies
from kohorte.service.datasets import transformations
from kohorte.service.datasets.transformations import Interval, hierarchy_rows, labelled_intervals
from kohorte.service.storage import schema

from .conftest import Steward, UploadService

AGES = [Interval("young", 0, 18), Interval("adult", 18, 70), Interval("elderly", 70, 100)]
INTERVALS = [{"label": entry.label, "min": entry.least, "max": entry.most} for entry in AGES]
WORDS = st.text(st.characters(codec="ascii", exclude_characters="*", exclude_categories=["Cc"]), min_size=1, max_size=6)


def column(*values: str | None, name: str = "x") -> pl.Series:
    return pl.Series(name, values, dtype=pl.String)


def refused(*arguments: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        hierarchy_rows(*arguments)
    return caught.value


# Made


def test_redaction_is_answered_as_in_the_appendix() -> None:
    assert hierarchy_rows(Redaction(), column("81668", "81667", None, "81667")) == [
        ["81667", "8166*", "816**", "81***", "8****", "*****"],
        ["81668", "8166*", "816**", "81***", "8****", "*****"],
    ]
    assert hierarchy_rows(Redaction(order="left_to_right"), column("123")) == [["123", "*23", "**3", "***"]]


@given(st.lists(WORDS, min_size=1, max_size=20), st.sampled_from(["right_to_left", "left_to_right"]))
def test_redaction_shows_what_plain_python_shows(values: list[str], order: str) -> None:
    length = max(map(len, values))
    expected = []
    for value in sorted(set(values)):
        full = value.ljust(length) if order == "right_to_left" else value.rjust(length)
        masked = [
            full[: length - level] + "*" * level if order == "right_to_left" else "*" * level + full[level:]
            for level in range(1, length + 1)
        ]
        expected.append([value, *masked])
    assert hierarchy_rows(Redaction(order=order), column(*values)) == expected


def test_intervals_are_answered_as_in_the_appendix() -> None:
    rows = hierarchy_rows(labelled_intervals(AGES), column("28", None, "71", "13"))
    assert rows == [["13", "young", "*"], ["28", "adult", "*"], ["71", "elderly", "*"]]


def test_the_lower_end_belongs_to_an_interval_and_the_upper_does_not() -> None:
    rows = hierarchy_rows(labelled_intervals(AGES), column("17.9", "18", "0", "5", "99"))
    assert [row[:2] for row in rows] == [
        ["0", "young"],
        ["5", "young"],
        ["17.9", "young"],
        ["18", "adult"],
        ["99", "elderly"],
    ]


@pytest.mark.parametrize(
    ("intervals", "place"),
    [
        ([Interval("a", 0, 10), Interval("b", 9, 20)], "intervals[1]: overlaps with intervals[0]"),
        ([Interval("a", 11, 20), Interval("b", 0, 10)], "intervals[0]: leaves a gap after intervals[1]"),
        ([Interval("a", 0, 0)], "intervals[0]: min must be below max"),
        ([Interval("a", 0, 5), Interval("b", 7, 6)], "intervals[1]: min must be below max"),
        ([Interval("a", 0, 5), Interval("a", 5, 6)], "labels"),
        ([Interval("*", 0, 5)], "labels"),
    ],
)
def test_intervals_that_do_not_lie_side_by_side_are_refused_with_their_place(
    intervals: list[Interval], place: str
) -> None:
    with pytest.raises(InputError) as caught:
        labelled_intervals(intervals)
    assert place in caught.value.message


@pytest.mark.parametrize("value", ["100", "-1", "Zoe", "*"])
def test_a_value_without_a_place_is_refused_by_its_row(value: str) -> None:
    error = refused(labelled_intervals(AGES), column("13", None, value, value))
    assert error.code == "value-not-in-hierarchy"
    assert "1 of its values, in 2 rows (first rows: 3, 4)" in error.message
    assert "Zoe" not in error.message


def test_what_a_plan_builds_can_be_made_too() -> None:
    assert hierarchy_rows(Dates(format="%d.%m.%Y", levels=["year"]), column("17.02.2024")) == [
        ["17.02.2024", "2024", "*"]
    ]
    assert hierarchy_rows(Ordering(by="number", fanouts=[2]), column("10", "9")) == [
        ["9", "9 – 10", "*"],
        ["10", "9 – 10", "*"],
    ]
    assert hierarchy_rows(Tree({"A": ["x", "y"]}), column("y")) == [["x", "A", "*"], ["y", "A", "*"]]
    assert hierarchy_rows(Rows.from_csv("x;A\ny;A\nz;B\n"), column("y")) == [
        ["x", "A", "*"],
        ["y", "A", "*"],
        ["z", "B", "*"],
    ]


def test_a_hierarchy_that_would_be_huge_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformations, "MOST_CELLS", 100)
    values = column(*(str(value) for value in range(1000, 1026)))
    assert refused(Redaction(), values).code == "hierarchy-too-large"


@pytest.mark.parametrize(
    ("request_body", "expected"),
    [
        (
            {"transformation_type": "redaction", "attribute_name": "zip_code", "redaction_order": "right_to_left"},
            [
                ["81667", "8166*", "816**", "81***", "8****", "*****"],
                ["81668", "8166*", "816**", "81***", "8****", "*****"],
            ],
        ),
        (
            {"transformation_type": "interval", "attribute_name": "age", "intervals": INTERVALS},
            [["13", "young", "*"], ["28", "adult", "*"], ["71", "elderly", "*"]],
        ),
        (
            {"transformation_type": "order", "attribute_name": "disease", "values": ["flu", "gout"], "fanouts": [2]},
            [["flu", "flu – gout", "*"], ["gout", "flu – gout", "*"]],
        ),
        (
            {"transformation_type": "tree", "attribute_name": "disease", "tree": {"any": ["flu", "gout"]}},
            [["flu", "any", "*"], ["gout", "any", "*"]],
        ),
        (
            {"transformation_type": "csv", "attribute_name": "disease", "csv": "flu;any;*\ngout;any;*\n"},
            [["flu", "any", "*"], ["gout", "any", "*"]],
        ),
    ],
)
def test_hierarchies_are_made_over_http(
    uploads: UploadService, request_body: dict[str, Any], expected: list[list[str]]
) -> None:
    mary = uploads.steward
    number = mary.uploaded()
    answer = mary.post(f"/datasets/{number}/create-generalization-hierarchy", json=request_body)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"hierarchy": expected}
    assert mary.put(f"/datasets/{number}/hierarchies/{request_body['attribute_name']}", json=answer.json()).is_success


def test_a_request_that_is_wrong_is_refused_with_its_place(uploads: UploadService) -> None:
    mary = uploads.steward
    number = mary.uploaded()
    redaction = {"transformation_type": "redaction", "attribute_name": "zip_code"}
    interval = {"transformation_type": "interval", "attribute_name": "age"}
    for body, status, place in [
        (redaction | {"attribute_name": "zip_cod"}, 400, "attribute_name"),
        (redaction | {"redaction_order": "up"}, 400, "redaction_order"),
        (redaction | {"length": 101}, 400, "length"),
        (redaction | {"length": 2}, 400, "first rows: 1, 2"),
        (redaction | {"intervals": INTERVALS}, 400, "intervals"),
        (redaction | {"transformation_type": "Zoe"}, 400, "redaction"),
        ({"attribute_name": "age"}, 400, "body"),
        (interval, 400, "intervals"),
        (interval | {"intervals": []}, 400, "intervals"),
        (interval | {"intervals": INTERVALS[:2]}, 400, "first rows: 3"),
        (interval | {"intervals": INTERVALS[::2]}, 400, "intervals[1]"),
        (interval | {"intervals": [{"label": "a", "min": "Zoe", "max": 3}]}, 400, "min"),
        ({"transformation_type": "date", "attribute_name": "age", "levels": ["week", "year"]}, 400, "week"),
        ({"transformation_type": "date", "attribute_name": "age", "format": "%q"}, 400, "format"),
        ({"transformation_type": "tree", "attribute_name": "disease", "tree": {"any": ["flu"]}}, 400, "first rows: 2"),
        ({"transformation_type": "csv", "attribute_name": "disease", "csv": 'flu;"'}, 400, "line 1"),
        ({"transformation_type": "csv", "attribute_name": "disease", "csv": "flu;a;*\ngout;*\n"}, 400, "row 2"),
    ]:
        answer = mary.post(f"/datasets/{number}/create-generalization-hierarchy", json=body)
        assert (answer.status_code, place in answer.text, "Zoe" in answer.text) == (status, True, False), answer.text
    assert mary.post("/datasets/999/create-generalization-hierarchy", json=redaction).status_code == 404


# Stored


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"flu;any;*\ngout;any;*\n", "text/csv"),
        (b"\xef\xbb\xbfflu;any;*\r\ngout;any;*", "text/csv; charset=utf-8"),
        (b'{"hierarchy": [["flu", "any", "*"], ["gout", "any", "*"]]}', "application/json"),
    ],
)
def test_a_hierarchy_is_stored_sealed_and_given_back(
    mary: Steward, service: Service, content: bytes, content_type: str
) -> None:
    path = f"/datasets/{mary.uploaded()}/hierarchies/disease"
    rows = [["flu", "any", "*"], ["gout", "any", "*"]]
    first = mary.put(path, content=content, headers={"Content-Type": content_type})
    assert first.status_code == 201, first.text
    assert first.headers["location"] == f"/api/v1{path}"
    assert first.json() == {"attribute_name": "disease", "levels": 3, "values": 2}
    assert mary.put(path, content=content, headers={"Content-Type": content_type}).status_code == 200
    assert mary.get(path).json() == {"hierarchy": rows}
    with service.database.reading() as connection:
        sealed = connection.execute(select(schema.hierarchies.c.sealed)).scalar_one()
        assert stored_hierarchies.stored(service, connection, 1) == {"disease": rows}
    assert b"flu" not in bytes(sealed)
    assert mary.get("/datasets/1/proposal").json()["columns"][2]["hierarchy_stored"] is True
    assert mary.delete(path).status_code == 204
    assert mary.get(path).status_code == 404
    assert mary.delete(path).status_code == 404


@pytest.mark.parametrize(
    ("content", "content_type", "status", "code"),
    [
        (b"flu;any;*\n", "text/csv", 400, "value-not-in-hierarchy"),
        (b"flu;any;*\ngout;*\n", "text/csv", 400, "hierarchy-ragged-levels"),
        (b"flu;any;*\nflu;any;*\n", "text/csv", 400, "hierarchy-duplicate-values"),
        (b"flu;any;a;*\ngout;any;b;*\n", "text/csv", 400, "hierarchy-not-monotone"),
        (b"", "text/csv", 400, "hierarchy-option-invalid"),
        (b"\xff", "text/csv", 400, "hierarchy-file-encoding"),
        (b"flu", "text/plain", 415, "hierarchy-content-type"),
        (b'{"hierarchy": 5}', "application/json", 400, "invalid-request"),
        (b'{"hierarchy": [[1.5]]}', "application/json", 400, "invalid-request"),
        (b'{"hierarchy": [["flu", "*"]], "x": 1}', "application/json", 400, "invalid-request"),
        (b"{", "application/json", 400, "invalid-request"),
        (b"[" * 100_000, "application/json", 400, "body-too-deep"),
        (b"flu;" * (5 << 20), "text/csv", 413, "body-too-large"),
    ],
)
def test_a_hierarchy_that_does_not_fit_is_not_stored(
    uploads: UploadService, content: bytes, content_type: str, status: int, code: str
) -> None:
    number = uploads.steward.uploaded()
    path = f"/datasets/{number}/hierarchies/disease"
    answer = uploads.steward.put(path, content=content, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "gout" not in answer.text
    with uploads.service.database.reading() as connection:
        assert stored_hierarchies.stored(uploads.service, connection, number) == {}


def test_a_column_may_have_any_name(mary: Steward) -> None:
    from urllib.parse import quote

    name = "größe (mg/dl) 100%"
    number = mary.uploaded(f"{name},b\n1,2\n".encode())
    path = f"/datasets/{number}/hierarchies/{quote(name, safe='')}"
    assert mary.put(path, json={"hierarchy": [["1", "*"]]}).headers["location"] == f"/api/v1{path}"
    assert mary.get(path).json() == {"hierarchy": [["1", "*"]]}


@pytest.mark.parametrize("attribute", ["nothing", "", "%00", "x" * 2000])
def test_a_column_that_is_not_there_has_no_hierarchy(uploads: UploadService, attribute: str) -> None:
    mary = uploads.steward
    path = f"/datasets/{mary.uploaded()}/hierarchies/{attribute}"
    statuses = {mary.put(path, json={"hierarchy": [["1", "*"]]}).status_code, mary.get(path).status_code}
    assert statuses <= {400, 404}
    assert mary.delete(path).status_code in (400, 404)
