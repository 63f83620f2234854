"""Parties that have nobody in common: one group of several adds no rows, and a study of nobody is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.parties.study import Study
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, rows_of, run_study, written_study

ROWS = pl.concat([ZIP_ROWS] * 2).with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
COLUMNS = {"a": ["zip"], "b": ["sex", "diagnosis"], "c": ["zip"], "d": ["sex", "diagnosis"]}
GROUPS = {"a": "west", "b": "west", "c": "east", "d": "east"}
LISTED: dict[str, Any] = {
    **ZIP_PLAN,
    "attributes": {
        **ZIP_PLAN["attributes"],
        "zip": {
            "role": "quasi-identifying",
            "hierarchy": {"tree": {"south": ["81667", "81675", "81669", "97070"], "north": ["10115", "20095"]}},
        },
    },
}
"""The zip codes are listed, so that rows can be mirrored."""

PROTOCOLS: dict[str, dict[str, Any]] = {
    "A": {"protocol": "A"},
    "A with dummies": {"protocol": "A", "dummies": 0.5},
    "B": {"protocol": "B"},
    "C imitated": {"protocol": "C", "dummies": 0.5},
    "C mirrored": {"protocol": "C", "dummies": "mirrored"},
    "C with Paillier": {"protocol": "C", "dummies": 0.5, "counters": "paillier"},
}
PEOPLE = {
    "others": (ROWS[12:13], ROWS[13:]),
    "none at one": (ROWS[:0], ROWS[13:]),
    "none": (ROWS[:0], ROWS[:0]),
}
"""The people of the parties of a group that have nobody in common."""


def hybrid(folder: Path, protocol: str, plan: dict[str, Any] = LISTED, **more: Any) -> Study:
    """Two groups of two parties, which divide their columns."""
    parties = {name: {"columns": columns, "group": GROUPS[name]} for name, columns in COLUMNS.items()}
    study = {"distribution": "hybrid", "identifier": "TID", "parties": parties, **PROTOCOLS[protocol], **more}
    return written_study(folder, plan, **study)


def own(rows: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The columns of each party."""
    return {name: people.select("TID", *COLUMNS[name]) for name, people in rows.items()}


CASES = [
    *((protocol, people, "west") for protocol in PROTOCOLS for people in PEOPLE if protocol != "C with Paillier"),
    *((protocol, "others", "east") for protocol in PROTOCOLS if protocol != "C with Paillier"),
    pytest.param("C with Paillier", "others", "west", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "people", "first"), CASES)
def test_a_group_without_people_in_common_adds_no_rows(protocol: str, people: str, first: str, tmp_path: Path) -> None:
    study = hybrid(tmp_path, protocol)
    one, other = PEOPLE[people]
    some = {"a": ROWS[:12], "b": ROWS[:11]} if first == "west" else {"a": one, "b": other}
    more = {"c": one, "d": other} if first == "west" else {"c": ROWS[:12], "d": ROWS[:11]}
    releases = run_study(study, own({**some, **more}))
    pooled = ko.anonymize(ROWS[:11].drop("TID"), study.plan)
    names = ["zip", "sex", "diagnosis"]
    for release in (releases[name] for name in study.names):
        assert release is not None
        assert release.figures["levels"] == pooled.levels
        assert release.figures["cost"] == pytest.approx(pooled.cost)
        assert release.figures["suppressed"] == pooled.suppressed
        assert rows_of(release.frame, names) == rows_of(pooled.data, names)
        joint: Any = release.certificate.facts["joint"]
        lost = dict(zip(study.names, (1, 0, one.height, other.height), strict=True))
        if first == "east":
            lost = dict(zip(study.names, (one.height, other.height, 1, 0), strict=True))
        assert joint["people_not_at_all_parties"] == lost


@pytest.mark.parametrize("protocol", ["A", "A with dummies", "B", "C imitated"])
@pytest.mark.parametrize("distribution", ["hybrid", "vertical"])
def test_a_study_of_parties_that_have_nobody_in_common_is_refused(
    protocol: str, distribution: str, tmp_path: Path
) -> None:
    study = hybrid(tmp_path, protocol)
    rows = {"a": ROWS[:6], "b": ROWS[6:8], "c": ROWS[8:10], "d": ROWS[10:]}
    where = " of any group"
    if distribution == "vertical":
        parties = {name: {"columns": COLUMNS[name]} for name in "ab"}
        study = hybrid(tmp_path, protocol, distribution="vertical", parties=parties)
        rows, where = {name: rows[name] for name in "ab"}, ""
    with pytest.raises(InputError, match=f"no person is at all parties{where}: the identifiers") as refused:
        run_study(study, own(rows))
    assert refused.value.code == "study-nobody-in-common"


@pytest.mark.parametrize("protocol", ["A", "B", "C imitated"])
def test_a_group_without_people_in_common_is_refused_if_all_must_have_the_same(protocol: str, tmp_path: Path) -> None:
    study = hybrid(tmp_path, protocol, all_people=True)
    with pytest.raises(InputError, match="only 0 of their rows") as refused:
        run_study(study, own({"a": ROWS[:12], "b": ROWS[:12], "c": ROWS[12:13], "d": ROWS[13:]}))
    assert refused.value.code == "study-people-differ"


def test_a_party_without_rows_is_refused_if_all_rows_are_joined_with_it(tmp_path: Path) -> None:
    parties = {name: {"columns": COLUMNS[name]} for name in "ab"}
    study = hybrid(tmp_path, "B", distribution="vertical", parties=parties)
    with pytest.raises(InputError, match="no person is at all parties") as refused:
        run_study(study, own({"a": ROWS[:0], "b": ROWS}))
    assert refused.value.code == "table-no-rows"
