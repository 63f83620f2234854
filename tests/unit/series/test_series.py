"""A series from its start on: what it releases, what it refuses, and that it stays usable."""

from __future__ import annotations

import json
import stat
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from support.growing import SETTINGS, patients, plan


def started(folder: Path, **settings: object) -> ko.Series:
    return ko.Series.start(folder / "series", plan(), {**SETTINGS, **settings})


def state_file(folder: Path) -> Path:
    return folder / "series" / "series.json"


# Releases


def test_every_release_satisfies_the_models_is_finer_and_keeps_all_rows_that_were_shown(tmp_path: Path) -> None:
    series = started(tmp_path)
    table, before = patients(900), None
    for rows in (150, 300, 301, 600, 900):
        release = series.release(table[:rows])
        assert ko.verify(release.data, plan()).satisfied
        assert release.rows == rows == release.shown + release.held
        assert release.data.columns == ["age", "zip", "ward", "diagnosis"]
        if before is not None:
            assert release.regions >= before.regions
            assert release.shown - release.new == before.shown
            assert release.loss <= before.loss
        before = release
    assert [entry.number for entry in series.history] == [1, 2, 3, 4, 5]
    verdict = series.verify(table)
    assert verdict.satisfied, verdict.problems
    assert min(release.candidates or 0 for release in verdict.releases) >= 5


def test_cells_are_true_and_say_the_region(tmp_path: Path) -> None:
    table = patients(300)
    shown = started(tmp_path).release(table).data
    told = Counter(shown["diagnosis"])
    assert told == Counter(table["diagnosis"])
    ages = shown["age"].str.extract_groups(r"^(\d+)(?:-(\d+))?").struct.unnest().cast(pl.Int64)
    assert ages["1"].is_between(0, 119).all()
    assert (ages["2"].fill_null(0).max() or 0) <= 119


def test_who_knows_the_arrival_finds_enough_rows_where_arrivals_are_known(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(suppression_limit=1.0), {**SETTINGS, "arrivals": "known"})
    table = patients(800)
    releases = [series.release(table[:rows]) for rows in (200, 240, 500, 800)]
    assert min(release.smallest_arrival for release in releases) >= 5
    assert releases[1].held > 0
    assert releases[-1].new > 40
    verdict = series.verify(table)
    assert verdict.satisfied
    assert min(release.candidates_by_arrival or 0 for release in verdict.releases) >= 5


def test_a_release_can_be_given_again_from_a_later_table_in_another_order(tmp_path: Path) -> None:
    series = started(tmp_path)
    table = patients(600)
    first = series.release(table[:200], tmp_path / "first.csv")
    series.release(table)
    again = series.again(1, table[::-1], tmp_path / "again.csv")
    assert again.data.equals(first.data)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "first.csv").read_bytes()
    assert again.to_dict() == first.to_dict()
    certificate = json.loads((tmp_path / "again.certificate.json").read_text())
    assert certificate["series"]["number"] == 1
    with pytest.raises(ko.InputError) as refused:
        series.again(3, table)
    assert refused.value.code == "series-no-release"


def test_a_preview_shows_no_row_and_changes_nothing(tmp_path: Path) -> None:
    series = started(tmp_path)
    before = state_file(tmp_path).read_bytes()
    tried = series.preview(patients(300))
    assert tried.data is None
    assert state_file(tmp_path).read_bytes() == before
    assert series.release(patients(300)).to_dict() == tried.to_dict()


def test_a_series_goes_on_in_another_process_and_with_other_frames(tmp_path: Path) -> None:
    started(tmp_path).release(patients(200).to_pandas())
    again = ko.Series.open(tmp_path / "series", plan=plan())
    assert again.release(patients(400).to_arrow()).number == 2
    assert "releases=2" in repr(again)


def test_columns_may_change_places_and_numbers_their_type(tmp_path: Path) -> None:
    series = started(tmp_path)
    series.release(patients(200))
    table = patients(300).with_columns(pl.col("age").cast(pl.Int64)).select("ward", "age", "id", "diagnosis", "zip")
    assert series.release(table).data.columns == ["age", "zip", "ward", "diagnosis"]


def test_nothing_in_the_folder_is_a_value_of_a_row_and_the_key_is_private(tmp_path: Path) -> None:
    series = started(tmp_path)
    table = patients(400).with_columns(pl.concat_str(pl.lit("canary-"), "id").alias("id"))
    series.release(table[:200])
    series.release(table)
    for path in (tmp_path / "series").rglob("*"):
        content = path.read_bytes()
        assert b"canary" not in content
        assert b"asthma" not in content
    assert stat.S_IMODE((tmp_path / "series" / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "series").stat().st_mode) == 0o700
    assert sorted(path.name for path in (tmp_path / "series").iterdir()) == [
        "key",
        "lock",
        "rows-0002.bin",
        "series.json",
    ]


