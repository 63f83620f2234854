"""Which algorithms of a comparison have a release."""

import polars as pl

import kohorte as ko
from kohorte.models import (
    SafeHarborRule,
)
from support.recodings import QUASI


def test_a_comparison_does_not_list_as_releases_what_anonymize_refuses():
    table = pl.DataFrame({"age": [str(n % 50 + 20) for n in range(60)], "sex": ["f", "m"] * 30})
    plan = ko.Plan(attributes={"age": QUASI, "sex": QUASI}, models=[SafeHarborRule()])
    comparison = ko.compare_algorithms(table, plan, algorithms=["optimal", "mondrian"], queries=10)
    assert {one.algorithm: one.released for one in comparison.outcomes} == {"optimal": True, "mondrian": False}
