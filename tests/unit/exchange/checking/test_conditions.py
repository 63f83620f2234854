"""What a condition tells by itself: dates, ages and ZIP codes in too much detail, and who must be in the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import polars as pl
import pytest

from kohorte.exchange.checking.check import Check
from kohorte.exchange.checking.conditions.detail import tells_too_much
from kohorte.exchange.holding import Holding
from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.request.conditions import condition_from
from kohorte.identifiers import Form
from kohorte.plans import Plan
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
TODAY = date(2026, 11, 17)
DEFAULT, HIPAA = CheckPolicy.named("default"), CheckPolicy.named("hipaa-safe-harbor")
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}


@pytest.mark.parametrize(
    ("policy", "form", "comparison", "too_much"),
    [
        (DEFAULT, Form.AGE, {"is": 89}, False),
        (DEFAULT, Form.AGE, {"is": "92"}, True),
        (DEFAULT, Form.AGE, {"in": ["47", "91"]}, True),
        (DEFAULT, Form.AGE, {"is": "40-49"}, False),
        (DEFAULT, Form.AGE, {"is": "90-94"}, True),
        (DEFAULT, Form.AGE, {"is": "90+"}, False),
        (DEFAULT, Form.AGE, {"at_least": 90}, False),
        (DEFAULT, Form.AGE, {"at_least": 91}, True),
        (DEFAULT, Form.AGE, {"at_most": 89}, False),
        (DEFAULT, Form.AGE, {"at_most": 95}, True),
        (DEFAULT, Form.AGE, {"starts_with": "9"}, True),
        (DEFAULT, Form.AGE, {"is": "very old"}, True),
        (DEFAULT, Form.DATE, {"is": "2026-05-17"}, True),
        (DEFAULT, Form.DATE, {"is": "2026-05"}, False),
        (HIPAA, Form.DATE, {"is": "2026-05"}, True),
        (HIPAA, Form.DATE, {"is": 2026}, False),
        (DEFAULT, Form.DATE, {"at_least": "2026-05-01"}, False),
        (DEFAULT, Form.DATE, {"at_least": "2026-05-02"}, True),
        (DEFAULT, Form.DATE, {"at_most": "2026-05-31"}, False),
        (DEFAULT, Form.DATE, {"at_most": "2026-12-31"}, False),
        (DEFAULT, Form.DATE, {"at_most": "2026-05-30"}, True),
        (HIPAA, Form.DATE, {"at_least": "2026-05-01"}, True),
        (HIPAA, Form.DATE, {"at_least": "2026-01-01"}, False),
        (DEFAULT, Form.DATE, {"starts_with": "2026-05"}, False),
        (HIPAA, Form.DATE, {"starts_with": "2026-0"}, True),
        (HIPAA, Form.DATE, {"starts_with": "202"}, False),
        (DEFAULT, Form.DATE, {"starts_with": "2026-05-1"}, True),
        (DEFAULT, Form.DATE, {"is": "17.05.2026"}, True),
        (DEFAULT, Form.DATE, {"is": "2026-13-01"}, True),
        (DEFAULT, Form.DATE, {"at_most": "9999-12-31"}, True),
        (DEFAULT, Form.BIRTH, {"is": "1930"}, False),
        (DEFAULT, Form.BIRTH, {"is": "1980-05"}, True),
        (HIPAA, Form.BIRTH, {"is": "1930"}, True),
        (HIPAA, Form.BIRTH, {"at_most": "1936-12-31"}, False),
        (HIPAA, Form.BIRTH, {"starts_with": "193"}, True),
        (DEFAULT, Form.ZIP, {"starts_with": "101"}, False),
        (DEFAULT, Form.ZIP, {"is": "10117"}, True),
        (DEFAULT, Form.ZIP, {"at_least": 10117}, True),
        (HIPAA, Form.ZIP, {"starts_with": "1"}, True),
    ],
)
def test_a_condition_tells_no_more_than_an_answer_may_show(
    policy: CheckPolicy, form: Form, comparison: dict[str, Any], too_much: bool
) -> None:
    one = condition_from({"attribute": "x", **comparison})
    assert tells_too_much(one, form, policy, TODAY) is too_much


OLD = patients(1_400, people=700, treated=350).with_columns(
    age=pl.when(pl.col("patient") < "P0000400").then(pl.lit("92")).otherwise(pl.col("age"))
)


@pytest.mark.parametrize(
    "condition",
    [
        {"attribute": "age", "is": 92},
        {"not": {"attribute": "age", "is": 92}},
        {"any": [METHADONE, {"attribute": "age", "at_least": 91}]},
    ],
)
def test_a_condition_by_an_age_over_89_is_not_answered_although_enough_people_have_it(
    check: Checked, condition: dict[str, Any]
) -> None:
    found = check(request(condition, ("sex", "diagnosis")), OLD)
    assert found.draft is None
    assert any("in more detail than the policy" in reason for reason in found.record["recommendation"]["reasons"])


def admitted() -> tuple[pl.DataFrame, Holding]:
    table = patients(1_400, people=700, treated=350).with_columns(
        admitted=pl.concat_str(
            pl.lit("2026-0"),
            (pl.col("age").cast(pl.Int64) % 3 + 1).cast(pl.String),
            pl.lit("-1"),
            pl.col("age").str.tail(1),
        )
    )
    dates = {"role": "quasi-identifying", "hierarchy": {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year"]}}}
    plan = Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], "admitted": dates}})
    return table, replace(holding(), plan=plan)


def test_a_condition_by_whole_months_is_answered_and_one_by_days_is_not(check: Checked) -> None:
    table, house = admitted()
    months = {"attribute": "admitted", "at_least": "2026-02-01"}
    days = {"attribute": "admitted", "at_least": "2026-02-14"}
    assert check(request(months, ("sex", "diagnosis")), table, house).draft is not None
    assert check(request(days, ("sex", "diagnosis")), table, house).draft is None


def test_a_month_with_few_patients_is_not_asked_for(check: Checked) -> None:
    table, house = admitted()
    few = pl.col("patient") < "P0000012"
    table = table.with_columns(admitted=pl.when(few).then(pl.lit("2026-09-01")).otherwise(pl.col("admitted")))
    found = check(request({"attribute": "admitted", "at_most": "2026-08-31"}, ("sex", "diagnosis")), table, house)
    assert found.draft is None
    assert "can fit fewer than 20 people" in found.record["draft"]["reason"]


def test_if_everybody_of_a_known_age_is_treated_a_condition_by_this_age_tells_nothing(check: Checked) -> None:
    """Shown by their sex only, the treated people of 60 and more hide among all patients, but not among those of 60."""
    table = patients(2000, people=1500, treated=0)
    old = pl.col("age").cast(pl.Int64) >= 60
    table = table.with_columns(drug=pl.when(old).then(pl.lit("methadone")).otherwise(pl.col("drug")))
    older = {"attribute": "age", "at_least": 60}
    assert check(request(METHADONE, ("sex", "diagnosis")), table).draft is not None
    assert check(request({"all": [METHADONE, older]}, ("sex", "diagnosis")), table).draft is None


def test_the_beginning_of_a_code_is_as_frequent_as_its_most_frequent_code(check: Checked) -> None:
    found = check(request({"attribute": "diagnosis", "starts_with": "I"}, ("age", "sex")), OLD)
    assert found.record["global look-up"]["condition_share"] >= 0.1
    assert found.record["global look-up"]["needed_people"] == 30
