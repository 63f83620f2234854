"""Policies: read strictly, weighed as written."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.risks.policy import MEASURES

PLAN = ko.Plan(attributes={"a": {"role": "quasi-identifying"}}, models=[KAnonymity(2)])
TABLE = pl.DataFrame({"a": ["x", "x", "y", "y", "y", "y"]})


def test_the_weighted_risk_is_the_weighted_mean():
    policy = ko.RiskPolicy({"highest_prosecutor_risk": 3, "prosecutor_attacker_success_rate": 1}, limit=0.5)
    weighted = ko.risk(TABLE, PLAN, policy=policy).weighted
    assert weighted.risk == pytest.approx((3 * 0.5 + 1 / 3) / 4)
    assert weighted.within_limit
    assert weighted.to_dict()["parts"][0] == {"measure": "highest_prosecutor_risk", "weight": 3.0, "figure": 0.5}


def test_every_measure_of_appendix_e_can_be_weighed():
    profile = ko.risk(TABLE, PLAN, population_size=60)
    assert set(MEASURES) == set(profile.measures)
    policy = ko.RiskPolicy(dict.fromkeys(MEASURES, 1))
    expected = sum(profile.measures.values()) / len(MEASURES)
    assert ko.risk(TABLE, PLAN, population_size=60, policy=policy).weighted.risk == pytest.approx(expected)
    assert all(0 <= figure <= 1 for figure in profile.measures.values())


def test_a_risk_above_the_limit_is_said_to_be():
    policy = ko.RiskPolicy({"highest_prosecutor_risk": 1}, limit=0.49)
    assert ko.risk(TABLE, PLAN, policy=policy).weighted.within_limit is False


def test_a_measure_of_the_population_needs_one():
    policy = ko.RiskPolicy({"population_uniques": 1})
    with pytest.raises(ko.InputError) as caught:
        ko.risk(TABLE, PLAN, policy=policy)
    assert caught.value.code == "policy-needs-population"
    assert ko.risk(TABLE, PLAN, policy=policy, sampling_fraction=0.1).weighted.risk == 0


def test_a_policy_goes_through_yaml_and_back(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("kohorte: 1\nweights: {sample_uniques: 1, lowest_risk: 0.5}\nlimit: 0.1\n")
    policy = ko.RiskPolicy.from_yaml(path)
    assert policy == ko.RiskPolicy({"sample_uniques": 1, "lowest_risk": 0.5}, limit=0.1)
    assert ko.RiskPolicy.from_dict(policy.to_dict()) == policy
    assert eval(repr(policy), {"RiskPolicy": ko.RiskPolicy}) == policy


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("weights: {sample_uniques: 1}", "policy-version"),
        ("kohorte: 2\nweights: {sample_uniques: 1}", "policy-version"),
        ("kohorte: 1", "policy-incomplete"),
        ("kohorte: 1\nweights: []", "policy-incomplete"),
        ("kohorte: 1\nweights: {sample_unique: 1}", "policy-measure"),
        ("kohorte: 1\nweights: {sample_uniques: -1}", "policy-weight"),
        ("kohorte: 1\nweights: {sample_uniques: 0}", "policy-weight"),
        ("kohorte: 1\nweights: {sample_uniques: yes}", "policy-weight"),
        ("kohorte: 1\nweights: {sample_uniques: 1}\nlimit: 2", "policy-limit"),
        ("kohorte: 1\nweight: {sample_uniques: 1}", "policy-unknown-key"),
        ("kohorte: 1\nkohorte: 1", "policy-yaml"),
        ("[1]", "policy-yaml"),
    ],
)
def test_a_wrong_policy_is_refused(tmp_path, text, code):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    with pytest.raises(ko.InputError) as caught:
        ko.RiskPolicy.from_yaml(path)
    assert caught.value.code == code


def test_a_policy_that_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "policy.yaml"
    for wrong in (path, tmp_path):
        with pytest.raises(ko.InputError) as caught:
            ko.RiskPolicy.from_yaml(wrong)
        assert caught.value.code == "policy-unreadable"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ko.InputError, match="UTF-8"):
        ko.RiskPolicy.from_yaml(path)
