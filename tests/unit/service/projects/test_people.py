"""Projects on tables with several rows of one person: the steward says whom a row is about, or nothing is released."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.datasets.proposal import proposal
from kohorte.service.projects import store
from kohorte.service.projects.configuration import Dataset, read_config, read_plan
from kohorte.service.projects.queries import Query, answer_query
from kohorte.service.projects.query_terms import QueryTerms
from kohorte.service.projects.store import NewProject
from kohorte.service.projects.summary import summary
from support.projects import interactive, patients, release, store_dataset
from support.service import STEWARD, Person

WHOM = {"attribute_name": "patient_id", "attribute_type": "identifying"}


def stays() -> pl.DataFrame:
    return patients().with_columns(patient_id=pl.Series([f"secret-{row % 150}" for row in range(300)]))


DATASET = Dataset(tuple(stays().columns), {})


def released(**changes: Any) -> dict[str, Any]:
    return release(attributes=[*release()["attributes"], WHOM], **changes)


def asked(**changes: Any) -> dict[str, Any]:
    config = interactive()
    return config | {"attributes": [*config["attributes"], WHOM]} | changes


@pytest.mark.parametrize("make", [released, asked])
def test_a_project_on_repeated_identifiers_is_refused_until_the_steward_says_whom_a_row_is_about(
    service: Service, steward: Person, researcher: Person, make: Any
) -> None:
    dataset = store_dataset(service, stays(), steward.user_id)
    actor = Actor(steward.user_id, STEWARD, "")

    def create(**changes: Any) -> int:
        return store.create(
            service, actor, NewProject("p", "", dataset, researcher.user_id, make(**changes))
        ).project_id

    with pytest.raises(InputError) as refused:
        create()
    assert refused.value.code == "person-unstated"
    assert "'patient_id' has 150 different values in 300 rows" in refused.value.message
    assert "secret" not in refused.value.message
    assert "fill in" not in refused.value.message
    assert create(person="patient_id")
    assert create(person="none")


def test_missing_identifiers_are_to_be_filled_in_before_a_release_counts_people(
    service: Service, steward: Person, researcher: Person
) -> None:
    lacking = stays().with_columns(patient_id=pl.when(pl.int_range(300) > 3).then("patient_id"))
    wanted = NewProject("p", "", store_dataset(service, lacking, steward.user_id), researcher.user_id, released())
    with pytest.raises(InputError) as refused:
        store.create(service, Actor(steward.user_id, STEWARD, ""), wanted)
    assert "fill in the 4 missing values of 'patient_id' or remove these rows, then say" in refused.value.message


@pytest.mark.parametrize("make", [release, interactive])
def test_a_column_that_numbers_people_by_its_content_is_asked_about_too(
    service: Service, steward: Person, researcher: Person, make: Any
) -> None:
    people = [row % 100 for row in range(300)]
    table = patients().with_columns(
        Nr=pl.Series([f"{at * 7919 % 10007:05}" for at in people]),
        gender=pl.Series(["fm"[at * 7 % 3 % 2] for at in people]),
    )
    dataset = store_dataset(service, table, steward.user_id)
    actor = Actor(steward.user_id, STEWARD, "")
    number = {"attribute_name": "Nr", "attribute_type": "insensitive"}
    config = make()
    config |= {"attributes": [*config["attributes"], number]}
    with pytest.raises(InputError) as refused:
        store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, config))
    assert refused.value.code == "person-unstated"
    assert "'Nr' has 100 different values in 300 rows" in refused.value.message
    stated = config | {"person": "none"}
    assert store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, stated)).project_id


def test_person_and_linked_by_are_part_of_the_plan_and_of_the_summary() -> None:
    models = [model for model in released()["privacy_models"] if model["model_name"] == "k-anonymity"]
    person = {"column": ["patient_id"], "attacker_knows": "one_row"}
    config = released(person=person, linked_by="disease", privacy_models=models)
    plan = read_config(config, DATASET)
    assert isinstance(plan, Plan)
    assert plan.unit.columns == ("patient_id",)
    assert plan.linked_by == "disease"
    assert summary(config)["linked_by"] == "disease"
    assert summary({"plan": plan.to_dict()})["person"] == "patient_id"


def test_the_person_of_a_project_that_answers_queries_is_the_private_id() -> None:
    terms = read_config(asked(person=["zip_code", "patient_id"]), DATASET)
    assert isinstance(terms, QueryTerms)
    assert terms.metadata.person_columns == ("zip_code", "patient_id")
    same = read_config(asked(person="patient_id", private_id="patient_id"), DATASET)
    assert isinstance(same, QueryTerms)
    for wrong in ({"person": "none", "private_id": "patient_id"}, {"person": "nobody"}, {"linked_by": "disease"}):
        with pytest.raises(InputError) as refused:
            read_config(asked(**wrong), DATASET)
        assert refused.value.code == "project-config"


def test_no_release_of_the_service_contains_the_column_of_the_person() -> None:
    attributes = [*release()["attributes"], {**WHOM, "attribute_type": "insensitive"}]
    person = {"column": "patient_id", "stays_because": "the ethics board agreed"}
    with pytest.raises(InputError) as refused:
        read_config(release(attributes=attributes, person=person), DATASET)
    assert refused.value.code == "project-config"


def test_a_plan_may_name_a_domain_and_the_risk_of_it_is_not_measured() -> None:
    plan = {
        "attributes": {
            name: {"role": "quasi-identifying"} for name in stays().columns if name != "patient_id"
        } | {"patient_id": {"role": "identifying", "pseudonym": "study"}},
        "models": [{"model": "k-anonymity", "k": 2}],
        "person": "patient_id",
    }  # fmt: skip
    found = read_config({"plan": plan}, DATASET)
    assert isinstance(found, Plan)
    assert found.pseudonyms == {"patient_id": "study"}
    with pytest.raises(InputError, match="pseudonym") as refused:
        read_plan({"plan": plan}, DATASET)
    assert refused.value.code == "project-config"


def test_the_proposal_of_the_service_names_the_person_with_the_reason() -> None:
    found = proposal(stays(), set())
    assert found["config"]["person"] == "patient_id"
    assert any("150 different values in 300 rows" in reason for reason in found["reasons"])
    assert isinstance(read_config(found["config"], DATASET), Plan)
    assert "person" not in proposal(patients(), set())["config"]


def test_a_project_that_counts_a_patient_in_every_ward_is_refused_until_the_steward_says_why(
    service: Service, steward: Person, researcher: Person
) -> None:
    table = stays().with_columns(ward=pl.Series([f"w{row // 150}" for row in range(300)]))
    dataset, actor = store_dataset(service, table, steward.user_id), Actor(steward.user_id, STEWARD, "")
    ward = {"attribute_name": "ward", "attribute_type": "insensitive"}

    def create(**changes: Any) -> store.Created:
        config = asked(**changes)
        config["attributes"] = [*config["attributes"], ward]
        return store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, config))

    both = ["patient_id", "ward"]
    with pytest.raises(InputError) as refused:
        create(person=both)
    assert refused.value.code == "person-doubted"
    assert "'patient_id'" in refused.value.message
    assert "config.person_because" in refused.value.message
    assert "secret" not in refused.value.message
    because = "each ward numbers its own patients"
    made = create(person=both, person_because=because)
    assert len([one for one in made.warnings if "counted several times" in one]) == 1
    assert summary(asked(person=both, person_because=because))["person_because"] == because
    assert create(person="patient_id").warnings == ()
    [warning] = create(person="none").warnings
    assert warning.startswith("rows are counted, not people")
    answer = answer_query(service, actor, made.project_id, Query("SELECT COUNT(*) FROM PRIORI", epsilon=0.1))
    assert "warnings" not in answer, "researchers learn nothing that depends on the rows"


@pytest.mark.parametrize("as_plan", [False, True])
def test_a_release_that_counts_cases_instead_of_patients_is_refused_as_queries_are(
    service: Service, steward: Person, researcher: Person, as_plan: bool
) -> None:
    """The rule `people: counted` would be kept in words only: a patient has several cases."""
    table = stays().with_columns(case_number=pl.int_range(300).cast(pl.String) + "x")
    dataset, actor = store_dataset(service, table, steward.user_id), Actor(steward.user_id, STEWARD, "")
    case = {"attribute_name": "case_number", "attribute_type": "identifying"}

    def create(**changes: Any) -> store.Created:
        config = released(**changes)
        config["attributes"] = [*config["attributes"], case]
        if as_plan:
            because = {key: config.pop(key) for key in ("person_because",) if key in config}
            plan = read_config(config, Dataset(tuple(table.columns), {}))
            assert isinstance(plan, Plan)
            config = {"plan": plan.to_dict(), **because}
        return store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, config))

    with pytest.raises(InputError) as refused:
        create(person="case_number")
    assert refused.value.code == "person-doubted"
    assert "write 'person: patient_id' in the plan" in refused.value.message
    assert "secret" not in refused.value.message
    made = create(person="case_number", person_because="the numbers of patients are those of an older system")
    assert made.job_id is not None
    assert create(person="patient_id").project_id
    assert create(person="none").project_id, "a statement of its own: the verdict is amber"


@pytest.mark.parametrize(
    "config", [asked(person_because=7), released(person_because=7), {"plan": {}, "person_because": 7}]
)
def test_why_a_person_is_right_is_a_text(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="person_because"):
        read_config(config, DATASET)


def test_the_steward_is_warned_of_queries_by_rows_that_nobody_has_called_people(
    service: Service, steward: Person, researcher: Person
) -> None:
    dataset = store_dataset(service, patients(), steward.user_id)
    actor = Actor(steward.user_id, STEWARD, "")

    def warnings(**changes: Any) -> tuple[str, ...]:
        config = interactive() | changes
        return store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, config)).warnings

    assert any("nobody has said that every row is another person" in one for one in warnings())
    assert not any("nobody has said" in one for one in warnings(person="none"))
