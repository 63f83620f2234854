"""Missing values and values that show nothing: what is lost is measured as in one table, also among dummy rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from support.joint_studies import rows_of, run_study, written_study

CODES = {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 3}}}
SEX = {"role": "quasi-identifying", "hierarchy": {"ordering": {"values": ["f", "m"]}}}
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {"zip": CODES, "sex": SEX},
    "models": [{"model": "k-anonymity", "k": 2}],
    "metric": {"metric": "loss"},
    "suppression_limit": 0.5,
    "person": "none",
}
ROWS = pl.DataFrame(
    {
        "zip": ["811", "812", "812", "811", "970", "971", "972", None, None, "105", "106", "106"],
        "sex": ["m", "m", "f", "m", "f", "f", "f", "m", "m", None, None, "f"],
    }
)
"""One code is only in a row that lacks another value."""


def assert_as_pooled(folder: Path, plan: dict[str, Any], frame: pl.DataFrame = ROWS, **study: Any) -> None:
    """Compare the release of two parties with that of all rows in one table."""
    joint = written_study(folder, plan, parties={"a": {}, "b": {}}, **study)
    pooled = ko.anonymize(frame, joint.plan)
    release = run_study(joint, {"a": frame[0::2], "b": frame[1::2]})["b"]
    assert release is not None
    assert (release.figures["levels"], release.figures["suppressed"]) == (pooled.levels, pooled.suppressed)
    assert release.figures["cost"] == pytest.approx(pooled.cost, rel=1e-12)
    assert rows_of(release.frame, frame.columns) == rows_of(pooled.data, frame.columns)


@pytest.mark.parametrize("missing", ["category", "suppress"])
@pytest.mark.parametrize(("protocol", "dummies"), [("B", None), ("C", None), ("C", 0.5), ("A", 0.5)])
def test_what_codes_lose_is_counted_without_dummy_rows_and_missing_values(
    protocol: str, dummies: float | None, missing: str, tmp_path: Path
) -> None:
    """Where a dummy row had a code of its own, a missing value counted as a code, and codes of other rows did not."""
    assert_as_pooled(tmp_path, {**PLAN, "missing": missing}, protocol=protocol, dummies=dummies)


def test_one_code_and_missing_values_lose_as_much_as_in_one_table(tmp_path: Path) -> None:
    frame = ROWS.with_columns(zip=pl.when(pl.col("zip").is_null()).then(None).otherwise(pl.lit("811")))
    assert_as_pooled(tmp_path / "one", PLAN, frame, protocol="C", dummies=None)
    nothing = frame.with_columns(zip=pl.lit(None, dtype=pl.String))
    assert_as_pooled(tmp_path / "none", PLAN, nothing, protocol="C", dummies=None)


@pytest.mark.parametrize("missing", ["category", "suppress"])
@pytest.mark.parametrize(("protocol", "dummies"), [("A", None), ("B", None), ("C", "mirrored"), ("A", 0.5)])
def test_a_column_of_which_no_party_shows_anything_is_released_as_in_one_table(
    protocol: str, dummies: float | str | None, missing: str, tmp_path: Path
) -> None:
    """Its minimum level is the highest one: the run ended after the tables had been sent.

    Rows that lack its value are suppressed if the plan says so, although nothing of the column would be shown.
    """
    attributes = {"zip": CODES, "sex": {**SEX, "minimum_level": 1}}
    plan = {**PLAN, "attributes": attributes, "metric": {"metric": "precision"}, "missing": missing}
    assert_as_pooled(tmp_path, plan, protocol=protocol, dummies=dummies, pregeneralize=True)


@pytest.mark.parametrize("tops", [False, True])
@pytest.mark.parametrize(("protocol", "dummies"), [("A", None), ("B", None), ("C", "mirrored"), ("A", 0.5)])
def test_a_release_of_stars_is_signed_if_every_row_may_be_suppressed(
    protocol: str, dummies: float | str | None, tops: bool, tmp_path: Path
) -> None:
    """Rows can be suppressed or stand at the highest levels: those who count the release take them for suppressed."""
    top = {"zip": {**CODES, "minimum_level": 3}, "sex": {**SEX, "minimum_level": 1}}
    plan = {
        **PLAN,
        "attributes": top if tops else PLAN["attributes"],
        "models": [{"model": "k-anonymity", "k": 6}],
        "metric": {"metric": "height"},
        "suppression_limit": 1,
        "missing": "suppress" if tops else "category",
    }
    assert_as_pooled(tmp_path, plan, protocol=protocol, dummies=dummies)
