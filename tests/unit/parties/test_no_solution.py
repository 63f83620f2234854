"""A plan that no release satisfies ends in the same error as with all rows in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from kohorte.errors import NoSolution
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study


@pytest.mark.parametrize("limit", [0, 0.2])
@pytest.mark.parametrize("options", [{"protocol": "C"}, {"protocol": "A", "dummies": 0.3}], ids=["C", "A with dummies"])
def test_a_plan_with_the_metric_loss_that_nothing_satisfies_has_no_solution(
    options: dict[str, Any], limit: float, tmp_path: Path
) -> None:
    models = [{"model": "k-anonymity", "k": 2}, {"model": "average-risk", "threshold": 0.01}]
    plan = {**ZIP_PLAN, "models": models, "metric": {"metric": "loss"}, "suppression_limit": limit}
    study = written_study(tmp_path, plan, parties={"clinic-a": {}, "clinic-b": {}}, **options)
    with pytest.raises(NoSolution) as joint:
        run_study(study, {"clinic-a": ZIP_ROWS[::2], "clinic-b": ZIP_ROWS[1::2]})
    with pytest.raises(NoSolution) as pooled:
        ko.anonymize(ZIP_ROWS, study.plan)
    assert (joint.value.code, str(joint.value)) == ("no-solution", str(pooled.value))
