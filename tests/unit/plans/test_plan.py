"""The plan as an object: what it accepts, what it refuses and with which words."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.hierarchies import Redaction
from kohorte.metrics import Height
from kohorte.models import KAnonymity

PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {"zip": {"role": "quasi-identifying"}},
    "models": [{"model": "k-anonymity", "k": 2}],
}


def refused(**changes: object) -> InputError:
    with pytest.raises(InputError) as caught:
        ko.Plan.from_dict(PLAN | changes)
    return caught.value


def attribute(**entry: object) -> dict[str, object]:
    return {"zip": {"role": "quasi-identifying"} | entry}


WRONG = {
    "an unknown key": ({"supression_limit": 0.1}, "plan-unknown-key", "suppression_limit"),
    "an unknown key of an attribute": ({"attributes": attribute(wieght=1)}, "plan-unknown-key", "'weight'"),
    "an unknown key of the search": ({"search": {"time_limi": 1}}, "plan-unknown-key", "'time_limit'"),
    "an unknown key of the metric": ({"metric": {"metrc": "loss"}}, "plan-unknown-key", "'metric'"),
    "an unknown key of the output": ({"output": {"ordr": "input"}}, "plan-unknown-key", "'order'"),
    "an unknown key of a model": (
        {"models": [{"model": "k-anonymity", "k": 2, "kk": 3}]},
        "model-parameter-unknown",
        "models: entry 1",
    ),
    "k of 0": ({"models": [{"model": "k-anonymity", "k": 0}]}, "model-parameter", "models: entry 1: k "),
    "k below 0": ({"models": [{"model": "k-anonymity", "k": -3}]}, "model-parameter", "k must be"),
    "k that is no whole number": ({"models": [{"model": "k-anonymity", "k": 2.0}]}, "model-parameter", "whole number"),
    "k as text": ({"models": [{"model": "k-anonymity", "k": "5"}]}, "model-parameter", "whole number"),
    "k that is true": ({"models": [{"model": "k-anonymity", "k": True}]}, "model-parameter", "whole number"),
    "no k": ({"models": [{"model": "k-anonymity"}]}, "model-parameter", "needs k"),
    "the second model": (
        {"models": [{"model": "k-anonymity", "k": 2}, {"model": "k-anonimity", "k": 2}]},
        "model-unknown",
        "entry 2: unknown model 'k-anonimity' (did you mean 'k-anonymity'?)",
    ),
    "a model that is no mapping": ({"models": ["k-anonymity"]}, "model-entry", "models: entry 1"),
    "models that are no list": ({"models": {"model": "k-anonymity", "k": 2}}, "plan-incomplete", "models:"),
    "no models": ({"models": []}, "plan-incomplete", "models"),
    "a suppression limit in percent": ({"suppression_limit": 5}, "plan-suppression-limit", "0.05 means 5 %"),
    "a negative suppression limit": ({"suppression_limit": -0.1}, "plan-suppression-limit", "suppression_limit"),
    "a suppression limit as text": ({"suppression_limit": "5%"}, "plan-suppression-limit", "suppression_limit"),
    "a suppression limit of true": ({"suppression_limit": True}, "plan-suppression-limit", "suppression_limit"),
    "a suppression limit that is no number": ({"suppression_limit": math.nan}, "plan-suppression-limit", "nan"),
    "an endless suppression limit": ({"suppression_limit": math.inf}, "plan-suppression-limit", "inf"),
    "no suppression limit": ({"suppression_limit": None}, "plan-suppression-limit", "suppression_limit"),
    "a weight above 1": ({"attributes": attribute(weight=2)}, "plan-weight", "attributes: zip: weight"),
    "a negative weight": ({"attributes": attribute(weight=-0.5)}, "plan-weight", "attributes: zip"),
    "a weight that is true": ({"attributes": attribute(weight=True)}, "plan-weight", "attributes: zip"),
    "a weight that is no number": ({"attributes": attribute(weight=math.nan)}, "plan-weight", "attributes: zip"),
    "a weight for nothing": (
        {"attributes": {**PLAN["attributes"], "note": {"role": "insensitive", "weight": 0.5}}},
        "plan-weight",
        "attributes: note",
    ),
    "an unknown role": (
        {"attributes": attribute(role="quasi-identifing")},
        "plan-role",
        "attributes: zip: role is one of",
    ),
    "no role": ({"attributes": {"zip": {}}}, "plan-role", "attributes: zip: the role is missing"),
    "an attribute without content": ({"attributes": {"zip": None}}, "plan-incomplete", "attributes: zip"),
    "attributes that are no mapping": ({"attributes": ["zip"]}, "plan-incomplete", "attributes"),
    "no quasi-identifier": ({"attributes": {"zip": {"role": "sensitive"}}}, "plan-no-quasi-identifier", "quasi"),
    "an unknown metric": (
        {"metric": {"metric": "los"}},
        "metric-unknown",
        "metric: unknown metric 'los' (did you mean",
    ),
    "a metric that is no mapping": ({"metric": ["loss"]}, "plan-incomplete", "metric: is written as {metric: loss}"),
    "an unknown algorithm": ({"search": {"algorithm": "optimum"}}, "algorithm-unknown", "search: unknown algorithm"),
    "a time limit of 0": ({"search": {"time_limit": 0}}, "plan-time-limit", "search: time_limit"),
    "an endless time limit": ({"search": {"time_limit": math.inf}}, "plan-time-limit", "search: time_limit"),
    "an unknown policy for missing values": ({"missing": "supress"}, "plan-missing", "(did you mean 'suppress'?)"),
    "no policy for missing values": ({"missing": None}, "plan-missing", "missing is one of"),
    "an unknown order": ({"output": {"order": "sorted"}}, "plan-order", "output: order is one of shuffled, input"),
    "an output that is no mapping": ({"output": "input"}, "plan-incomplete", "output: is written as"),
    "an unknown hierarchy": (
        {"attributes": attribute(hierarchy={"redactoin": {}})},
        "hierarchy-builder-unknown",
        "attributes: zip: unknown hierarchy 'redactoin' (did you mean 'redaction'?)",
    ),
    "an unknown option of a hierarchy": (
        {"attributes": attribute(hierarchy={"redaction": {"oder": "x"}})},
        "hierarchy-option-unknown",
        "attributes: zip: redaction",
    ),
    "a version that does not exist": ({"kohorte": 2}, "plan-version", "kohorte: 1"),
    "a version as text": ({"kohorte": "1"}, "plan-version", "kohorte: 1"),
    "a version that is true": ({"kohorte": True}, "plan-version", "kohorte: 1"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_entry_is_refused_and_its_place_is_named(what: str) -> None:
    changes, code, words = WRONG[what]
    error = refused(**changes)
    assert error.code == code
    assert words in error.message


def test_a_plan_without_version_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        ko.Plan.from_dict({key: value for key, value in PLAN.items() if key != "kohorte"})
    assert caught.value.code == "plan-version"


@pytest.mark.parametrize("data", [[], ["zip"], "zip", None, 3])
def test_a_plan_that_is_no_mapping_is_refused(data: object) -> None:
    with pytest.raises(InputError, match="a plan is a mapping") as caught:
        ko.Plan.from_dict(data)
    assert caught.value.code == "plan-yaml"


@pytest.mark.parametrize(
    ("limit", "rows", "expected"),
    [
        (0.29, 100, 29),  # in binary 28.999...
        (0.07, 100, 7),
        (0.57, 100, 57),
        (0.1, 30, 3),
        (0.05, 39, 1),
        (0.05, 19, 0),
        (1.0, 7, 7),
        (1, 7, 7),
        (0, 10**9, 0),
        (1e-7, 10**7, 1),
        (1e-7, 10**7 - 1, 0),
        (0.333333, 3, 0),
    ],
)
def test_the_number_of_rows_that_may_be_suppressed_is_exact(limit: float, rows: int, expected: int) -> None:
    assert ko.Plan.from_dict(PLAN | {"suppression_limit": limit}).most_suppressed(rows) == expected


@given(st.integers(0, 1000), st.integers(1, 10**7))
def test_a_limit_in_thousandths_is_rounded_down_and_never_up(thousandths: int, rows: int) -> None:
    plan = ko.Plan.from_dict(PLAN | {"suppression_limit": thousandths / 1000})
    assert plan.most_suppressed(rows) == thousandths * rows // 1000


def test_equal_plans_have_equal_fingerprints_however_their_numbers_are_written() -> None:
    whole = ko.Plan.from_dict(PLAN | {"suppression_limit": 0, "search": {"algorithm": "optimal", "time_limit": 3}})
    decimal = ko.Plan.from_dict(PLAN | {"suppression_limit": 0.0, "search": {"time_limit": 3.0}})
    assert whole == decimal
    assert whole.fingerprint() == decimal.fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        {"models": [{"model": "k-anonymity", "k": 3}]},
        {"suppression_limit": 0.1},
        {"metric": {"metric": "height"}},
        {"search": {"algorithm": "flash"}},
        {"missing": "refuse"},
        {"output": {"order": "input"}},
        {"attributes": attribute(weight=0.5)},
        {"attributes": attribute(hierarchy={"redaction": {}})},
        {"attributes": PLAN["attributes"] | {"note": {"role": "insensitive"}}},
    ],
)
def test_every_change_changes_plan_and_fingerprint(change: dict[str, object]) -> None:
    plan, changed = ko.Plan.from_dict(PLAN), ko.Plan.from_dict(PLAN | change)
    assert plan != changed
    assert plan.fingerprint() != changed.fingerprint()


def test_comments_and_layout_do_not_change_the_fingerprint(tmp_path: Path) -> None:
    plain, commented = tmp_path / "plain.yaml", tmp_path / "commented.yaml"
    text = ko.Plan.from_dict(PLAN).to_yaml()
    plain.write_text(text)
    commented.write_text("# a comment\n" + text.replace("models:\n", "models:   # what it has to guarantee\n\n"))
    assert ko.Plan.from_yaml(plain).fingerprint() == ko.Plan.from_yaml(commented).fingerprint()


def test_the_representation_of_a_plan_is_code() -> None:
    plan = ko.Plan.from_dict(PLAN | {"suppression_limit": 0.05})
    assert eval(repr(plan), {"Plan": ko.Plan}) == plan


def test_the_attributes_of_a_plan_cannot_be_changed() -> None:
    given_attributes = {"zip": ko.Attribute("quasi-identifying")}
    plan = ko.Plan(attributes=given_attributes, models=[KAnonymity(k=2)])
    given_attributes["ssn"] = ko.Attribute("identifying")
    assert list(plan.attributes) == ["zip"]
    with pytest.raises(TypeError):
        plan.attributes["ssn"] = ko.Attribute("identifying")  # type: ignore[index]


def test_file_names_in_a_plan_are_relative_to_the_plan(tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "zip.csv").write_text("1;*\n2;*\n")
    entry = {"role": "quasi-identifying", "hierarchy": {"csv": "zip.csv"}}
    (folder / "plan.yaml").write_text(strict_yaml.dump(PLAN | {"attributes": {"zip": entry}}))
    plan = ko.Plan.from_yaml(folder / "plan.yaml")
    hierarchy = plan.attributes["zip"].hierarchy
    assert hierarchy is not None
    assert hierarchy.build([], attribute="zip").values == ("1", "2")
    assert plan.to_dict()["attributes"]["zip"]["hierarchy"] == {"csv": "zip.csv"}  # type: ignore[index]


@pytest.mark.parametrize("content", [b"kohorte: 1\nattributes: {\xe4: {}}", b"\xff\xfe\x00"])
def test_a_plan_that_is_no_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.yaml").write_bytes(content)
    with pytest.raises(InputError, match="UTF-8") as caught:
        ko.Plan.from_yaml(tmp_path / "plan.yaml")
    assert caught.value.code == "plan-unreadable"


def test_a_plan_that_is_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(InputError, match=path.name) as caught:
            ko.Plan.from_yaml(path)
        assert caught.value.code == "plan-unreadable"


def test_parts_may_be_given_as_a_plan_file_writes_them() -> None:
    attributes = {"zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}}}
    plan = ko.Plan(attributes=attributes, models=[{"model": "k-anonymity", "k": 3}], metric="height", search="flash")
    assert plan == ko.Plan(
        attributes={"zip": ko.Attribute("quasi-identifying", Redaction(length=5))},
        models=[KAnonymity(k=3)],
        metric=Height(),
        search=ko.SearchOptions(algorithm="flash"),
    )


def test_a_plan_can_be_hashed_pickled_and_copied() -> None:
    plan = ko.Plan(attributes={"zip": ko.Attribute("quasi-identifying")}, models=[KAnonymity(k=3)])
    for twin in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert twin == plan
        assert hash(twin) == hash(plan)
        with pytest.raises(TypeError):
            twin.attributes["zip"] = ko.Attribute("insensitive")


@pytest.mark.parametrize("what", ["plan.yaml", None, {"k": 5}])
def test_something_that_is_no_plan_is_refused_by_every_function_that_takes_one(what: object) -> None:
    frame = pl.DataFrame({"zip": ["1", "2"]})
    for function in (ko.anonymize, ko.verify, ko.solution_space):
        with pytest.raises(ko.InputError) as caught:
            function(frame, what)
        assert caught.value.code == "plan-type"


def test_a_hierarchy_that_is_no_builder_is_refused() -> None:
    with pytest.raises(ko.InputError, match="give a builder"):
        ko.Attribute("quasi-identifying", hierarchy="redaction")
