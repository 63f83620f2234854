"""A made-up table with all 18 classes of identifiers, from the raw file to a verified release, and back in again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.cli.main import main
from kohorte.identifiers.detection import CLASSES

Run = Callable[..., Any]
ROWS = 60
STATES = ("CA", "NH", "TX")
IDENTIFIERS: dict[str, tuple[int, Callable[[int], str]]] = {
    "patient_name": (1, lambda row: f"Person {row:03}"),
    "street": (2, lambda row: f"{row} Main Street"),
    "city": (2, lambda row: f"Town {row % 4}"),
    "phone": (4, lambda row: f"(555) 555-{1000 + row}"),
    "fax": (5, lambda row: f"(555) 556-{1000 + row}"),
    "email": (6, lambda row: f"p{row}@example.org"),
    "ssn": (7, lambda row: f"900-{10 + row}-{2000 + row}"),
    "mrn": (8, lambda row: f"M{row:06}"),
    "health_plan_no": (9, lambda row: f"H{row:06}"),
    "account_no": (10, lambda row: f"{7000 + row}"),
    "license_no": (11, lambda row: f"L{row:05}"),
    "license_plate": (12, lambda row: f"{row:03} ABC"),
    "device_serial": (13, lambda row: f"D-{row:05}"),
    "home_page": (14, lambda row: f"https://example.org/{row}"),
    "ip_address": (15, lambda row: f"10.0.0.{row}"),
    "fingerprint": (16, lambda row: f"f{row:08x}"),
    "photo": (17, lambda row: f"p{row}.jpg"),
    "barcode_value": (18, lambda row: f"{row:08}x"),
    "remarks": (18, lambda row: f"was seen again for the usual complaint number {row}"),
}
MADE_VAGUER = ("zip", "birth_date", "admitted_on", "age")
KEPT = ("state", "sex", "diagnosis", "center")


def table() -> pl.DataFrame:
    rows = range(ROWS)
    return pl.DataFrame(
        {
            **{name: [make(row) for row in rows] for name, (_, make) in IDENTIFIERS.items()},
            "zip": [("94501", "94612-1234", "03601", "99901")[row % 4] for row in rows],
            "birth_date": [f"{1925 + row}-{row % 12 + 1:02}-17" for row in rows],
            "admitted_on": [f"{row % 12 + 1}/{row % 28 + 1}/20{20 + row % 3}" for row in rows],
            "age": [str(2026 - 1925 - row) for row in rows],
            "state": [STATES[row % 3] for row in rows],
            "sex": ["fm"[row % 2] for row in rows],
            "diagnosis": [("I10", "E11", "J45", "C50")[row % 4] for row in rows],
            "center": [str(row % 3) for row in rows],
        }
    )


def write_hospital(folder: Path) -> None:
    table().write_csv(folder / "patients.csv")
    (folder / "census").mkdir()
    (folder / "census" / "zip3.csv").write_text("zip3,population\n945,900000\n946,400000\n036,20000\n")
    (folder / "plans").mkdir()


@pytest.fixture
def hospital(folder: Path) -> Path:
    write_hospital(folder)
    return folder


PROFILE = (
    *("profile", "patients.csv", "--safe-harbor", "--zip-populations", "census/zip3.csv", "--as-of", "2026-01-01"),
    *("--write-plan", "plans/plan.yaml"),
)
ANONYMIZE = ("anonymize", "patients.csv", "--plan", "plans/plan.yaml", "--output", "release.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table, the ready plan and the release, made once."""
    folder = tmp_path_factory.mktemp("safe-harbor")
    write_hospital(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(list(PROFILE)) == 0
        assert main(list(ANONYMIZE)) == 0
    return folder


@pytest.fixture
def released(made: Path, folder: Path) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def test_the_ready_plan_removes_all_classes_and_passes(released: Path, run: Run) -> None:
    release = pl.read_csv(released / "release.csv", infer_schema=False)
    assert set(release.columns) == {*MADE_VAGUER, *KEPT}
    assert set(release["zip"]) == {"945", "946", "000"}
    assert set(release["admitted_on"]) == {"2020", "2021", "2022"}
    assert set(release["age"]) == {"90+", *map(str, range(42, 90))}
    assert set(release["birth_date"]) == {"1936 or earlier", *map(str, range(1937, 1985))}
    ran = run("verify", "release.csv", "--plan", "plans/plan.yaml")
    assert ran.code == 0, ran.out
    text = (released / "release.certificate.txt").read_text()
    assert "does not bound a risk" in " ".join(text.split())
    assert "164.514(b)(2)(ii)" in text
    assert "a person can stand alone in the release" in text


def test_the_plan_says_why_and_names_the_file_as_the_plan_sees_it(released: Path) -> None:
    text = (released / "plans" / "plan.yaml").read_text()
    assert "populations: ../census/zip3.csv" in text
    assert "add a model" in text
    for name, (number, _) in IDENTIFIERS.items():
        assert f"  {name}:    # {CLASSES[number]} (class {number}): " in text
    plan = ko.Plan.from_yaml(released / "plans" / "plan.yaml")
    assert plan.names(ko.Role.IDENTIFYING) == tuple(IDENTIFIERS)
    assert plan.minimum_levels | dict.fromkeys(MADE_VAGUER, 1) == plan.minimum_levels


def test_without_populations_no_digit_of_a_zip_code_is_released(hospital: Path, run: Run) -> None:
    ran = run("profile", "patients.csv", "--safe-harbor", "--write-plan", "plans/plan.yaml")
    assert ran.code == 0
    assert "no digit without --zip-populations" in (hospital / "plans" / "plan.yaml").read_text()
    assert run(*ANONYMIZE).code == 0
    assert set(pl.read_csv(hospital / "release.csv", infer_schema=False)["zip"]) == {"*"}


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_an_identifier_that_comes_back_fails_the_verification(released: Path, run: Run, name: str) -> None:
    number, make = IDENTIFIERS[name]
    release = pl.read_csv("release.csv", infer_schema=False)
    planted = release.with_columns(pl.Series(name, [make(row) for row in range(ROWS)]))
    planted.write_csv("planted.csv")
    ran = run("verify", "planted.csv", "--plan", "plans/plan.yaml")
    assert ran.code == 1
    assert f"column {name!r}: {CLASSES[number]} (class {number})" in ran.out
    assert "safe-harbor: FAILS" in ran.out
    assert make(7) not in ran.out


BY_CONTENT = {
    "e-mail": (6, "p7@example.org"),
    "telephone": (4, "ask (555) 555-1234"),
    "social security": (7, "900-12-3456"),
    "date": (3, "since 3/4/2021"),
    "web": (14, "https://example.org/7"),
    "address": (15, "10.0.0.7"),
    "vehicle": (12, "1HGCM82633A004352"),
    "account": (10, "DE89370400440532013000"),
    "image": (17, "face7.png"),
    "code": (18, "550e8400-e29b-41d4-a716-446655440000"),
}


@pytest.mark.parametrize("what", BY_CONTENT)
def test_one_cell_in_a_harmless_column_fails_the_verification(released: Path, run: Run, what: str) -> None:
    number, cell = BY_CONTENT[what]
    release = pl.read_csv("release.csv", infer_schema=False)
    release.with_columns(center=pl.Series([cell, *release["center"][1:]])).write_csv("planted.csv")
    ran = run("verify", "planted.csv", "--plan", "plans/plan.yaml", "--json")
    assert ran.code == 1
    [problem] = ran.json["problems"]
    assert problem.startswith(f"column 'center': {CLASSES[number]} (class {number})")
    assert "in 1 row" in problem
    assert cell not in ran.out


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("zip", "94501"),
        ("zip", "036"),
        ("birth_date", "1925"),
        ("birth_date", "1950-03"),
        ("age", "97"),
        ("admitted_on", "3/4/2021"),
    ],
)
def test_a_raw_value_in_a_column_with_a_safe_form_fails(released: Path, run: Run, column: str, cell: str) -> None:
    release = pl.read_csv("release.csv", infer_schema=False)
    release.with_columns(pl.Series(column, [cell, *release[column][1:]])).write_csv("planted.csv")
    ran = run("verify", "planted.csv", "--plan", "plans/plan.yaml")
    assert ran.code == 1
    assert f"problem: column {column!r}: " in ran.out
    assert "1 row show" in ran.out
    assert cell not in ran.out


