"""What is told about cells that a spreadsheet program could run as formulas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import Formulas, parse_table
from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.release.telling.formulas import file_points
from kohorte.release.write import certified_bytes

ATTRIBUTES: Any = {"=zip": {"role": "quasi-identifying"}, "note": {"role": "insensitive"}}
QUOTE = ko.Plan(ATTRIBUTES, [KAnonymity(2)], person="none")  # type: ignore[arg-type]
AS_IS = replace(QUOTE, formulas=Formulas.AS_IS)
TABLE = pl.DataFrame({"=zip": ["-1 - 5"] * 2 + ["2"] * 2, "note": ["=SECRET()", "-3.5", "x", "+4"]})


def certified(plan: ko.Plan) -> tuple[bytes, Any]:
    content, _, certificate = certified_bytes(ko.anonymize(TABLE, plan), "release.csv")
    return content, certificate


def test_quote_is_the_default_and_the_hash_of_a_plan_without_it_does_not_change() -> None:
    assert QUOTE.formulas is Formulas.QUOTE
    assert QUOTE.to_dict()["output"] == {"order": "shuffled"}
    assert ko.Plan.from_dict(AS_IS.to_dict()) == AS_IS
    assert AS_IS.fingerprint() != QUOTE.fingerprint()


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(InputError, match="quote, as_is") as caught:
        ko.Plan.from_dict(QUOTE.to_dict() | {"output": {"formulas": "qoute"}})
    assert caught.value.code == "plan-formulas"


def test_the_certificate_says_where_apostrophes_were_added_and_nothing_is_open() -> None:
    content, certificate = certified(QUOTE)
    assert b"'=SECRET()" in content
    assert content.startswith(b"'=zip,note\n")
    assert certificate.facts["formulas"] == {
        "policy": "quote",
        "cells": {"=zip": 2, "note": 1},
        "column_names": ["=zip"],
    }
    assert certificate.facts["verdict"]["standing"] == "green"
    assert "1 cell of 'note'" in " ".join(certificate.notes)
    assert "SECRET" not in certificate.to_text() + certificate.to_json()


def test_formulas_that_are_written_as_they_are_are_an_open_point() -> None:
    content, certificate = certified(AS_IS)
    assert b"'" not in content
    assert certificate.facts["formulas"]["cells"] == {"=zip": 2, "note": 1}
    assert certificate.facts["verdict"]["standing"] == "amber"
    assert "2 cells of '=zip', 1 cell of 'note' and the column name '=zip'" in certificate.facts["warnings"][0]
    assert "SECRET" not in certificate.to_text() + certificate.to_json()


def test_a_table_without_formulas_has_nothing_to_tell() -> None:
    plan = replace(AS_IS, attributes={"zip": ATTRIBUTES["=zip"]})
    _, _, certificate = certified_bytes(ko.anonymize(pl.DataFrame({"zip": ["-1", "-1"]}), plan), "release.csv")
    assert certificate.facts["warnings"] == []


def test_a_file_that_lacks_the_apostrophes_of_its_plan_is_an_open_point() -> None:
    bare, quoted = (parse_table(certified(plan)[0], Path("release.csv")) for plan in (AS_IS, QUOTE))
    assert "1 cell of 'note'" in file_points(bare, QUOTE)[0]
    assert file_points(quoted, QUOTE) == ()
    assert file_points(bare, AS_IS) == ()


def test_parquet_is_not_touched(tmp_path: Path) -> None:
    certificate = ko.write_release(ko.anonymize(TABLE, QUOTE), tmp_path / "release.parquet")
    shown = pl.read_parquet(tmp_path / "release.parquet")
    assert set(shown["note"]) == set(TABLE["note"])
    assert certificate.facts["formulas"]["cells"] == {}  # type: ignore[index]
