"""`kohorte risk` and `kohorte attack`, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import read_knowledge, run_attacks
from kohorte.models import KAnonymity
from kohorte.risks import compare_risks

Run = Callable[..., Any]


@pytest.fixture
def released(hospital: Path, run: Run) -> Path:
    assert run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "release.csv").code == 0
    return hospital


def test_the_risk_of_a_table_in_words(hospital: Path, run: Run) -> None:
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", "--rows", "2")
    assert ran.code == 0
    assert ran.out.startswith("5 rows, 0 suppressed; 4 classes, the smallest with 1 row\n")
    for words in (
        "prosecutor",
        "journalist",
        "marketer",
        "unique rows: 3 (60 %)",
        "rows at the highest risk",
        "'name'",
    ):
        assert words in ran.out


def test_the_risk_of_a_table_as_json_is_that_of_python(hospital: Path, run: Run) -> None:
    answer = run(
        "risk", "patients.csv", "--plan", "plan.yaml", "--rows", "3", "--population-size", "100", "--json"
    ).json
    profile = ko.risk(ko.read_table("patients.csv").frame, ko.Plan.from_yaml("plan.yaml"), population_size=100)
    assert answer == profile.to_dict(rows=3) | {"warnings": list(profile.open_points)}
    assert answer["warnings"][0].startswith("rows are counted, not people: nobody has said that every row is another")
    assert answer["risk_profile"]["re_identification_risk"]["sample_uniques"] == 0.6
    assert [row["row"] for row in answer["riskiest_rows"]] == [5, 3, 4]


def test_a_release_is_at_less_risk(released: Path, run: Run) -> None:
    answer = run("risk", "release.csv", "--plan", "plan.yaml", "--json").json
    assert (answer["rows"], answer["suppressed"], answer["smallest_class"]) == (5, 1, 2)
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", "--compare", "release.csv")
    assert ran.code == 0
    lines = {line.split("  ")[0]: line.split()[-4:] for line in ran.out.splitlines()}
    assert lines["highest prosecutor risk"] == ["100", "%", "50", "%"]
    answer = run("risk", "patients.csv", "--plan", "plan.yaml", "--compare", "release.csv", "--json").json
    assert answer["after"]["suppressed"] == 1
    assert {"measure": "unique_rows", "before": 3, "after": 0} in answer["measures"]


def test_a_policy_with_a_limit_decides_about_the_exit_code(released: Path, run: Run) -> None:
    Path("policy.yaml").write_text("kohorte: 1\nweights: {highest_prosecutor_risk: 1}\nlimit: 0.5\n")
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", "--policy", "policy.yaml")
    assert (ran.code, "ABOVE the limit" in ran.out) == (1, True)
    ran = run("risk", "release.csv", "--plan", "plan.yaml", "--policy", "policy.yaml", "--json")
    assert (ran.code, ran.json["weighted_risk"]["risk"]) == (0, 0.5)
    both = run("risk", "patients.csv", "--plan", "plan.yaml", "--policy", "policy.yaml", "--compare", "release.csv")
    assert both.code == 0


def test_a_population_is_read_from_a_file(hospital: Path, run: Run) -> None:
    everybody = pl.concat([ko.read_table("patients.csv").frame] * 2)
    everybody.write_csv("everybody.csv")
    answer = run("risk", "patients.csv", "--plan", "plan.yaml", "--population", "everybody.csv", "--json").json
    assert answer["uniqueness"]["population_uniques"] == 0
    assert answer["attackers"]["journalist"]["highest_risk"] == 0.5
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", "--population", "everybody.csv")
    assert "counted in its table" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--population-size", "3"), "risk-population-small"),
        (("--sampling-fraction", "2"), "risk-sampling-fraction"),
        (("--threshold", "0"), "risk-threshold"),
        (("--sets", "-1"), "risk-sets"),
        (("--rows", "-1"), "risk-rows"),
        (("--policy", "none.yaml"), "policy-unreadable"),
        (("--population", "none.csv"), "file-unreadable"),
        (("--compare", "none.csv"), "file-unreadable"),
    ],
)
def test_bad_input_ends_with_exit_code_2_and_a_code(
    hospital: Path, run: Run, arguments: tuple[str, ...], code: str
) -> None:
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", *arguments, "--json")
    assert (ran.code, ran.json["error"]) == (2, code)
    assert code in ran.err


def test_a_wrong_number_of_rows_is_refused_before_anything_is_printed(hospital: Path, run: Run) -> None:
    ran = run("risk", "patients.csv", "--plan", "plan.yaml", "--rows", "-1")
    assert (ran.code, ran.out) == (2, "")
    assert "--rows" in ran.err


@pytest.mark.parametrize("option", ["--threshold", "--sampling-fraction", "--population-size", "--sets"])
def test_messages_name_the_option(hospital: Path, run: Run, option: str) -> None:
    assert option in run("risk", "patients.csv", "--plan", "plan.yaml", option, "-1").err


@pytest.mark.parametrize(("verb", "option"), [("risk", "--plan"), ("risk", "--policy"), ("attack", "--knowledge")])
def test_an_empty_file_is_named(hospital: Path, run: Run, verb: str, option: str) -> None:
    Path("nothing.yaml").write_text("")
    plan = () if option == "--plan" else ("--plan", "plan.yaml")
    ran = run(verb, "patients.csv", *plan, option, "nothing.yaml")
    assert ran.code == 2
    assert "nothing.yaml: the file is empty" in ran.err


def test_many_columns_are_looked_at_in_smaller_sets(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kohorte.risks.attribute_sets.MOST_SETS", 20)
    columns = [f"c{number}" for number in range(5)]
    pl.DataFrame({name: [*"ab"] for name in columns}).write_csv("wide.csv")
    plan = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in columns}, models=[KAnonymity(2)])
    Path("plan.yaml").write_text(plan.to_yaml())
    ran = run("risk", "wide.csv", "--plan", "plan.yaml", "--report", "report.html")
    assert ran.code == 0
    assert "attribute sets up to 2: more would be too many (--sets)" in ran.out
    ran = run("risk", "wide.csv", "--plan", "plan.yaml", "--sets", "4")
    assert ran.code == 2
    assert "--sets) of at most 2" in ran.err
    assert "too many" not in run("risk", "wide.csv", "--plan", "plan.yaml", "--sets", "1").out


def test_only_one_population_can_be_given(hospital: Path, run: Run) -> None:
    both = ("--population-size", "30", "--sampling-fraction", "0.1")
    assert run("risk", "patients.csv", "--plan", "plan.yaml", *both).code == 2


def test_attacks_are_run_and_counted(released: Path, run: Run) -> None:
    ran = run("attack", "patients.csv", "--plan", "plan.yaml", "--register", "patients.csv", "--release", "release.csv")
    assert ran.code == 0
    found = {line.rsplit(None, 2)[0]: line.split()[-2:] for line in ran.out.splitlines()[1:7]}
    assert found["linkage"] == ["3", "5"]
    assert "prevented by" in ran.out
    answer = run("attack", "release.csv", "--plan", "plan.yaml", "--register", "patients.csv", "--json").json
    hurt = {attack["name"]: attack["rows_hurt"] for attack in answer["attacks"]}
    assert hurt["linkage"] == 0
    assert hurt["background knowledge"] == 4


def test_an_attack_with_knowledge(released: Path, run: Run) -> None:
    Path("knowledge.yaml").write_text("kohorte: 1\nknowledge:\n  - {attribute: diagnosis, excludes: [flu]}\n")
    arguments = ("attack", "release.csv", "--plan", "plan.yaml", "--only", "background-knowledge", "--json")
    answer = run(*arguments, "--knowledge", "knowledge.yaml").json
    assert [attack["rows_hurt"] for attack in answer["attacks"]] == [1]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--register", "other.csv"), "attack-no-common-columns"),
        (("--release", "other.csv"), "columns-none-fit"),
        (("--only", "guessing"), "attack-unknown"),
        (("--only", "linkage"), "attack-needs-table"),
        (("--only", "similarity"), "attack-no-hierarchy"),
        (("--knowledge", "none.yaml"), "knowledge-unreadable"),
    ],
)
def test_an_attack_that_cannot_be_run_is_an_error(
    hospital: Path, run: Run, arguments: tuple[str, ...], code: str
) -> None:
    Path("other.csv").write_text("fruit,colour\napple,red\n")
    ran = run("attack", "patients.csv", "--plan", "plan.yaml", *arguments, "--json")
    assert (ran.code, ran.json["error"]) == (2, code)


CANARY = "canary"
PLAN = """\
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}
  sex: {role: quasi-identifying}
  diagnosis: {role: sensitive}
  note: {role: insensitive}
