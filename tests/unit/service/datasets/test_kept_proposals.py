"""Proposed plans stay in memory, because several pages begin with one, and go when their dataset goes."""

from __future__ import annotations

import pytest

from kohorte.hierarchies import builder_to_dict
from kohorte.plans import proposal as plans
from kohorte.service.access import Actor
from kohorte.service.approvals.requests import perform
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchy_editing, kept_results, proposal
from support.projects import patients, store_dataset
from support.service import STEWARD, new_user, on_sqlite

pytestmark = on_sqlite


def test_a_plan_is_proposed_once_and_forgotten_with_its_dataset(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = Actor(new_user(service, privileged=True).id, STEWARD)
    dataset = store_dataset(service, patients(), actor.user_id)
    made: list[int] = []
    propose = plans.propose
    monkeypatch.setattr(plans, "propose", lambda frame: made.append(1) or propose(frame))
    first = proposal.proposed_plan(service, actor, dataset)
    first["attributes"].clear()
    assert proposal.proposed_plan(service, actor, dataset)["attributes"]
    shown = proposal.propose(service, actor, dataset)
    _, builder, _ = hierarchy_editing.begun(service, actor, dataset, "age")
    [age] = [one for one in shown["config"]["attributes"] if one["attribute_name"] == "age"]
    assert builder is not None
    assert age["hierarchy"] == builder_to_dict(builder)
    assert len(made) == 1
    perform(service, actor, "delete_dataset", dataset)
    assert kept_results.PROPOSALS.number(service) == 0
