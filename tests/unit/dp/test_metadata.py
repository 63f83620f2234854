"""Metadata: bounds and values are checked when they are written down, not when they are used."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kohorte.dp import QueryMetadata
from kohorte.dp.schema.columns import MOST_UNITS, Column, Datatype
from kohorte.errors import InputError
from support.questions import metadata


def test_metadata_can_be_written_and_read_again(tmp_path: Path) -> None:
    told = metadata(identifying=["name"], project="heart")
    (tmp_path / "m.yaml").write_text(told.to_yaml(), encoding="utf-8")
    again = QueryMetadata.from_yaml(tmp_path / "m.yaml")
    assert again == told == pickle.loads(pickle.dumps(told))
    assert again.sha256 == told.sha256
    assert hash(again) == hash(told)


def test_the_names_of_the_source_are_understood() -> None:
    column = Column(datatype="str", cardinality=2)
    assert column.datatype is Datatype.TEXT


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": {}}, "at least one column"),
        ({"columns": {"a": {"min": 3}}}, "'datatype' is missing"),
        ({"columns": {"a": {"datatype": "date"}}}, "datatype is one of"),
        ({"columns": {"a": {"datatype": "int", "min": 0}}}, "together"),
        ({"columns": {"a": {"datatype": "int", "min": 5, "max": 5}}}, "below max"),
        ({"columns": {"a": {"datatype": "int", "min": 0.5, "max": 5}}}, "whole number"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": float("inf")}}}, "finite"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 1, "step": 0}}}, "above 0"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 1, "step": 9}}}, "larger than the range"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 1e12, "step": 1}}}, "larger step"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 10**400}}}, "finite"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 1e308}}}, "finite"),
        ({"columns": {"a": {"datatype": "float", "min": 0, "max": 5e-324}}}, "step"),
        ({"columns": {"a": {"datatype": "text", "min": 0, "max": 1}}}, "int and float"),
        ({"columns": {"a": {"datatype": "text", "values": []}}}, "at least one value"),
        ({"columns": {"a": {"datatype": "text", "values": "fm"}}}, "at least one value"),
        ({"columns": {"a": {"datatype": "text", "values": [1]}}}, "write '1', not 1"),
        ({"columns": {"a": {"datatype": "text", "values": ["f", "f"]}}}, "different"),
        ({"columns": {"a": {"datatype": "text", "values": ["f"], "cardinality": 2}}}, "leave it out"),
        ({"columns": {"a": {"datatype": "text", "cardinality": 0}}}, "at least 1"),
        ({"columns": {"a": {"datatype": "int", "minimum": 0}}}, "has no key"),
        ({"max_contributions": 0}, "max_contributions"),
        ({"max_contributions": True}, "max_contributions"),
        ({"private_id": None, "max_contributions": 2}, "needs a private_id"),
        ({"private_id": 3}, "private_id"),
        ({"table": ""}, "table"),
        ({"identifying": "name"}, "list"),
        ({"budget": {"delta": 0}}, "'epsilon' is missing"),
        ({"budget": {"epsilon": 0}}, "budget: epsilon"),
        ({"budget": {"epsilon": 10**400}}, "budget: epsilon"),
        ({"budget": {"epsilon": 1, "delta": 1}}, "budget: delta"),
        ({"budget": {"epsilon": 1, "delta": 5e-324, "composition": "zcdp"}}, "budget: delta"),
        ({"budget": {"epsilon": 1, "composition": "renyi"}}, "composition is one of"),
        ({"budget": {"epsilon": 1, "composition": "zcdp"}}, "needs a delta"),
        ({"kohorte": 2}, "format"),
        ({"tables": "x"}, "did you mean 'table'"),
    ],
)
def test_wrong_metadata_are_refused_with_the_reason(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        metadata(**change)
    assert caught.value.code == "query-metadata"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.yaml"):
        QueryMetadata.from_yaml(tmp_path / "absent.yaml")
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(InputError, match=r"list\.yaml: the metadata"):
        QueryMetadata.from_yaml(tmp_path / "list.yaml")


def test_steps_are_exact() -> None:
    column = Column(Datatype.FLOAT, min=0.1, max=0.7, step=0.1)
    assert (column.unit, column.lowest, column.highest) == (Fraction(1, 10), 1, 7)
    assert column.middle == 4
    assert column.furthest == 3


def test_a_float_without_a_step_gets_one_from_its_bounds_alone() -> None:
    assert Column(Datatype.FLOAT, min=0, max=2**20).unit == 1
    far = Column(Datatype.FLOAT, min=1e9, max=1e9 + 1)
    assert abs(far.highest) <= MOST_UNITS


def test_public_keys_are_listed_values_truths_and_small_ranges_of_whole_numbers() -> None:
    assert Column(Datatype.TEXT, values=["b", "a"]).public_keys == ("b", "a")
    assert Column(Datatype.BOOL).public_keys == (False, True)
    assert Column(Datatype.INT, min=-1, max=2).public_keys == (-1, 0, 1, 2)
    assert Column(Datatype.INT, min=0, max=10**6).public_keys is None
    assert Column(Datatype.TEXT, cardinality=3).public_keys is None


def test_the_budget_does_not_change_what_a_question_is_but_the_bounds_do() -> None:
    told = metadata()
    assert metadata(budget={"epsilon": 3}).sha256 == told.sha256
    assert metadata(max_contributions=2).sha256 != told.sha256
