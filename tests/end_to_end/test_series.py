"""The series as a user runs it: from the first release to the verification of all, and what is refused on the way."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from support.growing import SETTINGS, patients, plan

Run = Callable[..., Any]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def registry(folder: Path) -> Path:
    """A folder with three growing tables, a plan and settings."""
    (folder / "plan.yaml").write_text(plan().to_yaml())
    (folder / "series.yaml").write_text(ko.SeriesSettings.from_dict({"kohorte": 1, **SETTINGS}).to_yaml())
    for number, rows in enumerate((150, 300, 600), start=1):
        ko.write_table(patients(rows), folder / f"table-{number}.csv", like=None, force=False)
    return folder


@pytest.fixture
def started(registry: Path, run: Run) -> Path:
    """The same, with a series that has one release."""
    assert run("series", "start", "s", "--plan", "plan.yaml", "--settings", "series.yaml").code == 0
    assert run("series", "release", "s", "table-1.csv", "--output", "release-1.csv").code == 0
    return registry


def documented(title: str, answer: dict[str, object], *without: str) -> None:
    """All keys of an answer stand in its section of the reference."""
    text = (DOCS / "command-line.md").read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    waiting: list[object] = [answer]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        if isinstance(one, dict):
            assert [key for key in one if f"`{key}`" not in text] == []
            waiting += [value for key, value in one.items() if key not in ("parameters", *without)]


def test_three_releases_their_history_and_the_proof(registry: Path, run: Run) -> None:
    begun = run("series", "start", "s", "--plan", "plan.yaml", "--settings", "series.yaml", "--json").json
    assert list(begun["axes"]) == ["age", "zip", "ward"]
    documented("series start", begun, "axes")
    losses = []
    for number in (1, 2, 3):
        made = run("series", "release", "s", f"table-{number}.csv", "--output", f"release-{number}.csv", "--json")
        documented("series release", made.json)
        assert made.json["number"] == number
        losses.append(made.json["loss"])
        assert run("verify", f"release-{number}.csv", "--plan", "plan.yaml").code == 0
        assert "all models hold" in (registry / f"release-{number}.certificate.txt").read_text()
        certificate = json.loads((registry / f"release-{number}.certificate.json").read_text())
        assert certificate["series"]["number"] == number
        assert certificate["input"]["name"] == f"table-{number}.csv"
    assert losses == sorted(losses, reverse=True)
    status = run("series", "status", "s")
    *lines, note = status.out.splitlines()
    assert [line.split()[0] for line in lines] == ["release", "1", "2", "3"]
    assert note.startswith("note: rows are counted, not people: nobody has said that every row is another person")
    found = run("series", "verify", "s", "table-3.csv", "release-1.csv", "release-2.csv", "release-3.csv")
    assert found.code == 0
    assert found.out.splitlines()[-1] == "verdict: amber; the series keeps its promises, but 2 points are open"
    assert "release-2.csv: is release 2, byte for byte" in found.out
    documented("series verify", run("series", "verify", "s", "table-3.csv", "release-1.csv", "--json").json)


def test_status_with_a_table_says_what_the_next_release_would_be(started: Path, run: Run) -> None:
    told = run("series", "status", "s", "table-2.csv")
    assert told.code == 0
    assert "the next release would be\nrelease 2: 300 rows" in told.out
    answer = run("series", "status", "s", "table-2.csv", "--json").json
    documented("series status", answer, "region", "values")
    assert (answer["next"]["number"], answer["refused"]) == (2, None)
    assert run("series", "status", "s", "--json").json["next"] is None


def test_status_names_what_is_missing_and_draws_the_series(started: Path, run: Run) -> None:
    told = run("series", "status", "s", "table-2.csv", "--top", "2", "--picture", "picture.html")
    assert told.code == 0
    lines = told.out.splitlines()
    allowed = lines[lines.index("what more rows would allow:") + 1 :]
    assert allowed[2] == "do not publish these lines: what a group lacks tells how small it is"
    assert lines[-2].startswith("verdict: amber; the next release satisfies the plan, but ")
    assert lines[-1] == "picture: picture.html"
    assert "release 2, next" in Path("picture.html").read_text(encoding="utf-8")
    assert run("series", "status", "s", "--picture", "picture.html").err.endswith("[output-exists]\n")
    assert run("series", "status", "s", "--picture", "picture.html", "--force").code == 0
    assert run("series", "status", "s", "table-2.csv", "--picture", "table-2.csv").err.endswith("[page-format]\n")


def test_status_says_why_the_next_release_would_be_refused(registry: Path, run: Run) -> None:
    assert run("series", "start", "s", "--plan", "plan.yaml", "--settings", "series.yaml").code == 0
    assert "no release yet" in run("series", "status", "s").out
    ko.write_table(patients(4), registry / "few.csv", like=None, force=False)
    told = run("series", "status", "s", "few.csv")
    assert told.code == 0
    assert "the next release would be refused" in told.out
    assert run("series", "status", "s", "few.csv", "--json").json["refused"]["error"] == "series-nothing-shown"
    assert run("series", "release", "s", "few.csv", "--output", "out.csv").code == 1
    assert not (registry / "out.csv").exists()


def test_a_dry_run_makes_nothing(started: Path, run: Run) -> None:
    before = (started / "s" / "series.json").read_bytes()
    tried = run("series", "release", "s", "table-2.csv", "--dry-run")
    assert "dry run: nothing was written" in tried.out
    assert run("series", "release", "s", "table-2.csv", "--again", "1", "--dry-run").code == 0
    assert (started / "s" / "series.json").read_bytes() == before


def test_a_release_is_written_again_byte_for_byte(started: Path, run: Run) -> None:
    first = (started / "release-1.csv").read_bytes()
    assert run("series", "release", "s", "table-2.csv", "--output", "release-2.csv").code == 0
    assert run("series", "release", "s", "table-2.csv", "--again", "1", "--output", "release-1.csv").code == 2
    again = run("series", "release", "s", "table-2.csv", "--again", "1", "--output", "release-1.csv", "--force")
    assert again.code == 0
    assert (started / "release-1.csv").read_bytes() == first
    refused = run("series", "release", "s", "table-2.csv", "--again", "7", "--output", "x.csv")
    assert (refused.code, "series-no-release" in refused.err) == (2, True)


def test_an_old_copy_of_the_folder_makes_no_second_release_of_the_same_number(started: Path, run: Run) -> None:
    shutil.copytree("s", "copy")
    assert run("series", "release", "s", "table-2.csv", "--output", "release-2.csv").code == 0
    shutil.copytree("s", "latest")
    shutil.rmtree("s")
    shutil.copytree("copy", "s")
    second = (started / "release-2.csv").read_bytes()
    for output in ("release-2.csv", "other.csv"):
        refused = run("series", "release", "s", "table-3.csv", "--output", output, "--force")
        assert refused.code == 1
        assert "release-2.certificate.json" in refused.err
        assert refused.err.endswith("[series-backwards]\n")
    assert (started / "release-2.csv").read_bytes() == second
    assert not (started / "other.csv").exists()
    assert run("series", "verify", "s", "table-2.csv", "release-2.csv").code == 1
    assert run("series", "verify", "latest", "table-2.csv", "release-2.csv").code == 0
    assert run("series", "release", "latest", "table-3.csv", "--output", "release-3.csv").code == 0


def test_status_removes_the_draft_of_a_killed_release(started: Path, run: Run) -> None:
    draft = started / f".release-2.csv.{'0' * 16}.tmp"
    draft.write_text("draft")
    (started / "s" / "drafting").write_text(json.dumps([str(started.resolve() / "release-2.csv")]))
    assert run("series", "status", "s").code == 0
    assert not draft.exists()


def test_the_certificate_hides_small_counts_and_its_keys_are_documented(started: Path, run: Run) -> None:
    ko.write_table(patients(152), started / "few-more.csv", like=None, force=False)
    made = run("series", "release", "s", "few-more.csv", "--output", "release-2.csv", "--json").json
    certificate = json.loads((started / "release-2.certificate.json").read_text())
    assert (made["new"], certificate["series"]["new"], certificate["series"]["least"]) == (2, None, 5)
    documented("series release", certificate["series"], "settings")


def test_one_row_is_not_called_rows(registry: Path, run: Run) -> None:
    (registry / "series.yaml").write_text(
        ko.SeriesSettings.from_dict({"kohorte": 1, **SETTINGS, "identified_by": "id", "withdrawn": "accept"}).to_yaml()
    )
    assert run("series", "start", "s", "--plan", "plan.yaml", "--settings", "series.yaml").code == 0
    assert run("series", "release", "s", "table-1.csv", "--output", "release-1.csv").code == 0
    ko.write_table(patients(300)[1:], registry / "without-one.csv", like=None, force=False)
    made = run("series", "release", "s", "without-one.csv", "--output", "release-2.csv")
    assert made.code == 0
    assert "note: 1 row withdrawn; what was released remains public" in made.out
    assert "1 rows" not in re.sub(r"[\d,]+1 rows", "", made.out)


def test_parquet_goes_in_and_comes_out(started: Path, run: Run) -> None:
    ko.write_table(patients(300), started / "table.parquet", like=None, force=False)
    assert run("series", "release", "s", "table.parquet", "--output", "release.parquet").code == 0
    assert ko.read_table(started / "release.parquet").format == "parquet"
    assert run("series", "verify", "s", "table-2.csv", "release.parquet").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        ("series release s table-0.csv --output o.csv", 2, "series-withdrawn"),
        ("series release s table-2.csv --output o.csv --plan other.yaml", 2, "series-other-plan"),
        ("series release s table-2.csv --output s/o.csv", 2, "series-output-inside"),
        ("series release s table-2.csv --output release-1.csv", 2, "output-exists"),
        ("series release s table-2.csv --output table-2.csv --force", 2, "output-is-input"),
        ("series release none table-2.csv --output o.csv", 2, "series-missing"),
        ("series release s none.csv --output o.csv", 2, "file-unreadable"),
        ("series verify s table-0.csv", 2, "series-withdrawn"),
        ("series verify s table-2.csv table-2.csv", 1, "is not a release of this series"),
        ("series start s --plan plan.yaml --settings series.yaml", 2, "series-exists"),
        ("series start t --plan plan.yaml", 2, "series-axis"),
        ("series start t --plan plan.yaml --settings none.yaml", 2, "series-settings-unreadable"),
        ("series start t --plan plan.yaml --settings plan.yaml", 2, "series-settings-unknown-key"),
    ],
)
def test_what_is_refused_is_named_and_the_series_stays_usable(
    started: Path, run: Run, arguments: str, code: int, named: str
) -> None:
    ko.write_table(patients(140), started / "table-0.csv", like=None, force=False)
    (started / "other.yaml").write_text(plan(suppression_limit=0.3).to_yaml())
    refused = run(*arguments.split())
    assert refused.code == code
    assert named in refused.out + refused.err
    assert not (started / "o.csv").exists()
    assert not (started / "t").exists()
    assert run("series", "release", "s", "table-2.csv", "--output", "next.csv").code == 0


def test_no_output_of_the_command_is_a_value_of_the_table(started: Path, run: Run) -> None:
    table = patients(300).with_columns(diagnosis="canary-" + patients(300)["diagnosis"])
    ko.write_table(table, started / "changed.csv", like=None, force=False)
    bad = patients(300)
    bad[299, "ward"] = "canary"
    ko.write_table(bad, started / "bad.csv", like=None, force=False)
    for name in ("changed.csv", "bad.csv"):
        ran = run("series", "release", "s", name, "--output", "o.csv")
        assert ran.code == 2
        assert re.search("canary|asthma", ran.out + ran.err) is None
