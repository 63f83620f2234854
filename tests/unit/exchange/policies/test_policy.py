"""Policies of the release check: complete files, valid thresholds, and identifiers that no policy lets through."""

from __future__ import annotations

from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.exchange.policies import POLICIES, BaseSet, CheckPolicy
from kohorte.identifiers import Form

DEFAULT = CheckPolicy.named("default")


def changed(**values: object) -> CheckPolicy:
    return CheckPolicy.from_dict(DEFAULT.to_dict() | values)


def test_the_named_policies_are_those_of_the_laws() -> None:
    assert POLICIES == ("austria", "default", "gdpr-wp216", "hipaa-expert", "hipaa-safe-harbor")


@pytest.mark.parametrize("name", POLICIES)
def test_a_named_policy_is_read_back_from_its_own_data(name: str) -> None:
    policy = CheckPolicy.named(name)
    assert policy.name == name
    assert CheckPolicy.from_dict(policy.to_dict()) == policy
    assert policy.deciders == 2
    assert policy.k >= 5


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_lets_direct_identifiers_unique_codes_or_free_text_through(name: str) -> None:
    assert {Form.DIRECT, Form.UNIQUE, Form.FREE_TEXT} <= set(CheckPolicy.named(name).dropped)


def test_a_policy_without_a_threshold_is_refused() -> None:
    for name in DEFAULT.to_dict():
        data = {key: value for key, value in DEFAULT.to_dict().items() if key != name}
        with pytest.raises(InputError) as caught:
            CheckPolicy.from_dict(data)
        assert caught.value.code in ("exchange-policy-key", "exchange-policy-yaml")


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1}, {"k": True}, {"l": 0}, {"deciders": 1}, {"rare_value": 0}, {"rare_combination": 1}, {"gaps": "zero"},
        {"largest_share": 1.5}, {"most_removed": 1}, {"statistics_years": 0}, {"never": ["names"]}, {"never": "place"},
        {"finest": {"date": "year"}}, {"together": "nobody"}, {"longest_days": 0}, {"name": ""}, {"law": "a\nb"},
        {"finest": {"date": "day", "birth": "year", "zip": 3, "age": 89}},
        {"base_set": 5}, {"base_set": {"always": 1, "unknown": 5}}, {"base_set": {"always": 9}},
        {"base_set": {"always": 30, "rarer_than": {"0.1": 20}, "unknown": 5}},
        {"base_set": {"always": 30, "rarer_than": {"two": 40}, "unknown": 5}},
        {"base_set": {"always": 30, "rarer_than": {"1.5": 40}, "unknown": 5}},
    ],
    ids=str,
)  # fmt: skip
def test_a_threshold_out_of_its_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        changed(**wrong)
    assert caught.value.code == "exchange-policy-value"


def test_an_unknown_threshold_or_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        changed(kk=5)
    assert caught.value.code == "exchange-policy-key"
    with pytest.raises(InputError, match="austria") as caught:
        CheckPolicy.named("austrian")
    assert caught.value.code == "exchange-policy-unknown"
    (tmp_path / "p.yaml").write_text("- 1\n")
    with pytest.raises(InputError) as caught:
        CheckPolicy.from_yaml(tmp_path / "p.yaml")
    assert caught.value.code == "exchange-policy-yaml"


def test_the_rarer_a_condition_the_more_people_are_needed() -> None:
    rule = BaseSet(30, ((0.01, 50), (0.0001, 300)), 100)
    assert [rule.needed(share) for share in (0.5, 0.01, 0.009, 0.00001, None)] == [30, 30, 50, 300, 100]


@pytest.mark.parametrize("name", POLICIES)
def test_no_shipped_policy_lets_a_place_smaller_than_a_state_into_an_answer(name: str) -> None:
    assert Form.PLACE in CheckPolicy.named(name).dropped
