"""From a Parquet file through DuckDB to a verified release: the same as from a frame."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.data import sha256_of
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.release import Candidate, find_candidate, write_release
from kohorte.sources import DuckDbSource, FrameSource


@pytest.fixture
def patients() -> pl.DataFrame:
    random = np.random.default_rng(7)
    rows = 300
    return pl.DataFrame(
        {
            "name": [f"patient {number}" for number in range(rows)],
            "zip": random.choice([81667, 81925, 82343, 10115], rows),
            "born": [date(1950 + int(year), 1, 1) for year in random.integers(0, 8, rows)],
            "weight": random.choice([70.0, 71.5, float("nan"), 80.0], rows),
            'it\'s "odd"': random.choice(["a", "b", "", "ü'"], rows),
            "icd": random.choice(["I10", "E11", "J45"], rows),
            "note": random.integers(0, 10**6, rows),
        }
    )


def plan_of(**options: object) -> ko.Plan:
    quasi = {name: ko.Attribute("quasi-identifying") for name in ("zip", "born", "weight", 'it\'s "odd"')}
    attributes = {
        "name": ko.Attribute("identifying"),
        **quasi,
        "icd": ko.Attribute("sensitive"),
        "note": ko.Attribute("insensitive"),
    }
    return ko.Plan(
        attributes, [KAnonymity(4), DistinctLDiversity(l=2, attribute="icd")], suppression_limit=0.4, **options
    )


def written(candidate: Candidate, output: Path) -> tuple[dict[str, object], Counter[tuple[object, ...]]]:
    certificate = write_release(candidate, output)
    assert json.loads(output.with_suffix(".certificate.json").read_text(encoding="utf-8")) == certificate.facts
    return certificate.facts, Counter(ko.read_table(output).frame.rows())


@pytest.mark.parametrize("missing", ["category", "suppress"])
def test_a_release_of_a_file_in_duckdb_is_that_of_a_frame(patients: pl.DataFrame, tmp_path: Path, missing: str) -> None:
    patients.write_parquet(tmp_path / "in.parquet")
    plan = plan_of(missing=missing)
    frame = find_candidate(FrameSource(ko.read_table(tmp_path / "in.parquet").frame), plan)
    remote = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan)
    assert (remote.levels, remote.cost, remote.suppressed) == (frame.levels, frame.cost, frame.suppressed)
    assert (remote.classes, remote.rows, remote.optimal) == (frame.classes, frame.rows, True)
    facts, rows = written(remote, tmp_path / "duckdb.parquet")
    others, wanted = written(frame, tmp_path / "frame.parquet")
    assert rows == wanted
    assert facts["verification"] == others["verification"]
    assert facts["output"]["sha256"] == sha256_of(tmp_path / "duckdb.parquet")  # type: ignore[index]


def test_rows_come_in_an_order_that_differs_each_time_unless_the_plan_keeps_it(
    patients: pl.DataFrame, tmp_path: Path
) -> None:
    patients.write_parquet(tmp_path / "in.parquet")

    def notes(number: int, plan: ko.Plan) -> list[int]:
        output = tmp_path / f"{number}.parquet"
        write_release(find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan), output)
        return pl.read_parquet(output)["note"].to_list()

    assert notes(1, plan_of()) != notes(2, plan_of()) != patients["note"].to_list()
    assert notes(3, plan_of(order="input")) == patients["note"].to_list()


def test_what_works_row_by_row_is_refused(patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_parquet(tmp_path / "in.parquet")
    recoding = replace(plan_of(), search=ko.SearchOptions(algorithm="mondrian"))
    with pytest.raises(ko.InputError, match="algorithm mondrian works row by row") as caught:
        find_candidate(DuckDbSource(tmp_path / "in.parquet"), recoding)
    assert caught.value.code == "source-row-by-row"


def test_a_release_is_written_as_parquet_only(patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_parquet(tmp_path / "in.parquet")
    candidate = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan_of())
    with pytest.raises(ko.InputError) as caught:
        write_release(candidate, tmp_path / "out.csv")
    assert caught.value.code == "file-format"
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.parquet")
    assert caught.value.code == "parquet-damaged"


def test_names_that_differ_in_capitals_only_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1], "A": [2]}).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.parquet")
    assert caught.value.code == "table-duplicate-columns"


def released(path: Path, output: Path, **options: object) -> pl.DataFrame:
    """A file with the quasi-identifier `q` and what else is kept, released at level 0 as it was written."""
    source = DuckDbSource(path)
    attributes = {name: ko.Attribute("quasi-identifying" if name == "q" else "insensitive") for name in source.columns}
    ko.write_release(ko.anonymize(source, ko.Plan(attributes, [KAnonymity(2)], **options)), output, source=source)  # type: ignore[arg-type]
    return pl.read_parquet(output, glob=False)


def test_written_values_do_not_tell_apart_what_counts_as_equal(tmp_path: Path) -> None:
    numbers = pl.Series([0.0, -0.0, float("nan"), None], dtype=pl.Float64)
    pl.DataFrame({"q": numbers, "text": ["", None, "", None]}).write_parquet(tmp_path / "in.parquet")
    frame = released(tmp_path / "in.parquet", tmp_path / "out.parquet", order="input")
    assert [repr(value) for value in frame["q"]] == ["0.0", "0.0", "None", "None"]
    assert frame["text"].null_count() == 4


@pytest.mark.parametrize("name", ["x*.parquet", "x[1].parquet", "x?.parquet", "it's.parquet"])
def test_a_file_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    for number, other in enumerate(("x1.parquet", "x2.parquet")):
        pl.DataFrame({"q": [f"other {number}"] * 4}).write_parquet(tmp_path / other)
    with (tmp_path / name).open("wb") as file:
        pl.DataFrame({"q": ["own"] * 3}).write_parquet(file)
    assert released(tmp_path / name, tmp_path / f"out of {name}")["q"].to_list() == ["own"] * 3


def test_the_name_of_a_folder_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    pl.DataFrame({"q": ["a", "a"]}).write_parquet(tmp_path / "year=2020" / "in.parquet")
    assert released(tmp_path / "year=2020" / "in.parquet", tmp_path / "year=2020" / "out.parquet").columns == ["q"]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1], [2]]),
        pl.Series([b"a", b"\xff"]),
        pl.Series([{"a": 1}, {"a": 2}]),
        pl.Series([1, 2]).cast(pl.Duration("us")),
        pl.Series([1, 2], dtype=pl.Int128),
        pl.Series([1, 2]).cast(pl.Datetime("us", "Europe/Berlin")),
    ],
    ids=lambda column: str(column.dtype),
)
def test_types_that_duckdb_does_not_keep_are_refused(tmp_path: Path, column: pl.Series) -> None:
    pl.DataFrame({"q": column}).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.parquet")
    assert caught.value.code == "table-column-type"


@pytest.mark.parametrize("name", ["\1id", "\1row", "\1COUNT"])
def test_names_that_the_source_uses_itself_are_refused(tmp_path: Path, name: str) -> None:
    pl.DataFrame({name: ["a", "a"]}).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(ko.InputError, match="rename"):
        DuckDbSource(tmp_path / "in.parquet")


@pytest.mark.parametrize("name", ['a"; DROP TABLE x; --', "a';--", "COLUMNS(*)", "c0", "l", "rowid", "select", "é"])
def test_names_of_columns_are_no_sql(tmp_path: Path, name: str) -> None:
    pl.DataFrame({"q": ["a", "a", "b", "b"], name: ["1", "2", "3", "4"]}).write_parquet(tmp_path / "in.parquet")
    frame = released(tmp_path / "in.parquet", tmp_path / "out.parquet", order="input")
    assert frame.to_dict(as_series=False) == {"q": ["a", "a", "b", "b"], name: ["1", "2", "3", "4"]}


def test_a_column_without_any_value_is_kept(tmp_path: Path) -> None:
    pl.DataFrame({"q": ["a", "a"], "empty": [None, None]}).write_parquet(tmp_path / "in.parquet")
    assert released(tmp_path / "in.parquet", tmp_path / "out.parquet")["empty"].null_count() == 2


def test_anonymize_takes_a_table_in_duckdb_and_its_file_is_never_replaced(
    patients: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "in.parquet"
    patients.write_parquet(path)
    table = DuckDbSource(path)
    release = ko.anonymize(table, plan_of())
    assert release.verification.satisfied
    with pytest.raises(ko.InputError) as caught:
        ko.write_release(release, path, source=table, force=True)
    assert caught.value.code == "output-is-input"
    facts = ko.write_release(release, tmp_path / "out.parquet", source=table).facts
    assert facts["input"]["sha256"] == sha256_of(path)  # type: ignore[index]
    with pytest.raises(ko.InputError) as caught:
        _ = release.data
    assert caught.value.code == "source-row-by-row"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.parquet")
    assert caught.value.code == "file-unreadable"


def test_rows_that_do_not_fit_into_memory_go_to_a_folder_of_their_own(
    patients: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    patients.write_parquet(tmp_path / "in.parquet")
    source = DuckDbSource(tmp_path / "in.parquet")
    (folder,) = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert source._fetch("SELECT current_setting('temp_directory') AS d")["d"].item() == str(folder)
    del source
    assert not folder.exists()


def test_an_interrupted_query_is_an_interrupt_and_leaves_nothing(patients: pl.DataFrame, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    patients.write_parquet(tmp_path / "in.parquet")
    candidate = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan_of())

    class Interrupted:
        def execute(self, *_: object) -> None:
            raise duckdb.InterruptException("INTERRUPT")

    candidate.table._connection = Interrupted()  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        write_release(candidate, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
