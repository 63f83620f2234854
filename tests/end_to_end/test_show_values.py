"""--show-values: unknown values on the terminal of the user who asks, and nowhere else."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
COMMANDS = {
    "check": ("hierarchy", "check", "patients.csv", "--plan", "plan.yaml"),
    "anonymize": ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv"),
}


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def strange(hospital: Path) -> Path:
    table = hospital / "patients.csv"
    header, _, rest = table.read_text(encoding="utf-8").partition("\n")
    table.write_text(f"{header}\n{rest.splitlines()[0].split(',')[0]},CANARY,f,x\n{rest}", encoding="utf-8")
    plan = hospital / "plan.yaml"
    plan.write_text(plan.read_text(encoding="utf-8").replace("{redaction: {}}", "{redaction: {length: 5}}"))
    return hospital


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_values_are_shown_on_a_terminal_on_request_only(
    strange: Path, run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for asked in (False, True):
        terminal = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stderr", terminal)
            ran = run(*COMMANDS[command], "--json", *(["--show-values"] if asked else []))
        assert ran.code != 0
        assert ("zip: 'CANARY'" in terminal.getvalue()) is asked
        assert "CANARY" not in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_values_are_not_written_to_a_stream_that_could_be_a_log(strange: Path, run: Run, command: str) -> None:
    ran = run(*COMMANDS[command], "--show-values")
    assert "CANARY" not in ran.out + ran.err
    assert "on a terminal only" in ran.err