def test_hierarchy_files_are_copied_so_that_the_series_needs_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "ward.csv"
    file.write_text("A1;A;*\nA2;A;*\nB1;B;*\nB2;B;*\n")
    attributes = dict(plan().to_dict()["attributes"])  # type: ignore[call-overload]
    attributes["ward"] = {"role": "quasi-identifying", "hierarchy": {"csv": "ward.csv"}}
    given = ko.Plan.from_dict(plan().to_dict() | {"attributes": attributes}, folder=tmp_path)
    series = ko.Series.start(tmp_path / "series", given, SETTINGS)
    ko.Series.open(tmp_path / "series", plan=given)
    file.write_text("A1;B;*\nA2;A;*\nB1;B;*\nB2;B;*\n")
    with pytest.raises(ko.InputError) as refused:
        ko.Series.open(tmp_path / "series", plan=given)
    assert refused.value.code == "series-other-plan"
    file.unlink()
    assert series.release(patients(200)).number == 1
    copy = next((tmp_path / "series" / "files").iterdir())
    copy.write_text("A1;B;*\n")
    with pytest.raises(ko.InputError) as refused:
        series.release(patients(300))
    assert refused.value.code == "series-damaged"


def test_a_target_is_made_once_and_kept(tmp_path: Path) -> None:
    ko.write_table(patients(3000, seed=9), tmp_path / "other.csv", like=None, force=False)
    target = {"expected_rows": 3000, "data": "other.csv"}
    settings = ko.SeriesSettings.from_dict({"kohorte": 1, **SETTINGS, "target": target}, folder=tmp_path)
    series = ko.Series.start(tmp_path / "series", plan(), settings)
    (tmp_path / "other.csv").unlink()
    assert ko.Series.open(tmp_path / "series").definition.target is not None
    assert series.definition.target is not None
    assert len(series.definition.target.regions) > 100


# What is refused: the series stays as it was, and goes on


