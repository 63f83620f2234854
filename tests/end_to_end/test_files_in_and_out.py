"""The same table in all kinds of files gives the same release."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity

Run = Callable[..., Any]


def csv_text(hospital: Path, **options: Any) -> str:
    with (hospital / "patients.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    text = io.StringIO(newline="")
    csv.writer(text, **({"lineterminator": "\n"} | options)).writerows(rows)
    return text.getvalue()


FILES: dict[str, tuple[dict[str, Any], str, bytes, list[str]]] = {
    "comma": ({}, "utf-8", b"", []),
    "semicolon": ({"delimiter": ";"}, "utf-8", b"", []),
    "tab": ({"delimiter": "\t"}, "utf-8", b"", []),
    "bar": ({"delimiter": "|"}, "utf-8", b"", []),
    "separator given": ({"delimiter": "~"}, "utf-8", b"", ["--separator", "~"]),
    "byte order mark": ({}, "utf-8", b"\xef\xbb\xbf", []),
    "windows line ends": ({"lineterminator": "\r\n"}, "utf-8", b"", []),
    "quotes everywhere": ({"quoting": csv.QUOTE_ALL}, "utf-8", b"", []),
    "excel in germany": ({"delimiter": ";", "lineterminator": "\r\n"}, "cp1252", b"", ["--encoding", "cp1252"]),
    "utf-16 with its mark": ({"delimiter": "\t"}, "utf-16", b"", []),
}


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_csv_file_gives_the_same_release(
    hospital: Path, run: Run, released: list[Any], kind: str
) -> None:
    options, encoding, mark, arguments = FILES[kind]
    text = csv_text(hospital, **options)
    (hospital / "in.csv").write_bytes(mark + text.encode(encoding))
    ran = run("anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv", *arguments)
    assert ran.err == ""
    assert ran.code == 0
    written = (hospital / "out.csv").read_bytes()
    separator = options.get("delimiter", ",")
    assert written.startswith(f"zip{separator}sex{separator}diagnosis\n".encode())
    rows = list(csv.reader(io.StringIO(written.decode("utf-8"), newline=""), delimiter=separator))
    expected = [(*row[:2], row[2]) for row in released]
    assert [tuple(row) for row in rows[1:]] == expected
    assert run("verify", "out.csv", "--plan", "plan.yaml", "--separator", separator).code == 0


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_parquet_in_and_parquet_out(hospital: Path, run: Run, released: list[Any], suffix: str) -> None:
    ko.read_table("patients.csv").frame.write_parquet(f"in{suffix}")
    assert run("anonymize", f"in{suffix}", "--plan", "plan.yaml", "--output", f"out{suffix}").code == 0
    assert pl.read_parquet(f"out{suffix}").rows() == released
    assert run("verify", f"out{suffix}", "--plan", "plan.yaml").code == 0


def test_csv_in_and_parquet_out_and_back(hospital: Path, run: Run, released: list[Any]) -> None:
    assert run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.parquet").code == 0
    assert pl.read_parquet("out.parquet").rows() == released
    ko.read_table("patients.csv").frame.write_parquet("in.parquet")
    assert run("anonymize", "in.parquet", "--plan", "plan.yaml", "--output", "b.csv").code == 0
    assert ko.read_table("b.csv").frame.rows() == released


def test_types_of_a_parquet_file_survive(hospital: Path, run: Run) -> None:
    frame = ko.read_table("patients.csv").frame.with_columns(diagnosis=pl.Series([1, 2, 3, 4, 5], dtype=pl.Int16))
    frame.write_parquet("in.parquet")
    assert run("anonymize", "in.parquet", "--plan", "plan.yaml", "--output", "out.parquet").code == 0
    assert pl.read_parquet("out.parquet").schema["diagnosis"] == pl.Int16


def test_the_table_is_found_in_other_folders_and_written_to_others(hospital: Path, run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    (elsewhere / "zip.csv").write_text("81667;*\n81671;*\n81672;*\n10115;*\n")
    plan = (hospital / "plan.yaml").read_text().replace("{redaction: {}}", "{csv: zip.csv}")
    (elsewhere / "plan.yaml").write_text(plan)
    output = tmp_path / "out.csv"
    assert run("anonymize", "patients.csv", "--plan", elsewhere / "plan.yaml", "--output", output).code == 0
    assert output.is_file()
    assert not (hospital / "out.csv").exists()


AWKWARD = ["no", "1", "a,b", 'say "x"', " leading", "ü", "a;b", "tab\there", "line\nbreak", "#", "null"]


def test_awkward_column_names_pass_through_files(folder: Path, run: Run) -> None:
    with (folder / "in.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(AWKWARD)
        writer.writerows([[f"{row % 2}" for _ in AWKWARD] for row in range(6)])
    plan = ko.Plan(attributes={name: ko.Attribute("quasi-identifying") for name in AWKWARD}, models=[KAnonymity(k=3)])
    (folder / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
    arguments = ("--plan", "plan.yaml", "--separator", ",")
    ran = run("anonymize", "in.csv", *arguments, "--output", "out.csv")
    assert ran.code == 0, ran.err
    assert ko.read_table("out.csv", separator=",").frame.columns == AWKWARD
    assert run("verify", "out.csv", *arguments).code == 0


CELLS = ["a\rb", "a\r\nb", '"', '""', ",", "'", " x ", "=1+1", "NULL", "NaN", "\ufeffx", "\u2028", "1e5", "-", "\\"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
def test_awkward_cells_pass_through_files(folder: Path, run: Run, suffix: str) -> None:
    frame = pl.DataFrame({"q": CELLS * 2, "note": CELLS * 2})
    frame.write_parquet("in.parquet")
    (folder / "plan.yaml").write_text(
        "kohorte: 1\nattributes: {q: {role: quasi-identifying}, note: {role: insensitive}}\n"
        "models: [{model: k-anonymity, k: 2}]\noutput: {order: input, formulas: as_is}\n"
    )
    ran = run("anonymize", "in.parquet", "--plan", "plan.yaml", "--output", f"out{suffix}")
    assert ran.code == 0, ran.err
    assert ko.read_table(f"out{suffix}").frame.equals(frame)


def test_the_worked_example_of_the_dissertation(folder: Path, run: Run) -> None:
    rows = "34 m 82667 pneumonia|45 f 81775 pneumonia|66 m 81925 gastritis|70 m 81931 pneumonia"
    rows += "|35 f 81951 pneumonia|21 m 82451 gastritis|18 f 82931 pneumonia|19 f 82004 gastritis"
    table = [row.split() for row in rows.split("|")]
    lines = ["age,sex,zip,diagnosis", *(",".join(row) for row in table)]
    (folder / "patients.csv").write_text("\n".join(lines) + "\n")
    groups = ((19, "<=19"), (60, "20-60"), (999, ">=61"))
    ages = {row[0]: next(label for most, label in groups if int(row[0]) <= most) for row in table}
    (folder / "age.csv").write_text("".join(f"{age};{label};*\n" for age, label in ages.items()))
    (folder / "plan.yaml").write_text(
        "kohorte: 1\n"
        "attributes:\n"
        "  age: {role: quasi-identifying, hierarchy: {csv: age.csv}}\n"
        "  sex: {role: quasi-identifying}\n"
        "  zip: {role: quasi-identifying, hierarchy: {redaction: {order: right_to_left}}}\n"
        "  diagnosis: {role: sensitive}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
        "metric: {metric: non_uniform_entropy}\n"
        "output: {order: input}\n"
    )
    for algorithm in ("optimal", "exhaustive", "flash"):
        facts = run(
            "anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv", "--force", "--json",
            "--algorithm", algorithm,
        ).json  # fmt: skip
        assert facts["levels"] == {"age": 1, "sex": 0, "zip": 3}
        assert (facts["lattice"], facts["classes"], facts["suppressed"], facts["optimal"]) == (36, 4, 0, True)
    shown = ko.read_table("out.csv").frame.rows()
    expected = [(ages[age], sex, zip_code[:2] + "***", diagnosis) for age, sex, zip_code, diagnosis in table]
    assert shown == expected
    lattice = run("lattice", "patients.csv", "--plan", "plan.yaml", "--json").json
    assert lattice["best"] == [1, 0, 3]
    assert lattice["levels"] == [3, 2, 6]


def test_a_table_from_standard_input_gives_the_same_profile_as_its_file(
    hospital: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO((hospital / "patients.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    piped = run("profile", "-", "--json")
    assert piped.code == 0
    assert piped.out == run("profile", "patients.csv", "--json").out


def test_a_release_of_standard_input_names_it_in_the_certificate(
    hospital: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO((hospital / "patients.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    assert run("anonymize", "-", "--plan", "plan.yaml", "--output", "out.csv").code == 0
    assert "standard input" in (hospital / "out.certificate.txt").read_text(encoding="utf-8")


def test_the_first_line_for_excel_is_explained_and_changes_nothing_else(hospital: Path, run: Run) -> None:
    plain = run("profile", "patients.csv", "--json")
    (hospital / "excel.csv").write_text("sep=,\n" + (hospital / "patients.csv").read_text(encoding="utf-8"))
    ran = run("profile", "excel.csv", "--json")
    assert ran.out == plain.out
    assert "note: excel.csv: the first line only states the separator for Excel (comma)" in ran.err


def test_an_unknown_suffix_is_refused_before_the_table_is_read(hospital: Path, run: Run) -> None:
    ran = run("anonymize", "no-such-table.csv", "--plan", "plan.yaml", "--output", "out.json")
    assert ran.code == 2
    assert "[file-format]" in ran.err
