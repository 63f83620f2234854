"""A registration that is killed at any moment loses nobody, registers nobody twice, and continues."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import killed_registration
from testbed import identities

UNREACHED = 99
"""More moments than a registration has: it ends without being killed."""


def test_a_killed_registration_continues_with_the_same_pids(tmp_path: Path) -> None:
    """Killed inside the second batch, after it, and not at all."""
    *killed, whole = registered(tmp_path, 9, 10, UNREACHED)
    assert [run["before"] for run in killed] == [20, 40]
    check(killed, whole)


@pytest.mark.slow
def test_a_registration_that_is_killed_at_any_moment_continues_with_the_same_pids(tmp_path: Path) -> None:
    *killed, whole = registered(tmp_path)
    assert {run["before"] for run in killed} >= {0, 20, 40, 60, 80}
    check(killed, whole)


def registered(folder: Path, *moments: int) -> list[dict[str, Any]]:
    """Register 60 people and 20 of them again, in batches of 20, killed at each of the moments and then continued."""
    known = identities.people(60, seed=11)
    _, described = identities.registrations(known, 20, seed=12)
    identities.frame(known + described).write_csv(folder / "table.csv")
    environment = os.environ | {"PYTHONPATH": str(Path(killed_registration.__file__).parents[1])}
    (folder / "runs").mkdir()
    program = [sys.executable, killed_registration.__file__, str(folder / "table.csv"), str(folder / "runs")]
    command = [*program, *map(str, moments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(killed: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    assert whole["before"] == 80
    assert killed
    for run in killed:
        assert (run["people"], run["cases"]) == (whole["people"], whole["cases"])
        assert partition(run["pids"]) == partition(whole["pids"])
        assert len({*run["pids"]} - {None}) == run["people"]


def partition(pids: list[str | None]) -> list[int | None]:
    """Which rows have the same PID: the first row of each."""
    return [None if pid is None else pids.index(pid) for pid in pids]
