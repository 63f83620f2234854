"""The rules of the house: read strictly, and each broken rule named."""

from __future__ import annotations

from typing import Any

import pytest

from kohorte.data import Role
from kohorte.dp import Budget
from kohorte.errors import AccessDenied, InputError
from kohorte.models import DistinctLDiversity, EntropyLDiversity, KAnonymity, KMap, PrivacyModel, SafeHarborRule
from kohorte.service.house_rules import HouseRules, QuestionTerms, ReleaseTerms
from kohorte.service.problems import problem_of

ROLES = {"name": Role.IDENTIFYING, "zip": Role.QUASI_IDENTIFYING, "diagnosis": Role.SENSITIVE, "stage": Role.SENSITIVE}
FIVE = {"model": "k-anonymity", "k": 5}


def broken(rules: HouseRules, *models: PrivacyModel, roles: dict[str, Role] = ROLES) -> list[str]:
    return [breach.rule for breach in rules.breaches(ReleaseTerms(roles, models))]


def requiring(*entries: dict[str, Any]) -> HouseRules:
    return HouseRules.from_dict({"least_k": None, "required_models": list(entries)})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (5, "name: value"),
        ({"least": 5}, "did you mean 'least_k'"),
        ({"least_k": 0}, "least_k is a whole number from 1"),
        ({"least_k": True}, "least_k is a whole number from 1"),
        ({"least_k": 2.5}, "least_k is a whole number from 1"),
        ({"largest_epsilon": -1}, "largest_epsilon is a number"),
        ({"dataset_epsilon": "much"}, "dataset_epsilon is a number"),
        ({"largest_delta": 1}, "largest_delta is 0, or a number"),
        ({"dataset_delta": float("nan")}, "dataset_delta is 0, or a number"),
        ({"required_models": FIVE}, "required_models is a list"),
        ({"required_models": ["k-anonymity"]}, "is written as in a plan"),
        ({"required_models": [{"model": "k-anon", "k": 5}]}, "did you mean 'k-anonymity'"),
        ({"required_models": [{"model": "k-anonymity"}]}, "needs k"),
        ({"required_models": [{"model": "k-anonymity", "k": 1}]}, "promises nothing"),
        ({"required_models": [{"model": "k-map", "k": 3, "population": "all.csv"}]}, "cannot refer to a file"),
        ({"second_approver": "downloads"}, "second_approver is releases"),
    ],
)
def test_a_rule_that_is_not_understood_is_refused(data: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        HouseRules.from_dict(data)
    assert caught.value.code == "service-settings"


def test_rules_are_shown_as_they_are_written() -> None:
    written = {
        "least_k": 5,
        "largest_epsilon": 1.0,
        "largest_delta": None,
        "dataset_epsilon": 3.0,
        "dataset_delta": 1e-6,
        "required_models": [FIVE, {"model": "l-diversity_distinct", "l": 2}],
        "second_approver": "releases",
        "people": "counted",
    }
    assert HouseRules.from_dict(written).to_dict() == written
    assert HouseRules.from_dict({}) == HouseRules()


def test_classes_need_as_many_rows_as_the_rule_says_by_any_model() -> None:
    rules = HouseRules(least_k=5)
    assert broken(rules, KAnonymity(4)) == ["least_k"]
    assert broken(rules, KAnonymity(5)) == []
    assert broken(rules, DistinctLDiversity("diagnosis", l=5)) == []
    assert broken(rules, SafeHarborRule()) == ["least_k"]
    assert broken(HouseRules(least_k=None), SafeHarborRule()) == []


def test_by_default_nobody_stands_alone() -> None:
    assert broken(HouseRules(), KAnonymity(1)) == ["least_k"]
    assert broken(HouseRules(), KAnonymity(2)) == []


def test_a_stricter_model_satisfies_a_required_one_and_a_weaker_one_does_not() -> None:
    assert broken(requiring(FIVE), KAnonymity(10)) == []
    assert broken(requiring(FIVE), KAnonymity(4)) == ["required_models"]
    assert broken(requiring(FIVE), KMap(k=10, subset="flag")) == ["required_models"]


def test_a_model_without_an_attribute_is_required_for_every_sensitive_one() -> None:
    rules = requiring({"model": "l-diversity_distinct", "l": 2})
    both = DistinctLDiversity("diagnosis", l=2), EntropyLDiversity("stage", l=1.5)
    assert broken(rules, *both) == []
    assert broken(rules, both[0], KAnonymity(5)) == ["required_models"]
    [breach] = rules.breaches(ReleaseTerms(ROLES, both[:1]))
    assert "'stage'" in breach.reason
    assert "'diagnosis'" not in breach.reason


def test_declaring_nothing_sensitive_does_not_get_around_a_required_model() -> None:
    rules = requiring({"model": "l-diversity_distinct", "l": 2})
    assert broken(rules, KAnonymity(5), roles={"zip": Role.QUASI_IDENTIFYING}) == ["required_models"]


def test_a_model_of_one_attribute_is_required_wherever_the_attribute_is_released() -> None:
    rules = requiring({"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2})
    assert broken(rules, DistinctLDiversity("diagnosis", l=3)) == []
    assert broken(rules, KAnonymity(5)) == ["required_models"]
    assert broken(rules, KAnonymity(5), roles={"diagnosis": Role.INSENSITIVE}) == ["required_models"]
    assert broken(rules, KAnonymity(5), roles={"diagnosis": Role.IDENTIFYING}) == []
    assert broken(rules, KAnonymity(5), roles={"zip": Role.QUASI_IDENTIFYING}) == []


def test_a_model_of_a_population_is_compared_for_the_subset_of_the_plan() -> None:
    rules = requiring({"model": "k-map", "k": 5})
    assert broken(rules, KMap(k=6, subset="flag")) == []
    assert broken(rules, KMap(k=4, subset="flag")) == ["required_models"]
    named = requiring({"model": "k-map", "k": 5, "subset": "other"})
    assert broken(named, KMap(k=6, subset="flag")) == ["required_models"]


@pytest.mark.parametrize(
    ("budget", "rule"),
    [
        (Budget(3), "largest_epsilon"),
        (Budget(1, 1e-3), "largest_delta"),
        (Budget(2, 1e-5), None),
    ],
)
def test_the_budget_of_a_project_is_limited(budget: Budget, rule: str | None) -> None:
    rules = HouseRules(largest_epsilon=2, largest_delta=1e-5)
    assert next((breach.rule for breach in rules.breaches(QuestionTerms(budget))), None) == rule


def test_a_project_cannot_have_more_than_its_dataset() -> None:
    rules = HouseRules(largest_epsilon=None, dataset_epsilon=1, dataset_delta=1e-6, largest_delta=None)
    assert [breach.rule for breach in rules.breaches(QuestionTerms(Budget(2, 1e-5)))] == [
        "dataset_epsilon",
        "dataset_delta",
    ]


def test_a_refusal_names_the_rule() -> None:
    with pytest.raises(AccessDenied) as caught:
        HouseRules(least_k=7).refuse(ReleaseTerms(ROLES, (KAnonymity(3),)))
    told = problem_of(caught.value)
    assert (told["status"], told["code"], told["rule"]) == (403, "house-rule", "least_k")
    assert told["detail"] == "rule least_k: every class needs at least 7 rows; the models ask for 3"
