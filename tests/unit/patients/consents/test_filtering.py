"""Exports of tables: rows of people who agreed, cells of the kinds they agreed to."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.errors import InputError, PrivacyViolation
from kohorte.patients.consents import filtering
from kohorte.patients.consents.filtering import Outcome, Purpose, categories_given, export_table, list_people
from kohorte.patients.consents.register import Consents
from kohorte.sources.batches import TableBatches
from kohorte.trust.pid import random_pid

WISH = Purpose("research", "p1")


@pytest.fixture
def data(people: list[str]) -> pl.DataFrame:
    """Two rows of Anna, one of each other person, one of nobody, one without a PID."""
    anna, otto, rosa, emil = people
    return pl.DataFrame(
        {
            "pid": [anna, otto, anna.lower(), rosa, emil, random_pid(), None],
            "crp": [1.5, 2.5, None, 4.5, 5.5, 6.5, 7.5],
            "gene": ["a", "b", "c", "d", "e", "f", "g"],
        }
    )


def export(consents: Consents, data: pl.DataFrame, tmp_path: Path, **options: Any) -> tuple[pl.DataFrame, Outcome]:
    data.write_csv(tmp_path / "data.csv")
    output = tmp_path / options.pop("output", "out.csv")
    done = export_table(consents, TableBatches(tmp_path / "data.csv", rows=3), output, WISH, **options)
    read = pl.read_parquet if output.suffix == ".parquet" else pl.read_csv
    return read(output), done


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_only_rows_of_people_who_agreed_are_exported(
    consents: Consents, people: list[str], data: pl.DataFrame, tmp_path: Path, output: str
) -> None:
    consents.give([people[0], people[2]], ["research"])
    consents.give([people[1]], ["teaching"])
    found, done = export(consents, data, tmp_path, output=output)
    assert found["gene"].to_list() == ["a", "c", "d"]
    assert done.to_dict() == {
        "rows": 7,
        "exported": 3,
        "left_out": 4,
        "people": 2,
        "cells_removed": 0,
        "contradicted": 0,
        "export": 1,
    }
    (released,) = consents.released(people[0]).exports
    assert released.sha256 == hashlib.sha256((tmp_path / output).read_bytes()).hexdigest()
    assert released.columns == ("pid", "crp", "gene")
    assert consents.released(people[1]).exports == ()


def test_cells_of_other_kinds_of_data_are_removed(
    consents: Consents, people: list[str], data: pl.DataFrame, tmp_path: Path
) -> None:
    consents.give([people[0]], ["research"])
    consents.give([people[1]], ["research"], categories=["lab"])
    consents.give([people[2]], ["research"], categories=["images"])
    found, done = export(consents, data, tmp_path, categories={"crp": "lab", "gene": "genes"})
    assert found["crp"].to_list() == [1.5, 2.5, None]
    assert found["gene"].to_list() == ["a", None, "c"]
    assert (done.people, done.cells_removed) == (2, 3)
    assert consents.released(people[2]).exports == ()


def test_columns_without_a_kind_are_only_for_those_who_agreed_to_all(
    consents: Consents, people: list[str], data: pl.DataFrame, tmp_path: Path
) -> None:
    consents.give([people[0]], ["research"], categories=["lab"])
    found, _ = export(consents, data, tmp_path, categories={"crp": "lab"})
    assert found["gene"].to_list() == [None, None]
    assert found["crp"].to_list() == [1.5, None]


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_a_withdrawal_in_the_middle_of_an_export_leaves_no_file(
    consents: Consents,
    people: list[str],
    data: pl.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
) -> None:
    consents.give(people, ["research"])
    filled = filtering.fill_table_in_batches

    def withdrawn_meanwhile(*arguments: Any, **options: Any) -> None:
        filled(*arguments, **options)
        consents.withdraw(people[0])

    monkeypatch.setattr(filtering, "fill_table_in_batches", withdrawn_meanwhile)
    with pytest.raises(PrivacyViolation) as refused:
        export(consents, data, tmp_path, output=output)
    assert refused.value.code == "consent-changed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "trust"]
    assert consents.released(people[1]).exports == ()
    monkeypatch.undo()
    assert export(consents, data, tmp_path, output=output)[0]["gene"].to_list() == ["b", "d", "e"]


def test_the_people_who_agreed_are_listed(consents: Consents, people: list[str], tmp_path: Path) -> None:
    consents.give(people[:2], ["research"])
    consents.give(people[2:3], ["research"], categories=["lab"])
    done = list_people(consents, tmp_path / "all.csv", WISH)
    assert pl.read_csv(tmp_path / "all.csv")["pid"].to_list() == sorted(people[:2])
    assert (done.people, done.export) == (2, 1)
    list_people(consents, tmp_path / "lab.csv", WISH, categories=["lab"])
    assert pl.read_csv(tmp_path / "lab.csv")["pid"].to_list() == sorted(people[:3])
    assert [one.number for one in consents.released(people[2]).exports] == [2]


def test_a_mistyped_pid_is_refused_with_its_row(
    consents: Consents, people: list[str], data: pl.DataFrame, tmp_path: Path
) -> None:
    wrong = ("1" if people[0][0] != "1" else "2") + people[0][1:]
    broken = data.with_columns(pid=pl.Series([*data["pid"][:5], wrong, None]))
    with pytest.raises(InputError, match="row 6") as refused:
        export(consents, broken, tmp_path)
    assert refused.value.code == "trust-pid-wrong"
    assert wrong not in refused.value.message
    assert not (tmp_path / "out.csv").exists()


def test_wrong_names_are_refused(consents: Consents, data: pl.DataFrame, tmp_path: Path) -> None:
    for options, code in (
        ({"column": "psn"}, "consent-column"),
        ({"categories": {"crq": "lab"}}, "consent-column"),
        ({"categories": {"pid": "lab"}}, "consent-category"),
    ):
        with pytest.raises(InputError) as refused:
            export(consents, data, tmp_path, **options)
        assert refused.value.code == code
    with pytest.raises(InputError) as refused:
        Purpose("research", "Project 7")
    assert refused.value.code == "consent-word"


def test_kinds_of_columns_are_read_from_texts() -> None:
    assert categories_given(["lab=crp,hb", "genes=brca"]) == {"crp": "lab", "hb": "lab", "brca": "genes"}
    for wrong in (["lab"], ["lab="], ["lab=crp", "genes=crp"], ["Lab=crp"]):
        with pytest.raises(InputError):
            categories_given(wrong)


def test_an_export_for_nobody_is_an_empty_table(consents: Consents, data: pl.DataFrame, tmp_path: Path) -> None:
    found, done = export(consents, data, tmp_path)
    assert (found.height, found.columns, done.people) == (0, ["pid", "crp", "gene"], 0)
