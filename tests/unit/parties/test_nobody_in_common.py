"""Parties that have nobody in common: the reason says where, also in a hybrid study."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kohorte.errors import InputError
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study

ROWS = ZIP_ROWS.with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
COLUMNS = {"a": ["zip"], "b": ["sex", "diagnosis"], "c": ["zip"], "d": ["sex", "diagnosis"]}
GROUPS = {"a": "west", "b": "west", "c": "east", "d": "east"}


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
@pytest.mark.parametrize(
    ("people", "code"), [(ROWS[6:7], "study-nobody-in-common"), (ROWS[:0], "table-no-rows")], ids=["others", "none"]
)
def test_a_group_without_people_in_common_is_named(
    protocol: str, people: pl.DataFrame, code: str, tmp_path: Path
) -> None:
    parties = {name: {"columns": columns, "group": GROUPS[name]} for name, columns in COLUMNS.items()}
    study = written_study(
        tmp_path, ZIP_PLAN, protocol=protocol, distribution="hybrid", identifier="TID", parties=parties
    )
    rows = {"a": ROWS[:6], "b": ROWS[:6], "c": people, "d": ROWS[7:]}
    with pytest.raises(
        InputError, match=r"at all parties of group 'east'.* leave this group out of the study"
    ) as refused:
        run_study(study, {name: own.select("TID", *COLUMNS[name]) for name, own in rows.items()})
    assert refused.value.code == code
