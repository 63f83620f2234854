"""`kohorte domain` and `kohorte pseudonymize`, as people use them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from kohorte.data import read_table
from kohorte.trust.folder import ENVIRONMENT
from kohorte.trust.store import ENVIRONMENT as DATABASE
from support import killed_pseudonyms

Run = Callable[..., Any]
SUPPORT = Path(killed_pseudonyms.__file__)
PEOPLE = ["canary1", "canary1", None, "canary2", "canary3"]


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, in which every cell that must not be shown is a canary."""
    for name in (ENVIRONMENT, DATABASE):
        monkeypatch.delenv(name, raising=False)
    frame = pl.DataFrame(
        {
            "patient": PEOPLE,
            "name": [f"canary name {number}" for number in range(5)],
            "admission": [f"2020-02-0{number + 1}" for number in range(5)],
            "value": list(range(5)),
        }
    )
    frame.write_csv(folder / "visits.csv")
    frame.write_parquet(folder / "visits.parquet")
    return folder


def create(run: Run, name: str, kind: str, *options: str) -> Any:
    return run("domain", "create", name, "--kind", kind, "--folder", "trust", *options)


def pseudonymize(run: Run, domain: str, output: str, *options: str, table: str = "visits.csv") -> Any:
    where = ("--domain", domain, "--column", "patient", "--output", output, "--folder", "trust")
    return run("pseudonymize", table, *where, *options)


def test_the_three_kinds_from_the_beginning_to_the_end(here: Path, run: Run) -> None:
    for kind in ("one-way", "reversible", "list"):
        made = create(run, kind, kind)
        assert made.code == 0
        assert f"domain {kind!r}: {kind}" in made.out
        assert "keep a copy" in made.out
        for table in ("visits.csv", "visits.parquet"):
            output = f"{kind}-{table}"
            ran = pseudonymize(run, kind, output, "--drop", "name", table=table)
            assert ran.code == 0, ran.err
            assert "5 rows: 4 pseudonymized" in ran.out
            assert "1 row without a value" in ran.out
            assert f"written: {output}" in ran.out
        first, second = (read_table(here / f"{kind}-{table}").frame for table in ("visits.csv", "visits.parquet"))
        assert first["patient"].to_list() == second["patient"].to_list()
        assert first.columns == ["patient", "admission", "value"]
    listed = run("domain", "list", "--folder", "trust")
    assert [line.split()[:2] for line in listed.out.splitlines()[1:]] == [
        ["list", "list"],
        ["one-way", "one-way"],
        ["reversible", "reversible"],
    ]


def test_json_has_counts_and_seconds_and_no_value(here: Path, run: Run) -> None:
    assert create(run, "study", "list", "--prefix", "S-", "--json").json == {
        "name": "study",
        "kind": "list",
        "alphabet": "0123456789ACDEFGHJKLMNPQRTUVWXYZ",
        "length": 12,
        "prefix": "S-",
        "check": "two",
        "parent": None,
        "exact": False,
        "numbered": False,
        "keep_format": False,
        "key_version": 1,
    }
    ran = pseudonymize(run, "study", "out.csv", "--drop", "name", "--shift-dates", "admission", "--json")
    seconds = ran.json.pop("seconds")
    assert isinstance(seconds, float)
    assert {key: value for key, value in ran.json.items() if key != "seconds"} == {
        "domain": "study",
        "kind": "list",
        "key_version": 1,
        "rows": 5,
        "left_out": 0,
        "pseudonymized": 4,
        "missing": 1,
        "new": 3,
        "dates_shifted": 4,
        "dates_removed": 1,
        "placeholders_removed": 0,
        "notes": [],
        "output": "out.csv",
    }
    assert run("domain", "rotate-key", "study", "--folder", "trust", "--json").json["key_version"] == 2
    assert [one["name"] for one in run("domain", "list", "--folder", "trust", "--json").json["domains"]] == ["study"]
    assert read_table(here / "out.csv").frame["patient"][0].startswith("S-")


def test_the_folder_can_come_from_the_environment(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run("domain", "list")
    assert (ran.code, "--folder" in ran.err, ENVIRONMENT in ran.err) == (2, True, True)
    monkeypatch.setenv(ENVIRONMENT, str(here / "trust"))
    assert run("domain", "create", "study", "--kind", "one-way").code == 0
    ran = run("pseudonymize", "visits.csv", "--domain", "study", "--column", "patient", "--output", "out.csv")
    assert ran.code == 0
    assert "[trust-folder-missing]" in run("domain", "list", "--folder", "nowhere").err


def test_standard_input_is_read_like_a_file(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    create(run, "study", "one-way")
    pseudonymize(run, "study", "one.csv")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((here / "visits.csv").read_bytes())))
    assert pseudonymize(run, "study", "two.csv", table="-").code == 0
    assert (here / "one.csv").read_bytes() == (here / "two.csv").read_bytes()


