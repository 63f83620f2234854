"""A ledger whose process was killed at any moment: a change happened or did not, and the log tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.killing import left_by


@pytest.mark.slow
def test_after_a_kill_at_any_moment_the_ledger_is_whole_and_continues(tmp_path: Path) -> None:
    left = left_by("killed_disclosures.py", tmp_path)
    assert all(len(found) >= 3 for found in left.values())
    assert [facts["releases"] for facts in left["record"]] == [0, *[1] * (len(left["record"]) - 1)]
    for facts in (*left["open"], *left["record"]):
        assert facts["number"] == facts["releases"] + 1
        assert facts["logged"].count("record") == facts["number"]
    assert [facts["new"] for facts in left["withdraw"]] == [1, *[0] * (len(left["withdraw"]) - 1)]
    assert all(facts["logged"].count("withdraw") == 1 for facts in left["withdraw"])
