"""Whatever is wrong with what the user gives: a clear message, an honest exit code, and nothing is written or lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

Run = Callable[..., Any]
Snapshot = Callable[[Path], dict[str, bytes]]

HEADER = "name,zip,sex,diagnosis\n"
ROW = "Uta,81667,f,flu\n"

TABLES: dict[str, tuple[bytes, str, str]] = {
    "an empty file": (b"", "csv-empty", "in.csv"),
    "only line ends": (b"\n\n\n", "csv-empty", "in.csv"),
    "only a header": (HEADER.encode(), "table-no-rows", "no rows"),
    "one row and k of 2": ((HEADER + ROW).encode(), "model-beyond-rows", "only 1"),
    "one column": (b"zip\n81667\n81667\n", "columns-missing", "'name'"),
    "a column twice": (b"zip,zip,sex,diagnosis\n1,2,3,4\n", "table-duplicate-columns", "'zip'"),
    "a column without name": (b"name,,sex,diagnosis\n1,2,3,4\n", "table-unnamed-columns", "position 2"),
    "a row that is too short": ((HEADER + ROW + "Ria,81667\n" + ROW).encode(), "csv-ragged", "line 3 has 2 fields"),
    "a row that is too long": ((HEADER + ROW + "a,b,c,d,e\n").encode(), "csv-ragged", "line 3 has 5 fields"),
    "the wrong separator": ((HEADER + ROW).replace(",", "#").encode(), "columns-none-fit", "is the separator right"),
    "no utf-8": ((HEADER + ROW + "Zo\xeb,81667,f,flu\n").encode("latin-1"), "csv-not-utf-8", "line 3"),
    "quotes that do not match": ((HEADER + ROW + 'a,"b,c,d\n').encode(), "csv-quotes", "line 3"),
    "no text at all": (b"\x00\x01\x02" * 50, "csv-nul", "NUL"),
    "a workbook": (b"PK\x03\x04" + b"x" * 50, "file-format", "Excel"),
    "a damaged parquet file": (b"PAR1" + b"x" * 50, "parquet-damaged", "Parquet"),
    "a column that the plan does not name": (b"name,zip,sex,diagnosis,room\n1,2,3,4,5\n", "columns-unnamed", "'room'"),
    "a column that is missing": (b"name,zip,diagnosis\n1,2,3\n1,2,3\n", "columns-missing", "'sex'"),
    "a star among the values": (
        (HEADER + ROW * 2 + "a,*,f,x\n").encode(),
        "value-is-star",
        "'zip' shows * in 1 row (3)",
    ),
}


def refused(
    run: Run, folder: Path, snapshot: Snapshot, arguments: tuple[object, ...], codes: tuple[int, ...] = (2,)
) -> str:
    """Run a command that must fail, and check that it changed nothing; return its message."""
    before = snapshot(folder)
    ran = run(*arguments)
    assert ran.code in codes, ran
    assert ran.out == ""
    assert ran.err.startswith("kohorte: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert snapshot(folder) == before
    return str(ran.err)


@pytest.mark.parametrize("verb", ["anonymize", "verify", "lattice", "algorithms", "hierarchy"])
@pytest.mark.parametrize("what", TABLES)
def test_a_bad_table_is_refused(hospital: Path, run: Run, snapshot: Snapshot, what: str, verb: str) -> None:
    content, code, words = TABLES[what]
    (hospital / "in.csv").write_bytes(content)
    arguments: tuple[object, ...] = (verb, "in.csv", "--plan", "plan.yaml")
    if verb == "anonymize":
        arguments += ("--output", "out.csv")
    if verb == "hierarchy":
        arguments = ("hierarchy", "show", *arguments[1:], "--attribute", "zip")
    needs_models = code in ("model-beyond-rows", "value-not-in-hierarchy", "value-is-star")
    if verb in ("verify", "hierarchy") and (needs_models or what in ("one column", "a column that is missing")):
        return
    message = refused(run, hospital, snapshot, arguments)
    assert f"[{code}]" in message
    assert words in message


PLANS = {
    "k of 0": ("k: 2", "k: 0", "model-parameter", "k must be a whole number of at least 1"),
    "k beyond the rows": ("k: 2", "k: 6", "model-beyond-rows", "6 rows, but the table has only 5"),
    "a limit above 1": ("limit: 0.2", "limit: 5", "plan-suppression-limit", "suppression_limit"),
    "a limit below 0": ("limit: 0.2", "limit: -0.2", "plan-suppression-limit", "suppression_limit"),
    "an unknown key": ("output:", "ouput:", "plan-unknown-key", "(did you mean 'output'?)"),
    "an unknown key within": ("role: sensitive", "rol: sensitive", "plan-unknown-key", "(did you mean 'role'?)"),
    "a hierarchy that is not there": ("{redaction: {}}", "{csv: absent.csv}", "hierarchy-file-missing", "absent.csv"),
    "a value that the hierarchy lacks": ("{redaction: {}}", "{csv: few.csv}", "value-not-in-hierarchy", "1 row (5)"),
    "levels that are not monotone": ("{redaction: {}}", "{csv: split.csv}", "hierarchy-not-monotone", "zip"),
    "a ragged hierarchy": ("{redaction: {}}", "{csv: ragged.csv}", "hierarchy-file-ragged", "line 2"),
    "a hierarchy with a value twice": ("{redaction: {}}", "{csv: twice.csv}", "hierarchy-duplicate-values", "zip"),
    "an empty hierarchy": ("{redaction: {}}", "{csv: empty.csv}", "hierarchy-file-empty", "empty.csv"),
    "broken yaml": ("models:", "models", "plan-yaml", "at line"),
}
HIERARCHIES = {
    "few.csv": "81667;8;*\n81671;8;*\n81672;8;*\n",
    "split.csv": "81667;a;x;*\n81671;a;y;*\n81672;b;y;*\n10115;b;y;*\n",
    "ragged.csv": "81667;8;*\n81671;*\n",
    "twice.csv": "81667;8;*\n81667;9;*\n",
    "empty.csv": "",
}


@pytest.mark.parametrize("verb", ["anonymize", "lattice", "algorithms"])
@pytest.mark.parametrize("what", PLANS)
def test_a_bad_plan_or_hierarchy_is_refused(hospital: Path, run: Run, snapshot: Snapshot, what: str, verb: str) -> None:
    old, new, code, words = PLANS[what]
    for name, text in HIERARCHIES.items():
        (hospital / name).write_text(text)
    text = (hospital / "plan.yaml").read_text()
    assert old in text
    (hospital / "plan.yaml").write_text(text.replace(old, new))
    goal = ("--output", "out.csv") if verb == "anonymize" else ()
    message = refused(run, hospital, snapshot, (verb, "patients.csv", "--plan", "plan.yaml", *goal))
    assert f"[{code}]" in message
    assert words in message


@pytest.mark.parametrize("existing", ["out.csv", "out.certificate.json", "out.certificate.txt"])
def test_an_existing_output_is_refused_before_any_work_and_replaced_only_by_force(
    hospital: Path, run: Run, snapshot: Snapshot, existing: str
) -> None:
    (hospital / existing).write_text("precious")
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv")
    message = refused(run, hospital, snapshot, arguments)
    assert existing in message
    assert "--force" in message
    assert run(*arguments, "--force").code == 0
    assert (hospital / existing).read_text() != "precious"


OUTPUTS = {
    "the input itself": ("patients.csv", "output-is-input"),
    "the input by another way": ("../here/patients.csv", "output-is-input"),
    "a link to the input": ("link.csv", "output-is-input"),
    "the plan": ("plan.yaml", "output-is-input"),
    "a folder": (".", "output-is-folder"),
    "nothing": ("", "output-is-folder"),
    "the root": ("/", "output-is-folder"),
    "a folder that is not there": ("absent/out.csv", "output-folder-missing"),
    "a workbook": ("out.xlsx", "file-format"),
    "a device": ("/dev/null", "output-not-a-file"),
}


@pytest.mark.parametrize("what", OUTPUTS)
def test_an_output_that_cannot_be_is_refused_even_by_force(
    hospital: Path, run: Run, snapshot: Snapshot, what: str
) -> None:
    output, code = OUTPUTS[what]
    (hospital / "link.csv").symlink_to(hospital / "patients.csv")
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", output, "--force")
    assert f"[{code}]" in refused(run, hospital, snapshot, arguments)


def test_a_name_that_is_too_long_is_refused(hospital: Path, run: Run, snapshot: Snapshot) -> None:
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "x" * 300 + ".csv")
    assert "[output-not-a-file]" in refused(run, hospital, snapshot, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("hierarchy", "build", "patients.csv", "--plan", "plan.yaml", "--attribute", "zip", "--output", "patients.csv"),
        ("hierarchy", "build", "patients.csv", "--plan", "plan.yaml", "--attribute", "zip", "--output", "plan.yaml"),
        ("profile", "patients.csv", "--write-plan", "patients.csv"),
    ],
    ids=["a hierarchy over the table", "a hierarchy over the plan", "a plan over the table"],
)
def test_no_verb_overwrites_what_it_reads(
    hospital: Path, run: Run, snapshot: Snapshot, arguments: tuple[str, ...]
) -> None:
    assert "[output-is-input]" in refused(run, hospital, snapshot, (*arguments, "--force"))


def test_an_unreadable_table_or_plan_is_refused(hospital: Path, run: Run, snapshot: Snapshot) -> None:
    goal = ("--output", "out.csv")
    for data, plan in (
        ("absent.csv", "plan.yaml"),
        (".", "plan.yaml"),
        ("patients.csv", "absent.yaml"),
        ("patients.csv", "."),
    ):
        refused(run, hospital, snapshot, ("anonymize", data, "--plan", plan, *goal))
    swapped = refused(run, hospital, snapshot, ("anonymize", "plan.yaml", "--plan", "patients.csv", *goal))
    assert "81667" not in swapped


def test_a_certificate_that_is_not_there_is_not_taken_for_another_file(hospital: Path, run: Run) -> None:
    plan = hospital / "away.certificate.json"
    ran = run("verify", "in.csv", "--plan", plan.name)
    assert (ran.code, "[certificate-unreadable]" in ran.err) == (2, True)
    assert "no such file" in ran.err
    plan.write_text("{}", encoding="utf-8")
    assert "is not the certificate of a release" in run("verify", "in.csv", "--plan", plan.name).err


@pytest.mark.skipif(os.geteuid() == 0, reason="for root every folder is writable")
def test_a_folder_without_permission_is_refused(hospital: Path, run: Run, snapshot: Snapshot) -> None:
    (hospital / "closed").mkdir(mode=0o500)
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "closed/out.csv")
    assert "[output-not-writable]" in refused(run, hospital, snapshot, arguments)


@pytest.mark.parametrize("option", [("--separator", "ab"), ("--separator", '"'), ("--encoding", "klingon")])
def test_a_wrong_option_for_reading_is_refused(
    hospital: Path, run: Run, snapshot: Snapshot, option: tuple[str, str]
) -> None:
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv", *option)
    message = refused(run, hospital, snapshot, arguments)
    assert option[0].strip("-") in message


def limited(bytes_allowed: int) -> Callable[[], None]:
    """Make every file of a new process end after so many bytes, as a full disk would."""

    def limit() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_allowed, bytes_allowed))

    return limit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "allowed", "force"),
    [
        (".csv", 0, False),
        (".csv", 20_000, True),
        (".parquet", 5_000, False),
        (".csv", 60_300, False),
        (".csv", 60_300, True),
    ],
)
def test_a_disk_that_fills_up_in_the_middle_leaves_everything_as_it_was(
    hospital: Path, snapshot: Snapshot, suffix: str, allowed: int, force: bool
) -> None:
    rows = [(f"n{i}", f"816{i % 7}{i % 3}", "fm"[i % 2], f"disease {i * 7919 % 100_003}") for i in range(3_000)]
    names = ["name", "zip", "sex", "diagnosis"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv("many.csv")
    if force:
        for name in (f"out{suffix}", "out.certificate.json", "out.certificate.txt"):
            (hospital / name).write_text("precious")
    before = snapshot(hospital)
    arguments = ["anonymize", "many.csv", "--plan", "plan.yaml", "--output", f"out{suffix}"]
    ran = subprocess.run(
        [sys.executable, "-m", "kohorte.cli.main", *arguments, *(["--force"] if force else [])],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited(allowed),
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
    )
    assert ran.returncode == 3, ran.stderr
    assert f"kohorte: out{suffix}: " in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert snapshot(hospital) == before


def test_a_disk_that_is_full_for_the_certificate_leaves_nothing(hospital: Path, snapshot: Snapshot) -> None:
    before = snapshot(hospital)
    arguments = ["anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv"]
    ran = subprocess.run(
        [sys.executable, "-m", "kohorte.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited(500),
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
    )
    assert ran.returncode == 3, ran.stderr
    assert "out.certificate.json: no space left" in ran.stderr
    assert snapshot(hospital) == before


def test_an_error_that_nobody_foresaw_ends_with_3_and_without_its_words(
    hospital: Path, run: Run, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("cannot parse 'Uta'")

    monkeypatch.setattr("kohorte.release.find_candidate", broken)
    arguments = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv")
    message = refused(run, hospital, snapshot, arguments, codes=(3,))
    assert "unexpected ComputeError in " in message
    assert "Uta" not in message