def test_a_rotation_is_explained_and_old_pseudonyms_can_be_made_again(here: Path, run: Run) -> None:
    create(run, "study", "one-way")
    pseudonymize(run, "study", "one.csv")
    ran = run("domain", "rotate-key", "study", "--folder", "trust")
    assert "version 2 of its key is current" in ran.out
    assert "--key-version" in ran.out
    pseudonymize(run, "study", "two.csv")
    pseudonymize(run, "study", "three.csv", "--key-version", "1")
    one, two, three = ((here / f"{name}.csv").read_bytes() for name in ("one", "two", "three"))
    assert one == three != two


WRONG = {
    "unknown domain": (["--domain", "studie"], "pseudonym-domain-unknown"),
    "unknown column": (["--column", "patent"], "pseudonym-column"),
    "unknown column to drop": (["--drop", "nam"], "pseudonym-column"),
    "dates in another column": (["--shift-dates", "name"], "pseudonym-dates"),
    "days without dates": (["--within", "3"], "pseudonym-within"),
    "no days": (["--shift-dates", "admission", "--within", "0"], "pseudonym-within"),
    "another separator": (["--separator", ";"], "pseudonym-column"),
    "an encoding that does not exist": (["--encoding", "klingon"], "csv-encoding-unknown"),
    "a version that does not exist": (["--key-version", "9"], "trust-key-lost"),
    "an output that is the input": (["--output", "visits.csv", "--force"], "output-is-input"),
    "an output in Excel": (["--output", "out.xlsx"], "file-format"),
    "an output nowhere": (["--output", "no/where.csv"], "output-folder-missing"),
    "another folder": (["--folder", "."], "trust-"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_with_a_code_and_without_a_value(here: Path, run: Run, name: str) -> None:
    create(run, "study", "one-way")
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    options, code = WRONG[name]
    for json_ in ([], ["--json"]):
        ran = pseudonymize(run, "study", "out.csv", *options, *json_)
        assert ran.code == 2
        assert f"[{code}" in ran.err
        assert "canary" not in ran.err + ran.out
    assert json.loads(ran.out)["error"].startswith(code)
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


def test_an_existing_output_is_replaced_only_if_asked(here: Path, run: Run) -> None:
    create(run, "study", "one-way")
    (here / "out.csv").write_text("precious")
    assert "[output-exists]" in pseudonymize(run, "study", "out.csv").err
    assert (here / "out.csv").read_text() == "precious"
    assert pseudonymize(run, "study", "out.csv", "--force").code == 0


def test_nothing_that_is_printed_logged_or_stored_beside_the_output_shows_a_value(here: Path, run: Run) -> None:
    printed = create(run, "study", "list").out
    ran = pseudonymize(run, "study", "out.csv", "--shift-dates", "admission")
    printed += ran.out + ran.err + run("domain", "list", "--folder", "trust").out
    stored = b"".join(path.read_bytes() for path in (here / "trust").iterdir())
    pseudonyms = read_table(here / "out.csv").frame["patient"].drop_nulls().to_list()
    for value in ("canary1", "canary name", *pseudonyms):
        assert value not in printed
        assert value.encode() not in stored


def test_a_missing_extra_is_named(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kohorte.trust.libraries.find_spec", lambda name: None if name == "nacl" else name)
    ran = create(run, "study", "one-way")
    assert (ran.code, "kohorte[pseudonyms]" in ran.err) == (2, True)
    assert not (here / "trust").exists()


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_an_interruption_leaves_no_file_and_the_list_continues(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    create(run, "study", "list")
    from kohorte.pseudonyms import bulk

    original = bulk.offsets

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(bulk, "offsets", interrupted)
        ran = pseudonymize(run, "study", output, "--shift-dates", "admission")
    assert (ran.code, ran.err) == (130, "kohorte: interrupted; no file is half written\n")
    assert {path.name for path in here.iterdir()} == {"visits.csv", "visits.parquet", "trust"}
    assert pseudonymize(run, "study", output, "--json").json["new"] == 0


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nobody_and_gives_nobody_two_pseudonyms(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != DATABASE}
    ran = subprocess.run(
        [sys.executable, SUPPORT, tmp_path], capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
    left = [int(line) for line in ran.stdout.split()]
    assert len(left) == len(killed_pseudonyms.MOMENTS)
    assert 0 in left
    assert len(killed_pseudonyms.PEOPLE) in left
    assert len(set(left)) > 3


def test_a_definition_that_is_not_possible_makes_no_folder(here: Path, run: Run) -> None:
    assert "[pseudonym-length]" in create(run, "study", "one-way", "--length", "3").err
    assert not (here / "trust").exists()


def test_a_pipe_is_read_once(here: Path, run: Run) -> None:
    create(run, "study", "one-way")
    pseudonymize(run, "study", "one.csv")
    pipe = here / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", "visits.csv", "pipe"]):
        assert pseudonymize(run, "study", "two.csv", table="pipe").code == 0
    assert (here / "one.csv").read_bytes() == (here / "two.csv").read_bytes()
