"""Requests: read strictly, hashed by content, and their conditions compared with an oracle in plain Python."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.exchange.request import Request, condition_from, selected_rows

REQUEST: dict[str, Any] = {
    "kohorte": 1,
    "requester": {"name": "Dr. Xaver Neumann", "institution": "Institute A"},
    "purpose": "Effect of drug X by age and occupation",
    "attributes": ["age", "sex", "occupation"],
    "condition": {"all": [{"attribute": "drug", "is": "X"}, {"not": {"attribute": "age", "at_most": 17}}]},
    "until": "2026-12-31",
}


def test_a_request_is_the_same_in_yaml_and_json_and_in_any_layout(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("# a comment\n" + strict_yaml.dump(REQUEST))
    (tmp_path / "a.json").write_text(json.dumps(REQUEST, indent=3))
    one, other = Request.from_file(tmp_path / "a.yaml"), Request.from_file(tmp_path / "a.json")
    assert one == other == Request.from_dict(one.to_dict())
    assert one.fingerprint() == other.fingerprint()


def test_any_change_of_a_request_changes_its_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"purpose": "another"}, {"until": "2026-12-30"}, {"attributes": ["sex", "age", "occupation"]},
        {"condition": {"attribute": "drug", "is": "X"}}, {"requester": {"name": "B", "institution": "Institute A"}},
    ]  # fmt: skip
    hashes = {Request.from_dict(REQUEST | change).fingerprint() for change in [{}, *changes]}
    assert len(hashes) == len(changes) + 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": ""}, {"attributes": []}, {"attributes": ["age", "age"]}, {"attributes": "age"}, {"until": "soon"},
        {"requester": "A"}, {"requester": {"name": "A"}}, {"attributes": [3]},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_value_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Request.from_dict(REQUEST | wrong)
    assert caught.value.code == "exchange-request-value"


@pytest.mark.parametrize(
    "data", [[], {"kohorte": 2}, REQUEST | {"sql": "1=1"}, {"kohorte": 1, "purpose": "x"}], ids=str
)
def test_what_is_not_a_request_is_refused(data: object) -> None:
    with pytest.raises(InputError) as caught:
        Request.from_dict(data)
    assert caught.value.code == "exchange-request-yaml"


@pytest.mark.parametrize(
    "condition",
    [
        "drug = 'X'", {}, {"all": []}, {"all": {}}, {"attribute": "drug"},
        {"attribute": "drug", "is": "X", "in": ["Y"]},
        {"attribute": "drug", "in": []}, {"attribute": "drug", "is": ""}, {"attribute": "drug", "is": None},
        {"attribute": "drug", "like": "%"}, {"either": []}, {"all": [{"attribute": "a", "is": "b"}], "any": []},
        {"attribute": "drug", "starts_with": 3}, {"attribute": "drug", "is": "a\nb"}, {"attribute": "drug", "is": True},
        {"any": [{"attribute": "drug", "is": "X"}] * 101}, {"attribute": "age", "at_most": 10**400},
    ],
    ids=lambda condition: str(condition)[:60],
)  # fmt: skip
def test_a_wrong_condition_is_refused(condition: object) -> None:
    with pytest.raises(InputError) as caught:
        Request.from_dict(REQUEST | {"condition": condition})
    assert caught.value.code == "exchange-request-condition"


def test_a_condition_that_is_nested_too_deeply_is_refused() -> None:
    condition: dict[str, Any] = {"attribute": "drug", "is": "X"}
    for _ in range(9):
        condition = {"not": condition}
    with pytest.raises(InputError, match="deep"):
        condition_from(condition)


def test_a_request_is_valid_through_its_last_day_and_not_for_too_long() -> None:
    request = Request.from_dict(REQUEST)
    request.refuse_expired(date(2026, 12, 31))
    request.refuse_too_long(date(2026, 12, 1), 30)
    for refuse in (
        lambda: request.refuse_expired(date(2027, 1, 1)),
        lambda: request.refuse_too_long(date(2026, 11, 30), 30),
    ):
        with pytest.raises(InputError) as caught:
            refuse()
        assert caught.value.code == "exchange-request-expired"


def test_a_condition_can_be_read_aloud() -> None:
    assert Request.from_dict(REQUEST).condition.in_words == "drug is X and (not (age is at most 17))"


FRAME = pl.DataFrame(
    {
        "drug": ["X", "x ", "Y", None, "XL", "1e3", "X", "Z"],
        "age": ["30", "17", "5", "30.0", None, "90", "8", "44"],
        "day": ["2026-01-01", "2026-05-05", None, "2025-12-31", "2026-01-02", "2024-02-29", "2026-01-01", "2020-02-02"],
    }
)


def oracle(row: Mapping[str, str | None], condition: Mapping[str, Any]) -> bool:
    """Whether a row satisfies a condition, written down without a line of the package."""
    if "all" in condition:
        return all(oracle(row, part) for part in condition["all"])
    if "any" in condition:
        return any(oracle(row, part) for part in condition["any"])
    if "not" in condition:
        return not oracle(row, condition["not"])
    cell = row[condition["attribute"]]
    if cell is None:
        return False
    numeric = condition["attribute"] == "age"
    value = float(cell) if numeric else cell.strip().lower()
    as_cell = (lambda given: float(given)) if numeric else (lambda given: str(given).lower())
    if "is" in condition:
        return value == as_cell(condition["is"])
    if "in" in condition:
        return value in [as_cell(given) for given in condition["in"]]
    if "starts_with" in condition:
        return cell.strip().lower().startswith(condition["starts_with"].lower())
    return (
        value >= as_cell(condition["at_least"]) if "at_least" in condition else value <= as_cell(condition["at_most"])
    )


def made_up(dice: random.Random, depth: int) -> dict[str, Any]:
    kind = dice.choice(["all", "any", "not", "one", "one", "one"]) if depth else "one"
    if kind == "not":
        return {"not": made_up(dice, depth - 1)}
    if kind in ("all", "any"):
        return {kind: [made_up(dice, depth - 1) for _ in range(dice.randint(1, 3))]}
    return dice.choice(
        [
            {"attribute": "drug", "is": dice.choice(["X", "y", "none"])},
            {"attribute": "drug", "in": dice.sample(["X", "Y", "Z", "1000"], 2)},
            {"attribute": "drug", "starts_with": "x"},
            {"attribute": "age", "is": dice.choice([30, "30", 8])},
            {"attribute": "age", "at_least": dice.choice([8, 17.5, 30])},
            {"attribute": "age", "at_most": dice.choice(["9", 30])},
            {"attribute": "day", "at_least": "2026-01-01"},
            {"attribute": "day", "at_most": "2026-01-01"},
        ]
    )


def test_conditions_select_the_rows_that_the_oracle_selects() -> None:
    dice = random.Random(18)
    for _ in range(300):
        condition = made_up(dice, 3)
        expected = [oracle(row, condition) for row in FRAME.iter_rows(named=True)]
        assert selected_rows(FRAME, condition_from(condition)).to_list() == expected, condition


@pytest.mark.parametrize(
    "condition",
    [{"attribute": "drugs", "is": "X"}, {"attribute": "drug", "at_least": 3}, {"attribute": "day", "at_most": 3}],
)
def test_a_comparison_that_does_not_fit_the_column_is_refused_without_a_value(condition: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        selected_rows(FRAME, condition_from(condition))
    assert caught.value.code == "exchange-request-column"
    assert "XL" not in caught.value.message
