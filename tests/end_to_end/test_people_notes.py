"""Commands say that rows are counted where a table seems to have several rows of one person."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from kohorte.cli.main import main

PLAN = """\
kohorte: 1
attributes:
  patient_id: {role: identifying}
  age: {role: quasi-identifying}
models:
  - {model: k-anonymity, k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = range(40)
    frame = pl.DataFrame({"patient_id": [f"secret-{row % 17}" for row in rows], "age": [row % 4 for row in rows]})
    frame.write_csv(tmp_path / "stays.csv")
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def said(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main([word.format(folder=folder) for word in words])
    out = capsys.readouterr().out
    assert code in (0, 1)
    assert "secret" not in out
    return out


ANONYMIZE = ("anonymize", "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")
NOTE = "rows are counted, not people: 'patient_id' has 17 different values in 40 rows"


def test_anonymize_notes_rows_that_are_not_people_in_output_json_certificate_and_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ("--report", "{folder}/report.html")
    assert NOTE in said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv", *report)
    assert NOTE in " ".join(json.loads((folder / "out.certificate.json").read_text())["warnings"])
    page = (folder / "report.html").read_text()
    assert "rows are counted, not people" in page
    assert "look closer" in page
    found = json.loads(said(folder, capsys, *ANONYMIZE, "--dry-run", "--json"))
    assert NOTE in " ".join(found["verdict"]["reasons"])
    assert found["verdict"]["standing"] == "amber"


def test_a_plan_that_states_the_person_gets_no_such_note(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "plan.yaml").write_text(f"{PLAN}person: patient_id\n")
    assert "rows are counted" not in said(folder, capsys, *ANONYMIZE, "--dry-run")


def test_a_plan_that_states_that_rows_are_people_is_contradicted_on_every_exit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.yaml").write_text(f"{PLAN}person: none\n")
    written = ("--output", "{folder}/out.csv", "--report", "{folder}/report.html")
    note = "which contradicts the table: 'patient_id' has 17 different values in 40 rows"
    stated = "that every row is another person is stated by the author of the plan (person: none)"
    page = said(folder, capsys, *ANONYMIZE, *written) and unescape((folder / "report.html").read_text())
    exits = [
        said(folder, capsys, *ANONYMIZE, "--dry-run"),
        " ".join((folder / "out.certificate.txt").read_text().split()),
        (folder / "out.certificate.json").read_text(),
        page,
        said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/stays.csv"),
    ]
    for text in exits:
        assert note in text
        assert stated in text
    alone = said(folder, capsys, "verify", *RELEASED)
    assert "the certificate of the table says: rows are counted, not people: the plan states" in alone
    assert note in alone
    assert "verdict: amber; the table satisfies the plan, but 1 point is open" in alone
    assert any(note in one for one in json.loads(said(folder, capsys, "verify", *RELEASED, "--json"))["warnings"])
    for verb in ("risk", "attack"):
        assert note in said(folder, capsys, verb, *RELEASED, "--original", "{folder}/stays.csv")


def test_risk_attack_and_a_report_of_the_release_alone_say_what_its_certificate_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.yaml").write_text(f"{PLAN}person: none\n")
    said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    told = "the certificate of the table says: rows are counted, not people: the plan states"
    report = ("--report", "{folder}/alone.html")
    assert told in said(folder, capsys, "risk", *RELEASED, *report)
    page = unescape((folder / "alone.html").read_text())
    assert told in page
    assert "look closer" in page
    assert told in " ".join(json.loads(said(folder, capsys, "risk", *RELEASED, "--json"))["warnings"])
    assert f"open: {told}" in said(folder, capsys, "attack", *RELEASED)
    for verb in ("risk", "attack"):
        assert told not in said(folder, capsys, verb, *RELEASED, "--original", "{folder}/stays.csv")


def test_only_a_certificate_confirms_that_every_row_of_a_release_is_another_person(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release of stays, passed on without its certificate or with another plan, is not green."""
    pl.DataFrame({"patient_id": range(40), "age": [row % 4 for row in range(40)]}).write_csv(folder / "stays.csv")
    (folder / "plan.yaml").write_text(f"{PLAN}person: none\n")
    said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    alone = "only the plan says that every row is another person"
    assert alone not in said(folder, capsys, "verify", *ANONYMIZE[1:])  # the table has a column that would tell
    confirmed = said(folder, capsys, "verify", *RELEASED)
    assert alone not in confirmed
    assert "verdict: green" in confirmed
    assert alone not in said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/stays.csv")
    certificate = folder / "out.certificate.json"
    kept = certificate.read_text()
    certificate.write_text(kept.replace('"person": "none"', '"person": "patient_id"'))
    for _ in ("another plan", "no certificate"):
        found = said(folder, capsys, "verify", *RELEASED)
        assert alone in found
        assert "verdict: amber" in found
        said(folder, capsys, "risk", *RELEASED, "--report", "{folder}/alone.html")
        assert alone in unescape((folder / "alone.html").read_text())
        (folder / "alone.html").unlink()
        certificate.unlink(missing_ok=True)


def test_a_certificate_of_another_file_or_another_plan_says_nothing_about_a_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.yaml").write_text(f"{PLAN}person: none\n")
    said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    stricter = f"{PLAN.replace('k: 2', 'k: 3')}person: none\n"
    (folder / "plan.yaml").write_text(stricter)
    assert "the certificate of the table says" not in said(folder, capsys, "verify", *RELEASED)
    (folder / "plan.yaml").write_text(f"{PLAN}person: none\nmetric: {{metric: loss}}\n")
    assert "the certificate of the table says" in said(folder, capsys, "verify", *RELEASED)
    lines = (folder / "out.csv").read_text().splitlines()
    (folder / "out.csv").write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    assert "the certificate of the table says" not in said(folder, capsys, "verify", *RELEASED)


RELEASED = ("{folder}/out.csv", "--plan", "{folder}/plan.yaml")
UNKNOWN = "nobody has said that every row is another person, and the table does not have 'patient_id'"


def test_a_release_alone_is_amber_in_verify_risk_and_attack_until_the_original_is_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    assert UNKNOWN in said(folder, capsys, "verify", *RELEASED)
    found = json.loads(said(folder, capsys, "verify", *RELEASED, "--json"))
    assert found["verdict"]["standing"] == "amber"
    assert any(UNKNOWN in reason for reason in found["verdict"]["reasons"])
    report = ("--report", "{folder}/risk.html")
    assert UNKNOWN in said(folder, capsys, "risk", *RELEASED, *report)
    assert UNKNOWN in unescape((folder / "risk.html").read_text())
    assert "look closer" in (folder / "risk.html").read_text()
    found = json.loads(said(folder, capsys, "risk", *RELEASED, "--json"))
    assert found["people_not_counted"] is True
    assert UNKNOWN in found["open_points"][0]
    assert f"open: rows are counted, not people: {UNKNOWN}" in said(folder, capsys, "attack", *RELEASED)
    found = json.loads(said(folder, capsys, "attack", *RELEASED, "--json"))
    assert any(UNKNOWN in point for point in found["open_points"])
    for option, verb in (("--population", "verify"), ("--original", "risk"), ("--original", "attack")):
        out = said(folder, capsys, verb, *RELEASED, option, "{folder}/stays.csv")
        assert NOTE in out
        assert UNKNOWN not in out


@pytest.mark.parametrize(
    ("person", "unstated"), [("", True), ("person: none\n", False), ("person: patient_id\n", False)]
)
def test_an_original_without_repeated_identifiers_does_not_say_that_rows_are_people_but_the_plan_does(
    folder: Path, capsys: pytest.CaptureFixture[str], person: str, unstated: bool
) -> None:
    table_of_rows(folder, "patient_id", person)
    standing = "verdict: amber" if unstated else "verdict: green"
    assert standing in said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    original = ("--original", "{folder}/stays.csv")
    assert standing in said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/stays.csv")
    assert unstated is ("not people" in said(folder, capsys, "risk", *RELEASED, *original))
    assert unstated is ("not people" in said(folder, capsys, "attack", *RELEASED, *original))
    compared = ("risk", "{folder}/stays.csv", "--plan", "{folder}/plan.yaml", "--compare", "{folder}/out.csv")
    assert unstated is ("not people" in said(folder, capsys, *compared, "--report", "{folder}/both.html"))
    assert unstated is ("not people" in unescape((folder / "both.html").read_text()))


def test_a_person_who_is_a_case_is_contradicted_on_every_exit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.read_csv(folder / "stays.csv").with_row_index("case_number")
    frame.write_csv(folder / "stays.csv")
    case = "attributes:\n  case_number: {role: identifying}"
    (folder / "plan.yaml").write_text(PLAN.replace("attributes:", case) + "person: case_number\n")
    note = "'patient_id' has 17 different values, and the plan counts 40 people there (person: 'case_number')"
    written = ("--output", "{folder}/out.csv", "--report", "{folder}/report.html")
    assert note in said(folder, capsys, *ANONYMIZE, *written)
    assert note in " ".join((folder / "out.certificate.txt").read_text().split())
    assert "(amber; see Warnings)" in (folder / "out.certificate.txt").read_text()
    assert note in unescape((folder / "report.html").read_text())
    assert note in said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/stays.csv")
    for verb in ("risk", "attack"):
        assert note in said(folder, capsys, verb, *RELEASED, "--original", "{folder}/stays.csv")
        assert note in said(folder, capsys, verb, "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")


@pytest.mark.parametrize("verb", ["risk", "verify"])
def test_risk_and_verify_say_the_same_where_the_column_is_at_hand(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    options = (verb, "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")
    assert f"note: {NOTE}" in said(folder, capsys, *options)
    assert NOTE in " ".join(json.loads(said(folder, capsys, *options, "--json"))["warnings"])


def test_profile_proposes_the_person_with_the_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(folder, capsys, "profile", "{folder}/stays.csv", "--write-plan", "{folder}/first.yaml")
    assert "first plan" in out
    plan = (folder / "first.yaml").read_text()
    assert "\nperson: patient_id\n" in plan
    assert "person: 'patient_id' has 17 different values in 40 rows" in plan
    found = json.loads(said(folder, capsys, "profile", "{folder}/stays.csv", "--json"))
    assert any(reason.startswith("person: ") for reason in found["reasons"])
    assert found["plan"]["person"] == "patient_id"


NUMBERS = {"Fallnummer": "F{}", "patient_id": "secret-{}", "code": "{}"}


def table_of_rows(folder: Path, number: str | None, person: str) -> None:
    """40 rows of which nothing says whether they are people: each has its own number, or none at all."""
    own = {} if number is None else {number: [NUMBERS[number].format(row) for row in range(40)]}
    pl.DataFrame(own | {"age": [row % 4 for row in range(40)]}).write_csv(folder / "stays.csv")
    plan = PLAN.replace("  patient_id: {role: identifying}\n", f"  {number}: {{role: identifying}}\n" if number else "")
    (folder / "plan.yaml").write_text(plan + person)


@pytest.mark.parametrize("number", [*NUMBERS, None])
def test_no_exit_is_green_until_somebody_says_that_rows_are_people(
    number: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_point = "rows are counted, not people: nobody has said that every row is another person"
    table_of_rows(folder, number, "")
    verify = ("verify", "{folder}/out.csv", "--plan", "{folder}/plan.yaml")
    out = said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv", "--report", "{folder}/report.html")
    assert open_point in out
    assert "verdict: amber" in out
    certificate = json.loads((folder / "out.certificate.json").read_text())
    assert certificate["verdict"]["standing"] == "amber"
    assert any(open_point in one for one in certificate["warnings"])
    assert "look closer" in (folder / "report.html").read_text()
    for words in (verify, (*verify, "--population", "{folder}/stays.csv") if number else verify):
        found = json.loads(said(folder, capsys, *words, "--json"))
        assert found["satisfied"]
        assert found["verdict"]["standing"] == "amber"
        assert any(open_point in one for one in found["verdict"]["reasons"])
    for verb in ("risk", "attack", "lattice", "algorithms"):
        assert open_point in said(folder, capsys, verb, "{folder}/stays.csv", "--plan", "{folder}/plan.yaml")
    table_of_rows(folder, number, "person: none\n")
    assert "verdict: green" in said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv", "--force")
    assert "verdict: green" in said(folder, capsys, *verify)


def test_a_first_plan_names_the_answers_but_gives_none_that_the_table_does_not_tell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table_of_rows(folder, "Fallnummer", "")
    for options in ((), ("--safe-harbor",)):
        words = ("profile", "{folder}/stays.csv", "--write-plan", "{folder}/first.yaml", "--force", *options)
        said(folder, capsys, *words)
        text = (folder / "first.yaml").read_text()
        assert "\nperson:" not in text
        assert "\n# person: none " in text
        (folder / "first.yaml").write_text(text.replace("\n# person: none ", "\nperson: none "))
        out = said(folder, capsys, "anonymize", "{folder}/stays.csv", "--plan", "{folder}/first.yaml", "--dry-run")
        assert "nobody has said" not in out
    table_of_rows(folder, "patient_id", "")
    said(folder, capsys, "profile", "{folder}/stays.csv", "--write-plan", "{folder}/first.yaml", "--force")
    assert "\nperson: patient_id\n" in (folder / "first.yaml").read_text()


def test_an_original_with_replaced_identifiers_is_not_believed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pl.read_csv(folder / "stays.csv")
    said(folder, capsys, *ANONYMIZE, "--output", "{folder}/out.csv")
    same = said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/stays.csv")
    assert "note: the original table is the file that the certificate of the release names" in same
    assert NOTE in same
    replaced = frame.with_columns(patient_id=pl.Series([f"secret-{row}" for row in range(frame.height)]))
    replaced.write_csv(folder / "replaced.csv")
    unclear = "whether the original table still says whom its rows are about is unclear: "
    compared = "rows can be compared only in 'age', not in 'patient_id'"
    other = said(folder, capsys, "verify", *RELEASED, "--population", "{folder}/replaced.csv")
    assert NOTE not in other, "no identifier repeats any more"
    assert f"{unclear}it is another file than the one that the certificate of the release names" in other
    assert compared in other
    assert "verdict: amber" in other
    (folder / "out.certificate.json").unlink()
    for name in ("stays", "replaced"):
        alone = said(folder, capsys, "verify", *RELEASED, "--population", f"{{folder}}/{name}.csv")
        assert f"{unclear}no certificate next to the release says from which file it was made; {compared}" in alone
        assert "verdict: amber" in alone
