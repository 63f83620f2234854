"""Configs in the words of the interface become plans or questions; what is wrong is refused with its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.models import MODELS
from kohorte.plans import Plan
from kohorte.service.projects.configuration import Dataset, read_config, read_plan
from kohorte.service.projects.query_terms import DIFFERENTIAL_PRIVACY, QueryTerms
from kohorte.service.projects.summary import summary
from support.projects import interactive, patients, release

COLUMNS = tuple(patients(1).columns)
DATASET = Dataset(COLUMNS, {})


def changed(config: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    copied = copy.deepcopy(config)
    change(copied)
    return copied


def test_a_config_of_the_appendix_is_a_plan() -> None:
    plan = read_config(release(), DATASET)
    assert isinstance(plan, Plan)
    assert plan.quasi_identifiers == ("zip_code", "age", "gender")
    assert plan.names(Role.SENSITIVE) == ("disease",)
    assert [model.to_dict() for model in plan.models] == [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity_distinct", "attribute": "disease", "l": 2},
    ]
    assert plan.suppression_limit == 0.2


def test_a_plan_survives_the_request_of_a_job() -> None:
    attributes = release()["attributes"]
    attributes[1] = {
        "attribute_name": "age",
        "attribute_type": "quasi-identifying",
        "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [2.5, 5]}},
    }
    plan = read_plan(release(attributes=attributes, metric="aecs", search={"algorithm": "flash"}), DATASET)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_what_a_release_is_for_is_part_of_the_plan_and_of_the_summary_but_not_of_queries() -> None:
    stated = {"title": "Registry of gout", "purpose": "study 7", "recipient": "University of Kiel"}
    plan = read_config(release(**stated), DATASET)
    assert isinstance(plan, Plan)
    assert plan.about.to_dict() == stated
    for config in (release(**stated), {"plan": plan.to_dict()}):
        assert {key: summary(config)[key] for key in stated} == stated
    with pytest.raises(InputError) as refused:
        read_config(interactive() | {"purpose": "study 7"}, DATASET)
    assert refused.value.field == "config.purpose"


def test_a_stored_hierarchy_is_used_where_the_config_has_none() -> None:
    stored = Dataset(COLUMNS, {"gender": [["f", "*"], ["m", "*"]], "married": [["true", "*"]]})
    plan = read_plan(release(), stored)
    assert plan.attributes["gender"].to_dict()["hierarchy"] == {"rows": [["f", "*"], ["m", "*"]]}
    assert plan.attributes["married"].hierarchy is None


def test_a_plan_may_be_given_as_such() -> None:
    plan = read_plan(release(), DATASET)
    assert read_config({"plan": plan.to_dict()}, DATASET) == plan


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.name)
def test_every_model_has_its_own_name_in_the_interface(kind: type[Any]) -> None:
    given = {"k": 2, "l": 2, "c": 1, "t": 0.5, "alpha": 0.5, "delta": 1, "beta": 1, "n": 2, "threshold": 0.5}
    given |= {"minimum": 0, "maximum": 1, "subset": "married", "sampling_fraction": 0.5}
    known = {name for name in kind.__dataclass_fields__ if name in given}
    entry: dict[str, Any] = {"model_name": kind.name, "model_params": {name: given[name] for name in known}}
    if "attribute" in kind.__dataclass_fields__:
        entry["attribute_name"] = "disease"
    attributes = release()["attributes"]
    attributes[4]["attribute_hierarchy"] = [[name, "ill", "*"] for name in ("flu", "angina", "stroke")]
    found = read_plan(release(privacy_models=[entry], attributes=attributes), DATASET)
    assert found.models[0].name == kind.name


def test_differential_privacy_is_a_budget() -> None:
    terms = read_config(interactive(2, 1e-15, composition="pure"), DATASET)
    assert isinstance(terms, QueryTerms)
    assert (terms.budget.epsilon, terms.budget.delta) == (2, 1e-15)
    assert (terms.epsilon, terms.delta) == (0.2, 2.5e-16)  # a tenth of such a delta is too small for any threshold
    assert terms.metadata.table == "PRIORI"
    assert set(terms.metadata.columns) == {"age", "gender", "married"}
    assert terms.metadata.identifying == ("zip_code",)


def test_what_a_question_costs_can_be_set() -> None:
    terms = read_config(interactive(1, 1e-6, query_epsilon=0.5, query_delta=0, composition="zcdp"), DATASET)
    assert isinstance(terms, QueryTerms)
    assert terms.budget_to_dict() == {
        "epsilon": 1,
        "delta": 1e-6,
        "composition": "zcdp",
        "query_epsilon": 0.5,
        "query_delta": 0,
    }


def test_a_question_costs_a_tenth_of_the_budget() -> None:
    terms = read_config(interactive(0.3, 1e-6), DATASET)
    assert isinstance(terms, QueryTerms)
    assert (terms.epsilon, terms.delta) == (0.03, 1e-7)
    none = read_config(interactive(0.3, 0), DATASET)
    assert isinstance(none, QueryTerms)
    assert none.delta == 0


def test_half_of_the_delta_of_zcdp_is_for_questions() -> None:
    terms = read_config(interactive(1, 1e-6, composition="zcdp"), DATASET)
    assert isinstance(terms, QueryTerms)
    assert terms.delta == 5e-8


@pytest.mark.parametrize("key", ["private_id", "person"])
def test_people_with_several_rows_are_bounded(key: str) -> None:
    terms = read_config({**interactive(), key: "disease", "max_contributions": 3}, DATASET)
    assert isinstance(terms, QueryTerms)
    assert (terms.metadata.private_id, terms.metadata.max_contributions) == ("disease", 3)


WRONG: list[tuple[dict[str, Any], str]] = [
    (changed(interactive(), lambda c: c["attributes"][0]["metadata"].update(min=200)), "attributes[0].metadata.min: "),
    (changed(interactive(), lambda c: c["attributes"][0]["metadata"].update(max=1.5)), "attributes[0].metadata.max: "),
    (changed(interactive(), lambda c: c["attributes"][0]["metadata"].update(mon=1)), "attributes[0].metadata: "),
    (changed(interactive(), lambda c: c["attributes"][1]["metadata"].update(datatype="x")), "metadata.datatype: "),
    (changed(interactive(), lambda c: c["attributes"][1]["metadata"].pop("datatype")), "metadata.datatype: "),
    (changed(interactive(), lambda c: c["attributes"][1].update(attribute_name="x")), "attributes[1].attribute_name: "),
    (changed(interactive(), lambda c: c["attributes"][1].update(attribute_name="age")), "named twice"),
    (changed(interactive(), lambda c: c["attributes"][1].update(attribute_type="x")), "attributes[1].attribute_type: "),
    (changed(interactive(), lambda c: c["attributes"][3].update(metadata={"datatype": "str"})), "cannot be queried"),
    (changed(interactive(), lambda c: c["attributes"][0].update(hierarchy={})), "attributes[0].hierarchy: "),
    (changed(interactive(), lambda c: c["privacy_models"].append(c["privacy_models"][0])), "excludes other models"),
    (
        changed(interactive(), lambda c: c["privacy_models"].extend(release()["privacy_models"])),
        "excludes other models",
    ),
    (changed(interactive(), lambda c: c["privacy_models"].clear()), "config.privacy_models: "),
    (changed(interactive(), lambda c: c["attributes"].clear()), "config.attributes: "),
    ({**interactive(), "attributes": interactive()["attributes"][3:]}, "config.attributes: "),
    ({**interactive(), "private_id": "x"}, "config.private_id: "),
    ({**interactive(), "max_contributions": 2}, "max_contributions needs a private_id"),
    ({**interactive(), "suppression_limit": 0.1}, "config.suppression_limit: "),
    ({**interactive(), "strange": 1}, "config: has an unknown key"),
    (interactive(0), "model_params: budget: epsilon"),
    (interactive(1, 2), "model_params: budget: delta"),
    (interactive(1, 0, composition="zcdp"), "model_params: "),
    (interactive(1, 0, composition="x"), "model_params: "),
    (interactive(1, 0, query_epsilon=0), "model_params: query_epsilon"),
    (interactive(1, 0, x=0), "model_params: has an unknown key"),
    (release(private_id="age"), "config.private_id: "),
    (
        changed(release(), lambda c: c["attributes"][1].update(metadata={"datatype": "int", "min": 0, "max": 100})),
        "config.attributes[1].metadata: is not supported",
    ),
    (release(suppression_limit=2), "config: suppression_limit"),
    (release(attributes=release()["attributes"][1:]), "'zip_code'"),
    (release(k=0), "config.privacy_models[0].model_params: "),
    (release(privacy_models=[{"model_name": "k-anonimity", "model_params": {"k": 2}}]), "did you mean 'k-anonymity'?"),
    (
        release(privacy_models=[{"model_name": "l-diversity_distinct", "model_params": {"l": 2}}]),
        "[0].attribute_name: ",
    ),
    (
        release(privacy_models=[{"model_name": "k-anonymity", "attribute_name": "age", "model_params": {"k": 2}}]),
        "[0].attribute_name: ",
    ),
    (release(privacy_models=[{"model_name": "k-anonymity", "model_params": {"k": 2, "model": "x"}}]), "model_params: "),
    (
        changed(release(), lambda c: c["attributes"][0].update(attribute_hierarchy=[["476", "*"], ["477"]])),
        "config.attributes[0].attribute_hierarchy: ",
    ),
    (
        changed(release(), lambda c: c["attributes"][0].update(hierarchy={"redaction": {}})),
        "attribute_hierarchy or hierarchy",
    ),
    (changed(release(), lambda c: c["attributes"][3].update(hierarchy={"csv": "secret.csv"})), "cannot refer to files"),
    (
        changed(release(), lambda c: c["attributes"][3].update(hierarchy={"tree": "secret.yaml"})),
        "cannot refer to files",
    ),
    (
        release(
            privacy_models=[
                {"model_name": "k-map", "model_params": {"k": 2, "population": "secret.csv"}},
            ]
        ),
        "cannot refer to files",
    ),
    (release(search={"time_limit": 10**6}), "time_limit"),
    ({"plan": 1}, "config.plan: "),
    ({"plan": {}, "attributes": []}, "excludes all other keys"),
]


@pytest.mark.parametrize(("config", "words"), WRONG)
def test_what_is_wrong_is_refused_with_its_place(config: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_config(config, DATASET)
    assert words in caught.value.message
    assert caught.value.message.startswith("config")


def test_questions_are_no_config_for_the_risk_of_a_table() -> None:
    with pytest.raises(InputError, match=DIFFERENTIAL_PRIVACY):
        read_plan(interactive(), DATASET)


def test_values_of_a_hierarchy_are_not_repeated() -> None:
    config = changed(release(), lambda c: c["attributes"][0].update(attribute_hierarchy=[["secret-value"], [1.5]]))
    with pytest.raises(InputError) as caught:
        read_config(config, DATASET)
    assert "secret" not in caught.value.message
