"""kill -9 in the middle of a withdrawal, an export, or the use of a TempID."""

from __future__ import annotations

from typing import Any

import pytest

from support.killing import left_by

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What is left of each action after a kill at every moment, and at last without one."""
    return left_by("killed_consents.py", tmp_path_factory.mktemp("killed"))


def test_a_withdrawal_that_reached_the_log_counts_and_can_be_repeated(left: dict[str, list[dict[str, Any]]]) -> None:
    found = left["withdraw"]
    assert len(found) >= 4
    for facts in found:
        anna, otto = facts["people"]
        assert facts["covered"] == ([otto] if "withdraw consent" in facts["logged"] else sorted([anna, otto]))
        assert facts["covered_again"] == [otto]
    assert sum("withdraw consent" in facts["logged"] for facts in found) >= 3


def test_an_output_that_appears_was_noted_and_none_is_half_written(left: dict[str, list[dict[str, Any]]]) -> None:
    found = left["export"]
    assert [facts["output"] is not None for facts in found].count(True) >= 2
    for facts in found:
        noted = [one["export"] for one in facts["exports"]]
        uncertain = [one["export"] for one in facts["uncertain"]]
        assert facts["output"] in (None, facts["people"])
        assert noted == [1] or facts["output"] is None
        assert uncertain == ([1] if "export" in facts["logged"] and not noted else [])
        assert facts["again"] == facts["people"]
        assert facts["released_again"] == len(noted) + 1


def test_a_temp_id_is_used_or_not_and_never_twice(left: dict[str, list[dict[str, Any]]]) -> None:
    found = left["resolve"]
    assert len(found) >= 2
    for facts in found:  # what reached the log is used, also if the process was killed before the database had it
        used = "resolve temp ids" in facts["logged"]
        assert facts["resolved"] == (None if used else facts["people"][:1])
    assert "resolve temp ids" in found[-1]["logged"]
