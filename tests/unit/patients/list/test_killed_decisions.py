"""kill -9 in the middle of a merge, a split or a decision: it is done, and no older copy takes it back."""

from __future__ import annotations

from typing import Any

import pytest

from support.killing import left_by

pytestmark = pytest.mark.slow
MOMENTS = 4
"""After the entry that begins, before and after the end of the transaction, after the entry that ends."""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Who is who after a kill at every moment, and at last without one."""
    return left_by("killed_decisions.py", tmp_path_factory.mktemp("killed"))


@pytest.mark.parametrize("action", ["merge", "decide same", "decide different", "split", "split off"])
def test_a_decision_that_reached_the_log_is_done_when_the_list_is_opened(
    left: dict[str, list[dict[str, Any]]], action: str
) -> None:
    *killed, whole = left[action]
    assert len(killed) == MOMENTS
    assert [facts["trust"] for facts in killed] == [whole["trust"]] * MOMENTS
    ended = action.split()[0]
    for facts in killed:
        assert [one for one in facts["logged trust"] if one.startswith(ended)][-2:] == [f"{ended} begins", ended]


@pytest.mark.parametrize("action", ["merge", "decide same", "decide different", "split", "split off"])
def test_an_older_database_does_not_take_a_killed_decision_back(
    left: dict[str, list[dict[str, Any]]], action: str
) -> None:
    *killed, whole = left[action]
    before_its_end = killed[: MOMENTS - 1]
    assert [facts["older"] for facts in before_its_end] == [whole["trust"]] * len(before_its_end)
    assert [facts["older"] for facts in (killed[-1], whole)] == ["trust-database-older"] * 2
