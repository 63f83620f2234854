"""What an answer tells about a patient whom somebody knows, by those who look alike and by the labels that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check
from kohorte.exchange.holding import Holding
from kohorte.plans import Plan
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
TABLE = patients(1300, people=1000, treated=500)
FARMERS = sorted(TABLE.filter((pl.col("sex") == "female") & (pl.col("occupation") == "farmer"))["patient"].unique())
FEW = FARMERS[:6]
NAMES = ("sex", "occupation")
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}


def with_farmers(column: str, value: str, *, others: str) -> pl.DataFrame:
    """The table in which female farmers have one value of a column, but for a few who have another one."""
    few, group = pl.col("patient").is_in(FEW), pl.col("patient").is_in(FARMERS)
    own = pl.when(few).then(pl.lit(others)).when(group).then(pl.lit(value)).otherwise(pl.col(column))
    return TABLE.with_columns(own.alias(column))


def shown(found: Check) -> pl.DataFrame:
    assert found.draft is not None
    return found.draft.found.table.in_memory("test")


def farmers(found: Check) -> int:
    """How many rows of an answer are of female farmers."""
    return shown(found).filter((pl.col("sex") == "female") & (pl.col("occupation") == "farmer")).height


def test_a_group_of_whom_nearly_all_have_one_sensitive_value_is_not_shown(check: Checked) -> None:
    everybody = request({"attribute": "age", "at_least": 20}, (*NAMES, "diagnosis"))
    assert farmers(check(everybody, TABLE)) > 0
    assert farmers(check(everybody, with_farmers("diagnosis", "E11", others="I10"))) == 0


def test_the_rows_of_one_person_do_not_hide_that_everybody_has_a_value(check: Checked) -> None:
    everybody = request({"attribute": "age", "at_least": 20}, (*NAMES, "diagnosis"))
    table = with_farmers("diagnosis", "E11", others="E11")
    again = table.filter(pl.col("patient") == FARMERS[0]).head(1).with_columns(diagnosis=pl.lit("I10"))
    assert farmers(check(everybody, pl.concat([table, *[again] * 40]))) == 0


def test_nobody_learns_by_subtraction_that_nearly_all_who_look_alike_are_treated(check: Checked) -> None:
    others = request({"not": METHADONE}, NAMES)
    assert farmers(check(others, with_farmers("drug", "ibuprofen", others="methadone"))) == 0
    treated = with_farmers("drug", "methadone", others="ibuprofen")
    assert farmers(check(others, treated)) == 0
    listed = request({"attribute": "drug", "in": ["ibuprofen", "metformin"]}, NAMES)
    assert farmers(check(listed, treated)) == 0


def test_nobody_learns_piece_by_piece_that_all_who_look_alike_are_treated(check: Checked, ledger: Ledger) -> None:
    treated = with_farmers("drug", "methadone", others="methadone")
    house = holding(base_set={"always": 30, "rarer_than": {}, "unknown": 30})
    answered = []
    for some in (["I10", "E11", "J45"], ["F32", "M54"]):
        asked = request({"all": [METHADONE, {"attribute": "diagnosis", "in": some}]}, NAMES)
        found = check(asked, treated, house)
        if found.draft is not None:
            ledger.record(found.draft.disclosure, k=5)
            answered.append(farmers(found))
    assert answered
    assert sum(answered) == 0


def test_that_most_patients_do_not_get_a_rare_drug_is_no_secret_of_those_who_look_alike(check: Checked) -> None:
    few = patients(1300, people=1000, treated=60)
    house = holding(base_set={"always": 30, "rarer_than": {}, "unknown": 30})
    assert shown(check(request(METHADONE, ("sex",)), few, house)).height > 30


@pytest.mark.parametrize("labels", ["first-last", "set"])
def test_no_label_names_a_value_that_one_of_the_people_asked_for_has(check: Checked, labels: str) -> None:
    grouped = {"role": "quasi-identifying", "hierarchy": {"ordering": {"fanouts": [2, 2], "labels": labels}}}
    plan = Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], "occupation": grouped | {"minimum_level": 1}}})
    work = pl.when(pl.col("patient") == "P0000000").then(pl.lit("pilot")).otherwise(pl.col("occupation"))
    found = check(request(METHADONE, NAMES), TABLE.with_columns(occupation=work), replace(holding(), plan=plan))
    assert "pilot" not in shown(found).write_csv()
    verdict = found.record["verdicts"]["verdicts"][1]
    assert verdict["treatment"] == "drop"
    assert "list the values in the plan" in verdict["reasons"][0]


def test_groups_of_values_that_the_plan_lists_are_shown(check: Checked) -> None:
    values = ["clerical support workers", "farmer", "nurse", "pilot", "retired", "student", "teacher"]
    grouped = {"role": "quasi-identifying", "hierarchy": {"ordering": {"fanouts": [4], "values": values}}}
    plan = Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], "occupation": grouped | {"minimum_level": 1}}})
    found = check(request(METHADONE, NAMES), TABLE, replace(holding(), plan=plan))
    assert set(shown(found)["occupation"]) == {"clerical support workers – pilot", "retired – teacher"}


def test_a_mask_does_not_tell_how_long_the_values_of_the_people_asked_for_are(check: Checked) -> None:
    codes = pl.when(pl.col("patient") == "P0000900").then(pl.lit("100000")).otherwise(pl.col("zip"))
    own: Holding = holding()
    found = check(request({"attribute": "drug", "is": "methadone"}, ("sex", "zip")), TABLE.with_columns(zip=codes), own)
    assert {len(text) for text in shown(found)["zip"].unique()} == {6}
