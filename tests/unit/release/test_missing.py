"""One policy for missing values, and everybody follows it: search, output, verification, the check of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, NoSolution
from kohorte.hierarchies import CsvFile, Intervals
from kohorte.release import find_candidate, write_release
from kohorte.sources import FrameSource

MakePlan = Callable[..., ko.Plan]
FRAME = pl.DataFrame({"q": ["a", "a", None, None, "b"], "n": [1, 2, 3, 4, 5]})


def written(frame: pl.DataFrame, plan: ko.Plan, folder: Path, suffix: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """Release a table through files; return the written table and what was verified."""
    source = folder / "in.parquet"
    frame.write_parquet(source)
    output = folder / f"out{suffix}"
    certificate = write_release(
        find_candidate(FrameSource(frame), plan), output, source=ko.read_table(source), force=True
    )
    verification = certificate.facts["verification"]
    assert isinstance(verification, dict)
    return ko.read_table(output).frame, verification


def test_as_a_category_missing_is_a_value_of_its_own(make_plan: MakePlan) -> None:
    plan = make_plan("q", insensitive="n", missing="category", suppression_limit=0.2, order="input")
    release = ko.anonymize(FRAME, plan)
    assert release.data["q"].to_list() == ["a", "a", None, None, "*"]
    assert (release.classes, release.suppressed, release.smallest_class) == (2, 1, 2)
    verification = ko.verify(release.data, plan)
    assert verification.satisfied
    assert (verification.classes, verification.suppressed, verification.smallest_class) == (2, 1, 2)


def test_as_a_category_a_single_missing_value_is_not_anonymous(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": ["a", "a", "a", None]})
    assert ko.anonymize(frame, make_plan("q")).data["q"].to_list() == ["*"] * 4
    assert not ko.verify(frame, make_plan("q")).satisfied


def test_rows_that_lack_a_value_can_be_suppressed(make_plan: MakePlan) -> None:
    plan = make_plan("q", insensitive="n", missing="suppress", suppression_limit=0.6, order="input")
    release = ko.anonymize(FRAME, plan)
    assert release.data["q"].to_list() == ["a", "a", "*", "*", "*"]
    assert (release.classes, release.suppressed) == (1, 3)
    verification = ko.verify(release.data, plan)
    assert verification.satisfied
    assert (verification.classes, verification.suppressed) == (1, 3)


def test_rows_that_lack_a_value_count_towards_the_limit(make_plan: MakePlan) -> None:
    plan = make_plan("q", insensitive="n", missing="suppress", suppression_limit=0.4, order="input")
    release = ko.anonymize(FRAME, plan)
    assert release.levels == {"q": 1}
    assert release.data["q"].to_list() == ["*"] * 5
    with pytest.raises(NoSolution):
        ko.anonymize(FRAME, make_plan("q", insensitive="n", missing="suppress", suppression_limit=0.39))


def test_a_table_that_lacks_values_can_be_refused_with_its_rows(make_plan: MakePlan) -> None:
    plan = make_plan("q", insensitive="n", missing="refuse", suppression_limit=1.0)
    with pytest.raises(InputError, match=r"'q' has 2 rows \(3, 4\) without a value") as caught:
        ko.anonymize(FRAME, plan)
    assert caught.value.code == "missing-refused"


def test_missing_values_of_other_columns_are_nobodys_business(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": ["a", "a"], "n": [None, 2]})
    assert ko.anonymize(frame, make_plan("q", insensitive="n", missing="refuse")).data.sort("n").equals(frame)


@pytest.mark.parametrize("policy", ["suppress", "refuse"])
def test_where_no_value_may_be_missing_verification_finds_those_that_are(make_plan: MakePlan, policy: str) -> None:
    plan = make_plan("q", insensitive="n", missing=policy, suppression_limit=1.0, k=1)
    verification = ko.verify(FRAME, plan)
    assert not verification.satisfied
    assert "2 rows lack a value" in verification.problems[0]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
@pytest.mark.parametrize("policy", ["category", "suppress"])
def test_the_written_file_is_counted_as_the_search_counted(
    make_plan: MakePlan, tmp_path: Path, policy: str, suffix: str
) -> None:
    plan = make_plan("q", insensitive="n", missing=policy, suppression_limit=0.6, order="input")
    release = ko.anonymize(FRAME, plan)
    table, verification = written(FRAME, plan, tmp_path, suffix)
    assert table["q"].to_list() == release.data["q"].to_list()
    assert verification["satisfied"] is True
    assert (verification["classes"], verification["suppressed"]) == (release.classes, release.suppressed)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_of_one_column_keeps_its_missing_rows_in_files(
    make_plan: MakePlan, tmp_path: Path, suffix: str
) -> None:
    frame = pl.DataFrame({"q": ["a", None, "a", None]})
    table, verification = written(frame, make_plan("q", order="input"), tmp_path, suffix)
    assert table.equals(frame)
    assert verification["rows"] == 4


@pytest.mark.parametrize("policy", ["category", "suppress", "refuse"])
def test_null_nan_and_empty_text_are_all_missing(make_plan: MakePlan, policy: str) -> None:
    frame = pl.DataFrame({"text": ["", "a", None, "a"], "number": [float("nan"), 1.0, None, 1.0]})
    for column in frame.columns:
        plan = make_plan(column, missing=policy, suppression_limit=0.5, order="input")
        if policy == "refuse":
            with pytest.raises(InputError, match=r"2 rows \(1, 3\)"):
                ko.anonymize(frame.select(column), plan)
            continue
        shown = ko.anonymize(frame.select(column), plan).data[column].cast(pl.String).to_list()
        expected = None if policy == "category" else "*"
        assert [shown[0], shown[2]] == [expected, expected]
        assert shown[1] == shown[3] not in (None, "*")


def test_pandas_integers_that_became_floats_still_meet_their_hierarchy(make_plan: MakePlan) -> None:
    frame = pd.DataFrame({"age": [34, 36, None, None]})
    assert frame["age"].dtype == float
    plan = make_plan("age", hierarchies={"age": Intervals(lower=0, upper=100, widths=[10], integer=True)})
    release = ko.anonymize(frame, plan)
    assert release.levels == {"age": 1}
    assert sorted(release.data["age"].fillna("missing")) == ["30-39", "30-39", "missing", "missing"]


def test_the_hierarchy_can_say_where_missing_values_belong(make_plan: MakePlan, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(";unknown;*\na;letter;*\nb;letter;*\n")
    frame = pl.DataFrame({"q": ["a", "b", None, None]})
    plan = make_plan("q", hierarchies={"q": CsvFile("h.csv", folder=tmp_path)}, order="input")
    release = ko.anonymize(frame, plan)
    assert release.data["q"].to_list() == ["letter", "letter", "unknown", "unknown"]
    assert ko.verify(release.data, plan).satisfied


def test_when_every_row_lacks_a_value_all_can_be_suppressed(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"q": [None, None]}, schema={"q": pl.String})
    release = ko.anonymize(frame, make_plan("q", missing="suppress", suppression_limit=1.0))
    assert release.data["q"].to_list() == ["*", "*"]
    assert (release.suppressed, release.classes, release.smallest_class) == (2, 0, None)
