"""Cells that a spreadsheet program could run as formulas, from the raw table to the verified release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from support.growing import SETTINGS, patients, plan

Run = Callable[..., Any]
PLAN = (
    "kohorte: 1\nattributes: {{age: {{role: quasi-identifying}}, note: {{role: insensitive}}}}\n"
    "models: [{{model: k-anonymity, k: 2}}]\noutput: {{order: input, formulas: {formulas}}}\n"
)


@pytest.fixture
def table(folder: Path) -> Path:
    """A table with labels and a note that a spreadsheet program would run, and plans with both options."""
    (folder / "in.csv").write_text("age,note\n-5 - 0,=1+1\n-5 - 0,-3.5\n1 - 5,x\n1 - 5,'=1+1\n")
    for formulas in ("quote", "as_is"):
        (folder / f"{formulas}.yaml").write_text(PLAN.format(formulas=formulas))
    return folder


def test_quoted_cells_are_told_and_the_file_is_verified_as_the_table_that_it_stands_for(table: Path, run: Run) -> None:
    made = run("anonymize", "in.csv", "--plan", "quote.yaml", "--output", "out.csv")
    assert made.code == 0, made.err
    assert "note: an apostrophe was put before 2 cells of 'age', 2 cells of 'note'" in made.out
    assert (table / "out.csv").read_text() == "age,note\n'-5 - 0,'=1+1\n'-5 - 0,-3.5\n1 - 5,x\n1 - 5,''=1+1\n"
    verified = run("verify", "out.csv", "--plan", "quote.yaml")
    assert verified.code == 0
    assert "formulas" not in verified.out
    assert run("risk", "in.csv", "--plan", "quote.yaml", "--compare", "out.csv").code == 0
    assert run("attack", "out.csv", "--plan", "quote.yaml").code == 0


def test_as_is_is_an_open_point_in_command_certificate_and_verification(table: Path, run: Run) -> None:
    point = "a spreadsheet program may run 2 cells of 'age', 1 cell of 'note' as formulas"
    made = run("anonymize", "in.csv", "--plan", "as_is.yaml", "--output", "out.csv")
    assert f"note: {point}" in made.out
    assert (table / "out.csv").read_text() == (table / "in.csv").read_text()
    assert point in (table / "out.certificate.json").read_text()
    assert point in run("anonymize", "in.csv", "--plan", "as_is.yaml", "--dry-run").out
    assert point in run("verify", "out.csv", "--plan", "as_is.yaml").out
    missing = run("verify", "out.csv", "--plan", "quote.yaml", "--json").json
    assert any("they have no apostrophe" in reason for reason in missing["verdict"]["reasons"])


def test_json_states_the_columns_and_the_number_of_cells(table: Path, run: Run) -> None:
    made = run("anonymize", "in.csv", "--plan", "quote.yaml", "--output", "out.csv", "--json").json
    assert made["formulas"] == {"policy": "quote", "cells": {"age": 2, "note": 2}, "column_names": []}


def test_cells_that_differ_only_by_an_apostrophe_do_not_become_equal(table: Path, run: Run) -> None:
    (table / "out.csv").write_text("age,note\n=1+1,x\n'=1+1,x\n")
    assert run("verify", "out.csv", "--plan", "quote.yaml").code == 1


def test_a_series_quotes_and_recognises_its_own_files(folder: Path, run: Run) -> None:
    frame = patients(150)
    name = plan().names(ko.data.Role.SENSITIVE)[0]
    ko.write_table(
        frame.with_columns(ko.data.as_text(frame[name]).replace(frame[name][0], "=1+1").alias(name)),
        folder / "table.csv",
        like=None,
        force=False,
    )
    (folder / "plan.yaml").write_text(plan().to_yaml())
    (folder / "series.yaml").write_text(ko.SeriesSettings.from_dict({"kohorte": 1, **SETTINGS}).to_yaml())
    assert run("series", "start", "s", "--plan", "plan.yaml", "--settings", "series.yaml").code == 0
    made = run("series", "release", "s", "table.csv", "--output", "one.csv")
    assert made.code == 0, made.err
    assert f"of {name!r}, so that no spreadsheet program runs them" in made.out
    assert ",'=1+1" in (folder / "one.csv").read_text()
    assert json.loads((folder / "one.certificate.json").read_text())["formulas"]["cells"][name] > 0
    (folder / "copy.csv").write_text((folder / "one.csv").read_text() + "\n")
    verified = run("series", "verify", "s", "table.csv", "one.csv", "copy.csv")
    assert verified.code == 0, verified.out
    assert "copy.csv: is release 1, the same rows and cells" in verified.out