models:
  - {model: k-anonymity, k: 2}
"""


def test_nothing_that_is_said_is_a_value(folder: Path, run: Run) -> None:
    """Every cell is a canary: results, errors and objects are searched for it."""
    names = ("name", "zip", "sex", "diagnosis", "note")
    rows = pl.DataFrame({name: [f"{CANARY}{place}{row // 2}" for row in range(6)] for place, name in enumerate(names)})
    rows.write_csv("in.csv")
    rows.head(5).write_csv("fewer.csv")
    rows.with_columns(diagnosis=pl.lit(f"{CANARY}x"), zip=pl.lit(f"{CANARY}y")).write_csv("others.csv")
    Path("plan.yaml").write_text(PLAN)
    Path("knowledge.yaml").write_text(
        f"kohorte: 1\nknowledge:\n  - {{attribute: diagnosis, when: {{sex: {CANARY}1}}, excludes: [{CANARY}30]}}\n"
    )
    verbs = [
        ("risk", "in.csv", "--rows", "6"),
        ("risk", "in.csv", "--rows", "6", "--json"),
        ("risk", "in.csv", "--population", "fewer.csv"),
        ("risk", "in.csv", "--population", "others.csv"),
        ("risk", "in.csv", "--compare", "others.csv"),
        ("attack", "in.csv", "--register", "in.csv", "--release", "in.csv", "--knowledge", "knowledge.yaml"),
        ("attack", "in.csv", "--register", "in.csv", "--release", "in.csv", "--json"),
        ("attack", "in.csv", "--release", "others.csv"),
        ("attack", "in.csv", "--release", "fewer.csv"),
    ]
    for verb, *arguments in verbs:
        ran = run(verb, *arguments, "--plan", "plan.yaml")
        assert ran.code in (0, 2), ran.err
        assert CANARY not in ran.out + ran.err
    plan = ko.Plan.from_yaml("plan.yaml")
    profile = ko.risk(rows, plan, population=rows)
    objects = [
        profile,
        profile.to_dict(rows=6),
        profile.riskiest_rows(6),
        profile.special_uniques,
        profile.telling_sets,
    ]
    objects += [profile.suspected_identifiers, compare_risks(profile, profile)]
    objects += [
        *run_attacks(rows, plan, register=rows, other_release=rows),
        read_knowledge("knowledge.yaml"),
    ]
    for shown in objects:
        assert CANARY not in repr(shown), type(shown)
        assert CANARY not in str(shown), type(shown)


@pytest.mark.parametrize(
    "script",
    [
        "import kohorte as ko; print(callable(ko.risk))",
        "import kohorte.risks.profile, kohorte as ko; print(callable(ko.risk))",
        "import kohorte as ko; ko.risk; import kohorte.risks.profile; print(callable(ko.risk))",
        "from kohorte.risks import risk; import kohorte as ko; print(ko.risk is risk)",
    ],
)
def test_the_function_is_found_in_whatever_order_modules_are_imported(script: str) -> None:
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert found.stdout == "True\n"


class TestPeople:
    """A plan with `person`: the command counts people wherever it can know them."""

    PLAN = (
        "kohorte: 1\n"
        "attributes:\n"
        "  patient: {role: identifying}\n"
        "  ward: {role: quasi-identifying}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
        "person: patient\n"
    )

    @pytest.fixture
    def ward(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        rows = [*(("p", "a"),) * 10, *((f"q{number}", "b") for number in range(3)), ("p", "b")]
        table = pl.DataFrame(rows, schema=["patient", "ward"], orient="row")
        table.write_csv("stays.csv")
        table.drop("patient").reverse().write_csv("release.csv")
        Path("plan.yaml").write_text(self.PLAN, encoding="utf-8")

    @pytest.mark.usefixtures("ward")
    def test_a_raw_table_is_counted_in_people(self, run: Run) -> None:
        ran = run("risk", "stays.csv", "--plan", "plan.yaml", "--rows", "1")
        assert ran.out.startswith("14 rows of 4 people, 0 suppressed; 2 classes, the smallest with 1 person\n")
        assert "unique people: 1 (25 %) has a row that nobody else has" in ran.out
        assert "people are alike if they have a row that shows the same in ward" in ran.out
        assert "1 person can be singled out by at most 1 attribute" in ran.out
        assert "open:" not in ran.out

    @pytest.mark.usefixtures("ward")
    def test_a_release_needs_its_original(self, run: Run) -> None:
        alone = run("risk", "release.csv", "--plan", "plan.yaml")
        assert "open: the figures count rows, not people" in alone.out
        assert run("risk", "release.csv", "--plan", "plan.yaml", "--json").json["people_not_counted"] is True
        known = run("risk", "release.csv", "--plan", "plan.yaml", "--original", "stays.csv", "--json").json
        assert (known["unit"], known["people"], known["smallest_class"]) == ("people", 4, 1)
        assert "people_not_counted" not in known

    @pytest.mark.usefixtures("ward")
    def test_a_comparison_finds_the_people_of_the_release_in_the_table(self, run: Run) -> None:
        ran = run("risk", "stays.csv", "--plan", "plan.yaml", "--compare", "release.csv", "--report", "report.html")
        assert ran.code == 0
        lines = {line.split("  ")[0]: line.split()[-2:] for line in ran.out.splitlines()}
        assert lines["unique people"] == ["1", "1"]
        assert "14 rows (people: fewer than 10)" in Path("report.html").read_text(encoding="utf-8")

    @pytest.mark.usefixtures("ward")
    def test_another_table_is_not_taken_for_the_original(self, run: Run) -> None:
        ko.read_table("stays.csv").frame.head(13).write_csv("other.csv")
        ran = run("risk", "release.csv", "--plan", "plan.yaml", "--original", "other.csv", "--json")
        assert (ran.code, ran.json["error"]) == (2, "people-unclear")
        ran = run("risk", "other.csv", "--plan", "plan.yaml", "--compare", "release.csv")
        assert "rows above threshold" in ran.out
        assert "open: the figures count rows, not people" in ran.out

    @pytest.mark.usefixtures("ward")
    def test_people_are_judged_by_all_rows_if_the_plan_says_so(self, run: Run) -> None:
        Path("plan.yaml").write_text(
            self.PLAN.replace("person: patient", "person: {column: patient, attacker_knows: all_rows}"),
            encoding="utf-8",
        )
        ran = run("risk", "stays.csv", "--plan", "plan.yaml")
        assert "2 classes, the smallest group with the same set of them: 1 person" in ran.out
        assert "people are alike if all their rows together show the same in ward" in ran.out
