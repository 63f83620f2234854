"""What is typical for an age and a sex, what is conspicuous, and what a check does about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.picture.page import to_html
from kohorte.exchange.statistics import Statistics, shipped_statistics
from kohorte.exchange.statistics.entries import Entry, StatisticsTable
from kohorte.exchange.statistics.official import read_official
from kohorte.exchange.statistics.origin import Origin
from kohorte.exchange.statistics.typical import Fit, typicality
from testbed.hospital import holding, patients, request

TODAY = date(2026, 11, 17)
Checked = Callable[..., Check]


def fit(kind: str, value: str, **by: str | int) -> Fit | None:
    found = typicality(shipped_statistics(), kind, value, by, conspicuous=0.1)
    return None if found is None else found.fit


@pytest.mark.parametrize(
    ("kind", "value", "by", "expected"),
    [
        ("disease", "C61", {"sex": "male", "age": 70}, Fit.TYPICAL),
        ("disease", "C61", {"sex": "female"}, Fit.CONSPICUOUS),  # the statistics have it for men only
        ("disease", "G30", {"age": 85}, Fit.TYPICAL),
        ("disease", "G30", {"age": 35}, Fit.CONSPICUOUS),
        ("medication", "donepezil", {"age": 20}, Fit.CONSPICUOUS),
        ("medication", "methylphenidate", {"age": 12}, Fit.TYPICAL),
        ("occupation", "midwife", {"sex": "male"}, Fit.CONSPICUOUS),
        ("occupation", "nurse", {"sex": "male"}, Fit.UNUSUAL),
        ("disease", "F32", {"age": 30, "sex": "female"}, None),  # no figures by age or sex are shipped
        ("disease", "C61", {}, None),
    ],
)
def test_a_value_is_compared_with_the_people_of_whom_most_have_it(
    kind: str, value: str, by: dict[str, str | int], expected: Fit | None
) -> None:
    assert fit(kind, value, **by) is expected


def checked(folder: Path, table: pl.DataFrame, **given: object) -> Check:
    ledger = Ledger.open(folder / "house", create=True)
    found = check_request(
        request(**given),
        table,
        holding(most_removed=0.4),
        shipped_statistics(),
        ledger,
        today=TODAY,  # type: ignore[arg-type]
    )
    ledger.close()
    return found


def test_a_condition_that_is_conspicuous_for_its_people_is_not_answered(tmp_path: Path) -> None:
    table = patients(2000, people=1500, treated=400).with_columns(diagnosis=pl.lit("C61"))
    condition = {"all": [{"attribute": "sex", "is": "female"}, {"attribute": "diagnosis", "is": "C61"}]}
    found = checked(tmp_path, table, condition=condition, attributes=("age", "occupation"))
    assert found.draft is None
    assert found.record["draft"]["reason"].startswith("it is conspicuous for the people whom the condition names")
    (fits,) = found.record["global look-up"]["fits"]
    assert (fits["fit"], fits["people"], fits["share"]) == ("conspicuous", "sex female", 0.0)
    assert "conspicuous" in to_html(found.record, number_of_request=1)


def test_people_with_a_conspicuous_value_are_left_out_and_the_reason_says_so(tmp_path: Path) -> None:
    table = patients(2000, people=1500, treated=400)
    few = (pl.col("sex") == "male") & (pl.col("occupation") == "nurse")
    table = table.with_columns(occupation=pl.when(few).then(pl.lit("midwife")).otherwise(pl.col("occupation")))
    found = checked(tmp_path, table)
    assert found.draft is not None
    assert "midwife" not in found.draft.rows.frame["occupation"].to_list()
    verdict = next(one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == "occupation")
    assert any("conspicuous for their age or sex: left out" in reason for reason in verdict["reasons"])
    assert "conspicuous for their age or sex" in to_html(found.record, number_of_request=1)


def test_if_too_many_are_conspicuous_the_attribute_is_not_shown(tmp_path: Path) -> None:
    table = patients(2000, people=1500, treated=400).with_columns(
        occupation=pl.when(pl.col("sex") == "male").then(pl.lit("midwife")).otherwise(pl.col("occupation"))
    )
    found = checked(tmp_path, table)
    verdict = next(one for one in found.record["verdicts"]["verdicts"] if one["attribute"] == "occupation")
    assert verdict["treatment"] == "drop"


def test_the_age_of_people_whom_the_condition_gives_a_drug_counts(tmp_path: Path) -> None:
    """Everybody in the answer takes the drug: those for whose age it is conspicuous are not in it."""
    table = patients(2000, people=1500, treated=700).with_columns(pl.col("drug").replace("methadone", "donepezil"))
    old = pl.col("age").cast(pl.Int64) >= 60
    young = (pl.col("age").cast(pl.Int64) < 30) & (pl.col("drug") == "donepezil") & (pl.col("patient") > "P0000350")
    kept = table.filter(old | young | (pl.col("drug") != "donepezil"))
    found = checked(tmp_path, kept, condition={"attribute": "drug", "is": "donepezil"}, attributes=("age", "sex"))
    if found.draft is not None:
        assert found.draft.rows.frame["age"].cast(pl.Int64).min() >= 60  # type: ignore[operator]
    assert any(one["people"] for one in found.record["global look-up"]["fits"]) is False


def test_the_latest_table_decides() -> None:
    origin = Origin("old", "occupation", "a source", "CC0", "2001-01-01", "everybody")
    old = StatisticsTable(origin, [Entry("midwife", 0.001, None, "male"), Entry("midwife", 0.001, None, "female")])
    both = Statistics([old, *shipped_statistics().tables])
    found = typicality(both, "occupation", "midwife", {"sex": "male"}, conspicuous=0.1)
    assert found is not None
    assert found.fit is Fit.CONSPICUOUS
    assert found.date != old.origin.date
    newer = Statistics([replace(old, origin=replace(origin, date="2026-01-01")), *shipped_statistics().tables])
    found = typicality(newer, "occupation", "midwife", {"sex": "male"}, conspicuous=0.1)
    assert found is not None
    assert found.fit is Fit.TYPICAL


HEAD = "DATAFLOW,LAST UPDATE,freq,unit,isco08,wstatus,age,sex,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG\n"


def test_a_downloaded_table_of_occupations_has_a_dimension_of_status_that_does_not_count_people_twice(
    tmp_path: Path,
) -> None:
    """As Eurostat writes it: employed people of all statuses, employees and self-employed beside each other."""
    lines = []
    for sex, farmers, everybody in (("T", 100.0, 4000.0), ("F", 20.0, 2000.0), ("M", 80.0, 2000.0)):
        for status, part in (("EMP", 1.0), ("SAL", 0.2), ("SELF", 0.8)):
            for code, people in (("OC6", farmers), ("TOTAL", everybody), ("NRP", 1.0)):
                lines.append(
                    f"ESTAT:LFSA_EGAIS(1.0),x,A,THS_PER,{code},{status},Y15-74,{sex},AT,2024,{people * part},\n"
                )
                lines.append(
                    f"ESTAT:LFSA_EGAIS(1.0),x,A,THS_PER,{code},{status},Y20-64,{sex},AT,2024,{people * part},b\n"
                )
    path = tmp_path / "lfsa_egais.csv"
    path.write_text(HEAD + "".join(lines))
    origin = Origin("occupations-at", "occupation", "Eurostat", "CC BY 4.0", "2024-12-31", "employed people")
    table = read_official(path, "occupations", origin)
    shares = {(entry.value, entry.sex): entry.share for entry in table.entries}
    assert shares[("6", None)] == pytest.approx(0.025)
    assert shares[("6", "female")] == pytest.approx(0.01)
    assert shares[("6", "male")] == pytest.approx(0.04)
    assert not any(value == "NRP" or value == "nrp" for value, _ in shares)


WOMEN: tuple[dict[str, Any], ...] = (
    {"attribute": "sex", "in": ["female"]},
    {"all": [{"attribute": "sex", "is": "female"}]},
    {"any": [{"attribute": "sex", "is": "female"}]},
    {"not": {"attribute": "sex", "is": "male"}},
)


@pytest.mark.parametrize("women", WOMEN)
@pytest.mark.parametrize("disease", [{"is": "C61"}, {"in": ["C61"]}, {"starts_with": "C61"}])
def test_a_conspicuous_condition_is_not_answered_however_it_is_written(
    tmp_path: Path, women: dict[str, Any], disease: dict[str, Any]
) -> None:
    table = patients(2000, people=1500, treated=400).with_columns(diagnosis=pl.lit("C61"))
    condition = {"all": [women, {"attribute": "diagnosis", **disease}]}
    assert checked(tmp_path, table, condition=condition, attributes=("age", "occupation")).draft is None
    everybody = {"all": [{"attribute": "sex", "in": ["female", "male"]}, {"attribute": "drug", "is": "ibuprofen"}]}
    assert checked(tmp_path, table, condition=everybody, attributes=("age", "occupation")).draft is not None