def refused_and_usable(series: ko.Series, table: object) -> ko.KohorteError:
    """The error of a release that is refused, after seeing that nothing changed and the next one works."""
    before = {path: path.read_bytes() for path in series.folder.iterdir()}
    with pytest.raises(ko.KohorteError) as refused:
        series.release(table)
    assert {path: path.read_bytes() for path in series.folder.iterdir()} == before
    assert series.release(patients(400)).number == 2
    return refused.value


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with one release of 200 patients."""
    series = started(tmp_path)
    series.release(patients(200))
    return series


def test_a_table_that_lost_rows_is_refused(series: ko.Series) -> None:
    error = refused_and_usable(series, patients(300)[3:])
    assert error.code == "series-withdrawn"
    assert "3 rows" in error.message


def test_a_table_with_changed_values_is_refused(series: ko.Series) -> None:
    table = patients(300)
    table[7, "diagnosis"] = "tb" if table[7, "diagnosis"] != "tb" else "flu"
    assert refused_and_usable(series, table).code == "series-withdrawn"


def test_values_outside_the_domain_are_refused_by_column_and_row(series: ko.Series) -> None:
    for column, value in (("age", "777"), ("age", "old"), ("zip", "1234"), ("ward", "C9")):
        table = patients(300)
        table[250, column] = value
        with pytest.raises(ko.InputError) as refused:
            series.release(table)
        assert refused.value.code == "series-outside-domain"
        assert column in refused.value.message
        assert "row 251" in refused.value.message
        assert value not in refused.value.message
    assert series.release(patients(300)).number == 2


def test_other_columns_are_refused(series: ko.Series) -> None:
    assert refused_and_usable(series, patients(300).drop("zip")).code == "columns-missing"


def test_unnamed_columns_are_refused(series: ko.Series) -> None:
    assert refused_and_usable(series, patients(300).with_columns(pl.lit(1).alias("x"))).code == "columns-unnamed"


def test_a_table_without_rows_is_refused(series: ko.Series) -> None:
    assert refused_and_usable(series, patients(0)).code == "table-no-rows"


def test_another_plan_is_refused(series: ko.Series) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.Series.open(series.folder, plan=plan(suppression_limit=0.2))
    assert refused.value.code == "series-other-plan"


def test_a_second_series_in_the_same_folder_is_refused(series: ko.Series, tmp_path: Path) -> None:
    with pytest.raises(ko.InputError) as refused:
        started(tmp_path)
    assert refused.value.code == "series-exists"
    assert series.release(patients(300)).number == 2


def test_a_folder_with_other_files_is_refused_and_an_interrupted_start_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "series"
    folder.mkdir()
    (folder / "key").write_bytes(b"left over")
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(ko.InputError) as refused:
        started(tmp_path)
    assert refused.value.code == "series-exists"
    (folder / "thesis.txt").unlink()
    assert started(tmp_path).release(patients(200)).number == 1


def test_a_folder_without_a_series_is_refused_and_stays_empty(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.Series.open(tmp_path)
    assert refused.value.code == "series-missing"
    assert list(tmp_path.iterdir()) == []


def test_two_releases_at_the_same_time_are_refused(series: ko.Series) -> None:
    from kohorte.series.memory.lock import locked

    with locked(series.folder), pytest.raises(ko.InputError) as refused:
        series.release(patients(300))
    assert refused.value.code == "series-locked"
    assert series.release(patients(300)).number == 2


def test_a_key_that_is_missing_or_wrong_is_refused(series: ko.Series) -> None:
    key = series.folder / "key"
    right = key.read_bytes()
    for wrong in (b"", right[:-1], bytes([right[0] ^ 1]) + right[1:]):
        key.write_bytes(wrong)
        with pytest.raises(ko.InputError) as refused:
            ko.Series.open(series.folder)
        assert refused.value.code == "series-key"
    key.unlink()
    with pytest.raises(ko.InputError) as refused:
        ko.Series.open(series.folder)
    assert refused.value.code == "series-key"
    key.write_bytes(right)
    assert ko.Series.open(series.folder).release(patients(300)).number == 2


@pytest.mark.parametrize("name", ["series.json", "rows-0001.bin"])
def test_a_flipped_byte_anywhere_is_refused(series: ko.Series, name: str) -> None:
    path = series.folder / name
    right = path.read_bytes()
    for position in range(0, len(right), max(1, len(right) // 40)):
        path.write_bytes(right[:position] + bytes([right[position] ^ 1]) + right[position + 1 :])
        with pytest.raises(ko.InputError) as refused:
            ko.Series.open(series.folder).release(patients(300))
        assert refused.value.code in ("series-damaged", "series-version")
    path.unlink()
    with pytest.raises(ko.InputError):
        ko.Series.open(series.folder).release(patients(300))
    path.write_bytes(right)
    assert ko.Series.open(series.folder).release(patients(300)).number == 2


def test_a_state_of_an_earlier_time_does_not_go_with_a_later_record(series: ko.Series) -> None:
    """Going backwards is refused: the record of the earlier release is gone."""
    earlier = (series.folder / "series.json").read_bytes()
    series.release(patients(300))
    (series.folder / "series.json").write_bytes(earlier)
    with pytest.raises(ko.InputError) as refused:
        ko.Series.open(series.folder).release(patients(300))
    assert refused.value.code == "series-damaged"


def test_a_folder_that_cannot_be_written_leaves_the_series_as_it_was(
    series: ko.Series, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import os

    opened = os.open

    def read_only(path: object, flags: int, *rest: int, **more: object) -> int:
        if "series" in Path(str(path)).parts and flags & os.O_CREAT:
            raise OSError(30, "read-only file system")
        return opened(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(ko.InputError) as refused:
        series.release(patients(300), tmp_path / "out.csv")
    assert refused.value.code == "output-not-writable"
    assert not (tmp_path / "out.csv").exists()
    assert series.verify(patients(200)).satisfied
    monkeypatch.undo()
    assert series.release(patients(300)).number == 2


def test_outputs_that_exist_or_lie_in_the_folder_are_refused(series: ko.Series, tmp_path: Path) -> None:
    taken = tmp_path / "out.csv"
    taken.write_text("mine")
    for path, code in ((taken, "output-exists"), (series.folder / "out.csv", "series-output-inside")):
        with pytest.raises(ko.InputError) as refused:
            series.release(patients(300), path)
        assert refused.value.code == code
    assert taken.read_text() == "mine"
    assert len(ko.Series.open(series.folder).history) == 1
    series.release(patients(300), taken, force=True)
    assert taken.read_text() != "mine"


@pytest.mark.parametrize(
    "changes",
    [
        {"models": [{"model": "k-anonymity", "k": 5}, {"model": "average-risk", "threshold": 0.1}]},
        {"models": [{"model": "k-map", "k": 5, "population": "people.csv"}]},
        {"models": [{"model": "safe-harbor"}]},
        {"search": {"levels": dict.fromkeys(plan().quasi_identifiers, 1)}},
    ],
)
def test_plans_that_cannot_be_promised_across_releases_are_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.Series.start(tmp_path / "series", plan(**changes), SETTINGS)
    assert refused.value.code == "series-plan"
    assert not (tmp_path / "series").exists()


def test_decorrelation_is_refused(tmp_path: Path) -> None:
    attributes = dict(plan().to_dict()["attributes"])  # type: ignore[call-overload]
    attributes["drug"] = {"role": "sensitive"}
    given = plan(attributes=attributes, decorrelate={"attribute": "diagnosis", "l": 3})
    with pytest.raises(ko.InputError, match="decorrelate"):
        ko.Series.start(tmp_path / "series", given, SETTINGS)


def test_missing_values_are_a_place_held_back_or_refused(tmp_path: Path) -> None:
    table = patients(300).with_columns(
        pl.when(pl.int_range(pl.len()) % 30 == 0).then(None).otherwise(pl.col("age")).alias("age")
    )
    for policy, held in (("category", 0), ("suppress", 10)):
        series = ko.Series.start(tmp_path / policy, plan(missing=policy), SETTINGS)
        assert series.release(table).held == held
        assert series.verify(table).satisfied
    series = ko.Series.start(tmp_path / "refuse", plan(missing="refuse"), SETTINGS)
    with pytest.raises(ko.InputError) as refused:
        series.release(table)
    assert refused.value.code == "missing-refused"


# Corrected and withdrawn rows


def test_corrected_and_withdrawn_rows_are_accepted_where_the_settings_say_so(tmp_path: Path) -> None:
    series = started(tmp_path, identified_by="id", corrected="accept", withdrawn="accept")
    table = patients(300)
    first = series.release(table)
    changed = table[10:].with_columns(
        pl.when(pl.col("id") == "p50")
        .then(pl.lit("flu"))
        .when(pl.col("id") == "p51")
        .then(pl.lit("tb"))
        .otherwise(pl.col("diagnosis"))
        .alias("diagnosis")
    )
    changes = int((changed["diagnosis"] != table[10:]["diagnosis"]).sum())
    assert changes
    second = series.release(pl.concat([changed, patients(600)[300:]]))
    assert (second.withdrawn, second.corrected) == (10, changes)
    assert first.withdrawn == first.corrected == 0
    later = pl.concat([changed, patients(600)[300:]])
    verdict = series.verify(later)
    assert verdict.satisfied, verdict.problems
    assert verdict.releases[0].gone == 10 + changes + second.withheld
    assert verdict.releases[0].models is None
    assert verdict.releases[1].models is not None
    assert verdict.releases[1].models.satisfied
    with pytest.raises(ko.InputError) as refused:
        series.again(1, later)
    assert refused.value.code == "series-again"
    assert second.certificate is not None
    assert any("corrected or withdrawn" in str(line) for line in second.certificate.facts["does_not_protect_against"])  # type: ignore[attr-defined]


def test_corrected_rows_are_refused_by_row_number_by_default(tmp_path: Path) -> None:
    series = started(tmp_path, identified_by="id")
    series.release(patients(200))
    table = patients(300)
    table[7, "age"] = "99" if table[7, "age"] != "99" else "98"
    with pytest.raises(ko.InputError, match="the first is row 8") as refused:
        series.release(table)
    assert refused.value.code == "series-corrected"


def test_the_column_of_identity_must_be_in_the_plan(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError, match="identified_by: 'pid'"):
        started(tmp_path, identified_by="pid")


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.Series.start(tmp_path / "series", "plan.yaml")  # type: ignore[arg-type]
    assert refused.value.code == "plan-type"


def test_a_series_treats_listed_texts_as_empty_cells_also_when_it_recognises_rows(tmp_path: Path) -> None:
    marked = patients(300).with_columns(
        pl.Series("age", ["k.A." if row % 10 == 0 else age for row, age in enumerate(patients(300)["age"])])
    )
    emptied = marked.with_columns(pl.col("age").replace("k.A.", None))
    series = ko.Series.start(tmp_path / "series", plan(missing_values=["k.A."]), SETTINGS)
    first = series.release(marked[:200])
    assert "k.A." not in first.data["age"]
    second = series.release(emptied)  # the same rows, written differently: none of them is new or changed
    assert second.shown - second.new == first.shown


@pytest.mark.parametrize("kind", ["regions", "full-domain"])
def test_a_star_in_a_sensitive_column_does_not_make_a_region_diverse(tmp_path: Path, kind: str) -> None:
    models = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}]
    attributes = dict(plan().to_dict()["attributes"])  # type: ignore[call-overload]
    attributes["zip"] = {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 3}}}
    settings = SETTINGS if kind == "regions" else {"kind": kind}
    series = ko.Series.start(tmp_path / "stars", plan(attributes=attributes, models=models), settings)
    star = pl.when(pl.int_range(pl.len()) == 2).then(pl.lit("*")).otherwise(pl.col("diagnosis"))
    with pytest.raises(ko.InputError, match=r"column 'diagnosis' shows \* in 1 row \(3\)") as caught:
        series.release(patients(60).with_columns(diagnosis=star))
    assert caught.value.code == "value-is-star"
    assert series.release(patients(60)).number == 1
