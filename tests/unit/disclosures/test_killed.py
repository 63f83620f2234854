"""A ledger whose process was killed at any moment: a change happened or did not, and the log tells it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from kohorte.trust.store import ENVIRONMENT

TESTS = Path(__file__).parents[2]
PROGRAM = TESTS / "support" / "killed_disclosures.py"


def test_after_a_kill_at_any_moment_the_ledger_is_whole_and_continues(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != ENVIRONMENT}
    ran = subprocess.run(
        [sys.executable, PROGRAM, tmp_path],
        env=environment | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        check=True,
        text=True,
    )
    left: dict[str, list[dict[str, Any]]] = {}
    for line in ran.stdout.splitlines():
        facts = json.loads(line)
        left.setdefault(facts["action"], []).append(facts)
    assert all(len(found) >= 3 for found in left.values())
    assert [facts["releases"] for facts in left["record"]] == [0, *[1] * (len(left["record"]) - 1)]
    for facts in (*left["open"], *left["record"]):
        assert facts["number"] == facts["releases"] + 1
        assert facts["logged"].count("record") == facts["number"]
    assert [facts["new"] for facts in left["withdraw"]] == [1, *[0] * (len(left["withdraw"]) - 1)]
    assert all(facts["logged"].count("withdraw") == 1 for facts in left["withdraw"])
