"""Every verb of the command, once around."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.cli.main import VERBS
from kohorte.kernels import KERNELS

Run = Callable[..., Any]
ANONYMIZE_KEYS = {"levels", "cost", "metric", "suppressed", "rows", "classes", "smallest_class", "checked"}
ANONYMIZE_KEYS |= {"lattice", "algorithm", "optimal", "seconds"}
BEYOND_THE_INTERFACE = {
    "unit",
    "people",
    "one_row_cost",
    "formulas",
    *("recoded", "heuristic", "algorithm_facts", "rolled_up", "tagged", "lower_bound"),
    *("lost_values", "verdict"),
}


def test_the_demo_tells_its_story_and_leaves_a_folder_that_works(folder: Path, run: Run) -> None:
    ran = run("demo", "--rows", 400, "--folder", "try-it")
    assert ran.code == 0
    assert ran.err == ""
    assert [line for line in ran.out.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]
    commands = [line.split()[2:] for line in ran.out.splitlines() if line.startswith("$ kohorte ")]
    assert [command[0] for command in commands] == ["profile", "verify", "anonymize", "verify"]
    assert sorted(path.name for path in (folder / "try-it").iterdir()) == [
        "blood_group.yaml",
        "diagnosis.yaml",
        "first-plan.yaml",
        "occupation.yaml",
        "patients.csv",
        "plan.yaml",
        "release.certificate.json",
        "release.certificate.txt",
        "release.csv",
    ]
    assert run(*commands[1]).code == 1
    assert run(*commands[3]).code == 0


def test_a_second_demo_does_not_touch_the_first(folder: Path, run: Run, snapshot: Callable[..., Any]) -> None:
    assert run("demo", "--rows", 100).code == 0
    before = snapshot(folder)
    ran = run("demo", "--rows", 200)
    assert ran.code == 2
    assert "[output-exists]" in ran.err
    assert snapshot(folder) == before
    assert run("demo", "--rows", 200, "--force").code == 0
    assert snapshot(folder) != before


def test_a_demo_beside_one_existing_file_writes_nothing(folder: Path, run: Run, snapshot: Callable[..., Any]) -> None:
    (folder / "kohorte-demo").mkdir()
    (folder / "kohorte-demo" / "release.csv").write_text("precious")
    assert run("demo", "--rows", 100).code == 2
    assert snapshot(folder) == {"kohorte-demo/release.csv": b"precious"}


@pytest.mark.parametrize("rows", ["0", "-1", "many"])
def test_a_demo_of_nobody_is_refused(folder: Path, run: Run, rows: str) -> None:
    assert run("demo", "--rows", rows).code == 2
    assert list(folder.iterdir()) == []


def test_a_demo_that_cannot_go_on_says_so(folder: Path, run: Run) -> None:
    ran = run("demo", "--rows", 3)
    assert ran.code == 2
    assert "[model-beyond-rows]" in ran.err
    assert "[demo-stopped]" in ran.err


def test_the_profile_shows_columns_and_a_plan(hospital: Path, run: Run) -> None:
    ran = run("profile", "patients.csv")
    assert ran.code == 0
    assert "5 rows, 4 columns" in ran.out
    for word in ("name", "identifying", "quasi-identifying", "sensitive", "kohorte: 1"):
        assert word in ran.out
    for value in ("81667", "flu", "Uta"):
        assert value not in ran.out


def test_the_plan_that_a_profile_writes_can_be_used(folder: Path, run: Run) -> None:
    ko.cohort(300).write_csv("patients.csv")
    assert run("profile", "patients.csv", "--write-plan", "plan.yaml").code == 0
    assert run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv").code == 0
    assert run("verify", "out.csv", "--plan", "plan.yaml").code == 0
    before = (folder / "plan.yaml").read_bytes()
    assert run("profile", "patients.csv", "--write-plan", "plan.yaml").code == 2
    assert (folder / "plan.yaml").read_bytes() == before
    assert run("profile", "patients.csv", "--write-plan", "plan.yaml", "--force").code == 0


def test_a_profile_without_a_plan_to_write_does_not_let_an_older_plan_pass_for_it(folder: Path, run: Run) -> None:
    ko.cohort(300).head(1).write_csv("patients.csv")
    (folder / "plan.yaml").write_text("an older plan\n", encoding="utf-8")
    for options in ([], ["--json"]):
        ran = run("profile", "patients.csv", "--write-plan", "plan.yaml", "--force", *options)
        assert ran.code == 1
        assert "the table has one row" in ran.out
    assert run("profile", "patients.csv").code == 0
    assert (folder / "plan.yaml").read_text(encoding="utf-8") == "an older plan\n"


def test_the_profile_as_json(hospital: Path, run: Run) -> None:
    facts = run("profile", "patients.csv", "--json").json
    assert facts["rows"] == 5
    assert [column["name"] for column in facts["columns"]] == ["name", "zip", "sex", "diagnosis"]
    assert ko.Plan.from_dict(facts["plan"]).quasi_identifiers == ("zip", "sex")


def test_a_built_hierarchy_gives_the_same_release_as_its_builder(hospital: Path, run: Run) -> None:
    assert (
        run("hierarchy", "build", "patients.csv", "--plan", "plan.yaml", "--attribute", "zip", "--output", "z.csv").code
        == 0
    )
    assert (hospital / "z.csv").read_text().splitlines()[0] == "10115;1011*;101**;10***;1****;*"
    text = (hospital / "plan.yaml").read_text().replace("{redaction: {}}", "{csv: z.csv}")
    (hospital / "file-plan.yaml").write_text(text)
    for plan, output in (("plan.yaml", "a.csv"), ("file-plan.yaml", "b.csv")):
        assert run("anonymize", "patients.csv", "--plan", plan, "--output", output).code == 0
    assert (hospital / "a.csv").read_bytes() == (hospital / "b.csv").read_bytes()
    assert run("hierarchy", "check", "patients.csv", "--plan", "file-plan.yaml").code == 0


def test_the_check_of_hierarchies_counts_without_values(hospital: Path, run: Run) -> None:
    (hospital / "z.csv").write_text("81667;8;*\n81671;8;*\n10115;1;*\n")
    text = (hospital / "plan.yaml").read_text().replace("{redaction: {}}", "{csv: z.csv}")
    (hospital / "plan.yaml").write_text(text)
    ran = run("hierarchy", "check", "patients.csv", "--plan", "plan.yaml")
    assert ran.code == 1
    assert "zip: does NOT fit the data" in ran.out
    assert "1 values in 1 rows (rows 4)" in ran.out
    assert "81672" not in ran.out
    facts = run("hierarchy", "check", "patients.csv", "--plan", "plan.yaml", "--attribute", "zip", "--json").json
    assert facts["ok"] is False
    [entry] = facts["attributes"]
    assert entry["missed_row_numbers"] == [4]


def test_a_hierarchy_is_shown_as_it_is_applied(hospital: Path, run: Run) -> None:
    ran = run("hierarchy", "show", "patients.csv", "--plan", "plan.yaml", "--attribute", "zip", "--limit", 1)
    assert ran.code == 0
    assert "10115" in ran.out
    assert "... 3 more values" in ran.out
    ran = run("hierarchy", "show", "patients.csv", "--plan", "plan.yaml", "--attribute", "zi")
    assert ran.code == 2
    assert "(did you mean 'zip'?)" in ran.err


def test_a_release_is_written_verified_and_summed_up(hospital: Path, run: Run, released: list[Any]) -> None:
    ran = run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv")
    assert ran.code == 0
    assert ran.err == ""
    assert "5 rows, 1 of them suppressed (20 %)" in ran.out
    assert "optimal" in ran.out
    assert "written and verified: out.csv; certificate: out.certificate.txt" in ran.out
    table = ko.read_table("out.csv").frame
    assert table.columns == ["zip", "sex", "diagnosis"]
    assert table.rows() == released


def test_a_dry_run_writes_nothing(hospital: Path, run: Run, snapshot: Callable[..., Any]) -> None:
    before = snapshot(hospital)
    ran = run("anonymize", "patients.csv", "--plan", "plan.yaml", "--dry-run")
    assert ran.code == 0
    assert "nothing was written" in ran.out
    assert snapshot(hospital) == before


@pytest.mark.parametrize("goal", [["--output", "out.csv"], ["--dry-run"]])
def test_a_release_as_json_is_one_object_with_the_promised_keys(hospital: Path, run: Run, goal: list[str]) -> None:
    ran = run("anonymize", "patients.csv", "--plan", "plan.yaml", *goal, "--json")
    assert ran.code == 0
    assert ran.err == ""
    facts = ran.json
    assert set(facts) == ANONYMIZE_KEYS | BEYOND_THE_INTERFACE
    assert {"read", "encode", "search", "write", "total"} == set(facts["seconds"])
    assert facts["levels"] == {"zip": 1, "sex": 0}
    assert (facts["rows"], facts["suppressed"], facts["classes"], facts["smallest_class"]) == (5, 1, 2, 2)
    assert (facts["metric"], facts["algorithm"], facts["optimal"], facts["lattice"]) == ("loss", "optimal", True, 12)
    assert facts["seconds"]["total"] >= facts["seconds"]["search"] >= 0


def test_an_error_with_json_is_one_object_too(hospital: Path, run: Run) -> None:
    ran = run("anonymize", "absent.csv", "--plan", "plan.yaml", "--dry-run", "--json")
    assert ran.code == 2
    assert ran.json == {"error": "file-unreadable", "message": "absent.csv: there is no such file"}


def test_algorithm_and_time_limit_can_be_given_with_the_command(hospital: Path, run: Run) -> None:
    base = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--dry-run")
    facts = run(*base, "--algorithm", "exhaustive", "--json").json
    assert (facts["algorithm"], facts["checked"]) == ("exhaustive", 12)
    ran = run(*base, "--algorithm", "exhaustiv")
    assert ran.code == 2
    assert "(did you mean 'exhaustive'?)" in ran.err
    assert run(*base, "--time-limit", "60", "--json").json["optimal"] is True
    for wrong in ("0", "-1", "nan", "inf"):
        ran = run(*base, "--time-limit", wrong)
        assert ran.code == 2
        assert "time_limit" in ran.err


def test_what_was_found_in_too_short_a_time_does_not_pass_for_the_best(folder: Path, run: Run) -> None:
    assert run("demo", "--rows", 500, "--folder", ".").code == 0
    base = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--dry-run", "--time-limit", "0.000000001")
    facts = run(*base, "--json").json
    assert facts["optimal"] is False
    assert facts["lower_bound"] is None or facts["lower_bound"] <= facts["cost"]
    ran = run(*base)
    assert ran.code == 0
    assert "the best found in the time given" in ran.out
    assert "optimal:" not in ran.out


def test_verify_ends_with_0_1_or_2(hospital: Path, run: Run) -> None:
    assert run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv").code == 0
    passed = run("verify", "out.csv", "--plan", "plan.yaml")
    assert passed.code == 0
    assert "the table satisfies the plan" in passed.out
    failed = run("verify", "patients.csv", "--plan", "plan.yaml")
    assert failed.code == 1
    assert "does NOT satisfy" in failed.out
    assert "'name' is still there" in failed.out
    assert run("verify", "absent.csv", "--plan", "plan.yaml").code == 2
    assert run("verify", "out.csv", "--plan", "absent.yaml").code == 2


def test_verify_as_json_has_the_promised_keys(hospital: Path, run: Run) -> None:
    ran = run("verify", "patients.csv", "--plan", "plan.yaml", "--json")
    assert ran.code == 1
    facts = ran.json
    counted = {"satisfied", "models", "rows", "classes", "smallest_class", "suppressed", "problems"}
    of_people = {"unit", "people", "people_losing_rows", "people_losing_all_rows", "open_points", "warnings"}
    assert set(facts) == counted | of_people | {"verdict", "notes"}
    assert facts["verdict"]["standing"] == "red"
    [model] = facts["models"]
    assert {"name", "parameters", "satisfied", "reached"} <= set(model)
    assert (facts["satisfied"], model["reached"], model["parameters"]) == (False, 1, {"k": 2})


def test_the_lattice_lists_every_node(hospital: Path, run: Run) -> None:
    ran = run("lattice", "patients.csv", "--plan", "plan.yaml", "--json")
    assert ran.code == 0
    facts = ran.json
    assert len(facts["nodes"]) == 12
    assert set(facts["nodes"][0]) == {"levels", "anonymous", "cost", "suppressed", "classes", "smallest_class"}
    best = [node for node in facts["nodes"] if node["levels"] == facts["best"]]
    assert best[0]["cost"] == min(node["cost"] for node in facts["nodes"] if node["anonymous"])
    text = run("lattice", "patients.csv", "--plan", "plan.yaml", "--show", 2)
    assert text.code == 0
    *lines, note = text.out.splitlines()
    assert len(lines) == 7  # two nodes below two lines, and what the optimum shows of two columns
    assert note.startswith("note: rows are counted, not people: nobody has said that every row is another person")
    assert [note] == [f"note: {one}" for one in facts["notes"]]


def test_without_a_solution_anonymize_and_lattice_end_with_1(hospital: Path, run: Run) -> None:
    (hospital / "gaps.csv").write_text("name,zip,sex,diagnosis\na,,f,x\nb,1,f,x\nc,1,f,x\n")
    text = (hospital / "plan.yaml").read_text() + "missing: suppress\n"
    (hospital / "plan.yaml").write_text(text)
    ran = run("anonymize", "gaps.csv", "--plan", "plan.yaml", "--output", "out.csv")
    assert ran.code == 1
    assert "[no-solution]" in ran.err
    assert "suppression_limit of 0.333334" in ran.err
    assert run("lattice", "gaps.csv", "--plan", "plan.yaml").code == 1
    assert not (hospital / "out.csv").exists()


ALL_HELP = [(verb,) for verb in VERBS] + [("hierarchy", action) for action in ("build", "check", "show")] + [()]


@pytest.mark.parametrize("verb", ALL_HELP, ids=lambda verb: "-".join(verb) or "kohorte")
def test_help_shows_examples(run: Run, verb: tuple[str, ...]) -> None:
    ran = run(*verb, "--help")
    assert ran.code == 0
    assert ran.err == ""
    assert "examples:" in ran.out or "first steps:" in ran.out
    assert "  kohorte " in ran.out


def test_without_a_verb_the_help_is_shown(run: Run) -> None:
    ran = run()
    assert ran.code == 0
    assert "exit codes:" in ran.out


def test_the_version_names_the_kernels(run: Run) -> None:
    ran = run("--version")
    assert ran.code == 0
    assert f"kernels {KERNELS}" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["anonymize"],
        ["anonymize", "patients.csv", "--plan", "plan.yaml"],
        ["anonymize", "patients.csv", "--output", "out.csv"],
        ["anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv", "--dry-run"],
        ["anonymize", "patients.csv", "--plan", "plan.yaml", "--outp", "out.csv"],
        ["anonymize", "patients.csv", "--plan", "plan.yaml", "--dry-run", "--time-limit", "soon"],
        ["verify", "patients.csv"],
        ["hierarchy"],
        ["hierarchy", "mend", "patients.csv"],
        ["lattice", "patients.csv", "--plan", "plan.yaml", "--show", "all"],
    ],
    ids=" ".join,
)
def test_wrong_use_ends_with_2_and_writes_nothing(
    hospital: Path, run: Run, snapshot: Callable[..., Any], arguments: list[str]
) -> None:
    before = snapshot(hospital)
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "error:" in ran.err
    assert snapshot(hospital) == before


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kohorte.cli.main", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(("arguments", "loaded"), [((), set()), (("anonymize",), {"anonymize"})])
def test_help_loads_no_heavy_library_and_only_the_verb_that_is_asked_for(
    arguments: tuple[str, ...], loaded: set[str]
) -> None:
    """How quick the command starts, `make bench` measures."""
    code = (
        "import sys; from kohorte.cli.main import main\ntry: main([*sys.argv[1:], '--help'])\nexcept SystemExit: pass\n"
    )
    code += "print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    modules = set(ran.stderr.split())
    assert not modules & {"polars", "numpy", "yaml", "pandas", "pyarrow"}
    assert {name.split(".")[3] for name in modules if name.startswith("kohorte.cli.verbs.")} == loaded
    if not loaded:
        ours = {"kohorte", "kohorte.cli", "kohorte.cli.main", "kohorte.errors"}
        assert {name for name in modules if name.split(".")[0] == "kohorte"} == ours
        assert not modules & {"ast", "inspect", "dataclasses", "difflib", "traceback"}


def test_an_output_that_nobody_reads_is_no_error(hospital: Path) -> None:
    pl.DataFrame({"q": [f"{number:06}" for number in range(20_000)]}).write_csv("many.csv")
    (hospital / "many.yaml").write_text(
        "kohorte: 1\nattributes: {q: {role: quasi-identifying, hierarchy: {redaction: {}}}}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    arguments = ["hierarchy", "show", "many.csv", "--plan", "many.yaml", "--attribute", "q"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kohorte.cli.main", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_cannot_be_printed_ends_with_3(hospital: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "kohorte.cli.main", "verify", "patients.csv", "--plan", "plan.yaml", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1
    assert "Traceback" not in ran.stderr


def test_where_only_ascii_can_be_printed_json_still_works(hospital: Path) -> None:
    (hospital / "plan.yaml").write_text(PLAN_OF_UMLAUTS, encoding="utf-8")
    (hospital / "u.csv").write_text("größe\n1\n1\n", encoding="utf-8")
    environment = dict(os.environ, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    ran = command("anonymize", "u.csv", "--plan", "plan.yaml", "--dry-run", "--json", env=environment)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["levels"] == {"größe": 0}


PLAN_OF_UMLAUTS = "kohorte: 1\nattributes: {größe: {role: quasi-identifying}}\nmodels: [{model: k-anonymity, k: 2}]\n"