def test_a_plan_that_would_release_raw_values_ends_with_what_to_do(released: Path, run: Run) -> None:
    plan = (released / "plans" / "plan.yaml").read_text()
    (released / "plans" / "plan.yaml").write_text(plan.replace("    minimum_level: 1\n", ""))
    ran = run(*ANONYMIZE, "--force")
    assert ran.code == 2
    assert "[safe-harbor-unsafe]" in ran.err
    for name in MADE_VAGUER:
        assert f"'{name}' at level 0" in ran.err
    assert "set minimum_level: 1" in ran.err


def test_options_of_safe_harbor_mean_nothing_without_it(hospital: Path, run: Run) -> None:
    for option in (("--as-of", "2026-01-01"), ("--zip-populations", "census/zip3.csv")):
        ran = run("profile", "patients.csv", *option)
        assert ran.code == 2
        assert "[safe-harbor-option]" in ran.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--as-of", "yesterday"), "hierarchy-option-invalid"),
        (("--zip-populations", "none.csv"), "hierarchy-file-missing"),
        (("--zip-populations", "patients.csv"), "hierarchy-file-ragged"),
    ],
)
def test_wrong_facts_are_refused_before_a_plan_is_written(
    hospital: Path, run: Run, options: tuple[str, str], code: str
) -> None:
    ran = run("profile", "patients.csv", "--safe-harbor", *options, "--write-plan", "plan.yaml")
    assert ran.code == 2
    assert f"[{code}]" in ran.err
    assert not (hospital / "plan.yaml").exists()
