"""What happens to an attribute: as little as possible is dropped, and nothing of a column that nobody understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from kohorte.exchange.checking.check import Check
from kohorte.exchange.holding import Holding
from kohorte.plans import Plan
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
TABLE = patients(1_400, people=700, treated=350)
NUMBER = pl.col("patient").str.slice(1).cast(pl.Int64)


def with_column(name: str, role: str, hierarchy: dict[str, Any] | None = None, **policy: object) -> Holding:
    made = {"role": role} if hierarchy is None else {"role": role, "hierarchy": hierarchy}
    plan = Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], name: made}})
    return replace(holding(**policy), plan=plan)


def verdict(found: Check, name: str) -> dict[str, Any]:
    one: dict[str, Any] = next(one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == name)
    return one


def test_dates_of_birth_are_shown_as_years_although_nearly_everybody_has_another_one(check: Checked) -> None:
    days = pl.date(1950, 1, 1) + pl.duration(days=NUMBER * 7919 % 14000)
    table = TABLE.unique("patient", maintain_order=True).with_columns(birth_date=days.dt.to_string("%Y-%m-%d"))
    house = with_column(
        "birth_date", "quasi-identifying", {"dates": {"format": "%Y-%m-%d", "levels": ["month", "year", "decade"]}}
    )
    found = check(request(IBUPROFEN, ("birth_date", "sex")), table, house)
    assert found.draft is not None
    assert verdict(found, "birth_date")["treatment"] == "generalize"
    shown = found.draft.found.table.in_memory("test")["birth_date"]
    assert shown.str.contains(r"^(?:19|20)[0-9]{2}$|^(?:19|20)[0-9]0s$|–|-|,").all()
    assert (
        verdict(
            check(request(IBUPROFEN, ("birth_date",)), table, with_column("birth_date", "sensitive")), "birth_date"
        )["treatment"]
        == "drop"
    )


def test_a_few_very_old_people_are_left_out_so_that_the_others_keep_their_ages(check: Checked) -> None:
    table = TABLE.with_columns(age=pl.when(NUMBER.is_between(690, 696)).then(pl.lit("93")).otherwise(pl.col("age")))
    found = check(request(IBUPROFEN, ("age", "diagnosis")), table)
    assert found.draft is not None
    assert verdict(found, "age")["level"] < 3
    assert "7 people have a finer age than the policy allows: left out" in verdict(found, "age")["reasons"]
    assert "93" not in set(found.draft.rows.frame["age"])


def test_many_very_old_people_make_ages_coarser(check: Checked) -> None:
    table = TABLE.with_columns(age=pl.when(NUMBER % 8 == 0).then(pl.lit("93")).otherwise(pl.col("age")))
    assert verdict(check(request(IBUPROFEN, ("age", "diagnosis")), table), "age")["level"] == 3


def test_an_attribute_that_the_statistics_hardly_know_is_dropped_and_the_others_are_answered(check: Checked) -> None:
    codes = pl.when(NUMBER % 3 == 0).then(pl.lit("Z99")).otherwise(pl.col("diagnosis"))
    found = check(request(IBUPROFEN, ("age", "sex", "diagnosis")), TABLE.with_columns(diagnosis=codes))
    assert found.draft is not None
    assert verdict(found, "diagnosis")["treatment"] == "drop"
    assert "import statistics that know more values" in verdict(found, "diagnosis")["reasons"]


def test_if_attributes_together_cost_too_many_people_the_most_costly_one_is_dropped(check: Checked) -> None:
    table = TABLE.with_columns(
        occupation=pl.when(NUMBER % 7 == 0).then(pl.lit("member of parliament")).otherwise(pl.col("occupation")),
        diagnosis=pl.when(NUMBER % 8 == 1).then(pl.lit("Z99")).otherwise(pl.col("diagnosis")),
    )
    found = check(request(IBUPROFEN, ("sex", "occupation", "diagnosis")), table)
    assert found.draft is not None
    assert verdict(found, "occupation")["treatment"] == "drop"
    assert verdict(found, "diagnosis")["treatment"] == "suppress values"


def test_a_refused_check_says_what_every_attribute_costs(check: Checked) -> None:
    found = check(request(IBUPROFEN, ("name", "age")), patients(20, people=20, treated=0))
    assert found.draft is None
    assert any(reason.startswith("name: drop") for reason in found.record["recommendation"]["reasons"])


def test_nothing_is_shown_of_a_column_that_is_mostly_not_known_whatever_the_policy(check: Checked) -> None:
    """Family names, a few of which are everyday words: a policy that lets most people go does not help."""
    names = ["Kranewitter", "Tschurtschenthaler", "Unterkircher", "Oberhollenzer", "Herz"]
    table = TABLE.with_columns(field_7=pl.Series([names[int(one[1:]) % 5] for one in TABLE["patient"]]))
    for role in ("sensitive", "quasi-identifying"):
        found = check(
            request(IBUPROFEN, ("age", "sex", "field_7")), table, with_column("field_7", role, most_removed=0.95)
        )
        assert verdict(found, "field_7")["treatment"] == "drop"


def test_a_column_is_judged_by_all_its_cells_not_only_by_those_of_the_people_asked_for(check: Checked) -> None:
    names = pl.when(pl.col("drug") == "ibuprofen").then(pl.lit("Herz")).otherwise(pl.lit("Kranewitter"))
    found = check(
        request(IBUPROFEN, ("age", "sex", "field_7")),
        TABLE.with_columns(field_7=names),
        with_column("field_7", "quasi-identifying"),
    )
    assert verdict(found, "field_7")["treatment"] == "drop"
