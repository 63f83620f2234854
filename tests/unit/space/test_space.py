"""The whole solution space."""

from __future__ import annotations

import polars as pl
import pytest

import kohorte as ko


def test_every_node_has_its_verdict_and_the_best_is_the_release(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    space = ko.solution_space(patients, patient_plan)
    release = ko.anonymize(patients, patient_plan)
    assert space.shape == (6, 4, 2)
    assert len({node.node for node in space.nodes}) == len(space.nodes) == 48 == release.lattice
    assert space.best is not None
    assert (space.best.node, space.best.cost) == (release.node, release.cost)
    assert space.solutions()[0] == space.best
    assert space.solutions() == sorted(space.solutions(), key=lambda node: (node.cost, sum(node.node), node.node))
    for entry in space.to_dict()["nodes"]:  # type: ignore[attr-defined]
        assert set(entry) == {"levels", "anonymous", "cost", "suppressed", "classes", "smallest_class"}
        assert (entry["cost"] is None) == (not entry["anonymous"])
        assert entry["anonymous"] == (entry["suppressed"] <= 1)


def test_without_a_solution_there_is_no_best(patient_plan: ko.Plan) -> None:
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"q": {"role": "quasi-identifying"}},
            "models": [{"model": "k-anonymity", "k": 2}],
            "missing": "suppress",
        }
    )
    space = ko.solution_space(pl.DataFrame({"q": ["a", "a", None]}), plan)
    assert space.best is None
    assert space.solutions() == []
    assert [node["cost"] for node in space.to_dict()["nodes"]] == [None, None]  # type: ignore[attr-defined]


def test_it_can_be_stopped(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    with pytest.raises(KeyboardInterrupt):
        ko.solution_space(patients, patient_plan, progress=lambda _: False)
