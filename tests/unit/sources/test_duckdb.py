"""From a Parquet file through DuckDB to a verified release: the same as from a frame."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.data import sha256_of
from kohorte.errors import EngineError
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.progress import Progress
from kohorte.release import Candidate, find_candidate, write_release
from kohorte.sources import DuckDbSource, FrameSource
from kohorte.sources.duckdb_database import Database
from kohorte.sources.spill import SpillFolder, remove_spilled


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


def test_a_release_can_be_written_as_csv_with_apostrophes_before_formulas(
    patients: pl.DataFrame, tmp_path: Path
) -> None:
    patients = patients.with_columns(icd=pl.Series(["=1+1", "E11", "J45"] * 100))
    patients.write_parquet(tmp_path / "in.parquet")
    plan = plan_of()
    frame = find_candidate(FrameSource(ko.read_table(tmp_path / "in.parquet").frame), plan)
    table = DuckDbSource(tmp_path / "in.parquet", beside=tmp_path)
    facts, rows = written(find_candidate(table, plan), tmp_path / "duckdb.csv")
    others, wanted = written(frame, tmp_path / "frame.csv")
    assert rows == wanted
    assert facts["formulas"] == others["formulas"]
    assert facts["formulas"]["cells"] == {"icd": 100}  # type: ignore[index]
    assert facts["verification"] == others["verification"]


def test_a_release_is_not_written_in_other_formats(patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_parquet(tmp_path / "in.parquet")
    candidate = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan_of())
    with pytest.raises(ko.InputError) as caught:
        write_release(candidate, tmp_path / "out.xlsx")
    assert caught.value.code == "file-format"
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_csv_file_is_read_as_every_csv_file_is(tmp_path: Path) -> None:
    text = 'name;zip;q\n"M\u00fcller; Anna";01067;a\nx;01067;a\n'
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    frame = ko.read_table(tmp_path / "in.csv").frame
    table = DuckDbSource(tmp_path / "in.csv")
    assert table.columns == tuple(frame.columns)
    assert table.separator == ";"
    assert table.sha256 == sha256_of(tmp_path / "in.csv")
    assert sorted(table.count_shown(["name", "zip", "q"]).drop("\0count").rows()) == sorted(frame.rows())


def test_a_csv_file_with_a_fault_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.csv")
    with pytest.raises(ko.InputError) as wanted:
        ko.read_table(tmp_path / "in.csv")
    assert (caught.value.code, caught.value.message) == (wanted.value.code, wanted.value.message)


def partitioned(folder: Path, patients: pl.DataFrame) -> Path:
    """The patients in three files of two folders, which say the year, and files that Spark hides."""
    for number, (year, part) in enumerate(
        [("2020", patients[:100]), ("2020", patients[100:150]), ("2021", patients[150:])]
    ):
        own = folder / f"year={year}"
        own.mkdir(parents=True, exist_ok=True)
        part.write_parquet(own / f"part-{number}.parquet")
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "_other.parquet").write_bytes(b"no table")
    return folder


def test_all_files_of_a_folder_are_one_table_and_its_folders_are_columns(
    patients: pl.DataFrame, tmp_path: Path
) -> None:
    folder = partitioned(tmp_path / "rows", patients)
    table = DuckDbSource(folder)
    assert table.columns == (*patients.columns, "year")
    assert table.rows == 300
    assert dict(table.count_shown(["year"]).rows()) == {"2020": 150, "2021": 150}
    assert DuckDbSource(folder / "year=2020" / "*.parquet").rows == 150
    assert DuckDbSource(folder / "year=*" / "part-[01].parquet").columns[-1] == "year"


def test_the_hash_of_several_files_is_that_of_their_list(patients: pl.DataFrame, tmp_path: Path) -> None:
    folder = partitioned(tmp_path / "rows", patients)
    names = ["year=2020/part-0.parquet", "year=2020/part-1.parquet", "year=2021/part-2.parquet"]
    listed = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in names)
    assert DuckDbSource(folder).sha256 == sha256_of(listed.encode())


def test_files_with_other_columns_are_no_table(patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_parquet(tmp_path / "a.parquet")
    patients.with_columns(pl.col("zip").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ko.InputError, match=r"b\.parquet") as caught:
        DuckDbSource(tmp_path)
    assert caught.value.code == "table-files-differ"


def test_a_release_is_not_written_among_the_files_it_is_made_from(patients: pl.DataFrame, tmp_path: Path) -> None:
    table = DuckDbSource(partitioned(tmp_path / "rows", patients.drop("name")))
    attributes = {name: ko.Attribute("insensitive") for name in table.columns} | {
        "zip": ko.Attribute("quasi-identifying")
    }
    release = ko.anonymize(table, ko.Plan(attributes, [KAnonymity(2)]))
    with pytest.raises(ko.InputError) as caught:
        ko.write_release(release, tmp_path / "rows" / "out.parquet", source=table)
    assert caught.value.code == "output-is-input"
    ko.write_release(release, tmp_path / "out.parquet", source=table)


def test_a_folder_without_parquet_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError, match="no Parquet file"):
        DuckDbSource(tmp_path)


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


def test_rows_that_do_not_fit_into_memory_go_to_a_folder_of_their_own(patients: pl.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    patients.write_parquet(tmp_path / "in.parquet")
    source = DuckDbSource(tmp_path / "in.parquet", memory_limit="200MB", beside=tmp_path / "output")
    (folder,) = (tmp_path / "output").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    setting = "current_setting('temp_directory') AS d, current_setting('memory_limit') AS m"
    assert source._fetch(f"SELECT {setting}").row(0) == (str(folder), "190.7 MiB")
    del source
    assert not folder.exists()


@pytest.mark.parametrize("limit", ["much", "4", "-1GB", "4 apples"])
def test_a_memory_limit_is_a_size(patients: pl.DataFrame, tmp_path: Path, limit: str) -> None:
    patients.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(ko.InputError) as caught:
        DuckDbSource(tmp_path / "in.parquet", memory_limit=limit)
    assert caught.value.code == "memory-limit"


def test_what_a_killed_command_spilled_is_removed_by_the_next_one(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from kohorte.sources.spill import SpillFolder\n"
        "folder = SpillFolder(Path(sys.argv[1])); folder.file('rows').write_bytes(b'x'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    running = SpillFolder(tmp_path)
    assert remove_spilled(tmp_path) == 1
    assert not left.exists()
    assert running.path.exists()
    running.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_as_such_and_leaves_nothing(patients: pl.DataFrame, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    patients.write_parquet(tmp_path / "in.parquet")
    candidate = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan_of())

    class Full:
        def execute(self, *_: object) -> None:
            raise duckdb.IOException('IO Error: Could not write file "secret": No space left on device')

    candidate.table._database._connection = Full()  # type: ignore[attr-defined]
    with pytest.raises(EngineError) as caught:
        write_release(candidate, tmp_path / "out.parquet")
    assert caught.value.code == "disk-full"
    assert "secret" not in caught.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_an_interrupted_query_is_an_interrupt_and_leaves_nothing(patients: pl.DataFrame, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    patients.write_parquet(tmp_path / "in.parquet")
    candidate = find_candidate(DuckDbSource(tmp_path / "in.parquet"), plan_of())

    class Interrupted:
        def execute(self, *_: object) -> None:
            raise duckdb.InterruptException("INTERRUPT")

    candidate.table._database._connection = Interrupted()  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        write_release(candidate, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_watched_statement_tells_what_it_does_and_ends_when_it_is_cancelled() -> None:
    told: list[str] = []

    def cancel(progress: Progress) -> None:
        told.append(progress.in_words)
        raise KeyboardInterrupt

    database = Database(progress=cancel)
    with pytest.raises(KeyboardInterrupt):
        database.run("CREATE TABLE t AS SELECT sum(sin(range)) AS s FROM range(2000000000)", what="rows")
    assert told[0].startswith("counting rows")
    assert database.fetch("SELECT count(*) AS n FROM duckdb_tables()")["n"].item() == 0
