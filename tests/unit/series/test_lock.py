"""One command at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

import kohorte as ko
from kohorte.errors import EngineError
from kohorte.series.memory.lock import locked


def test_a_second_command_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(ko.InputError) as refused, locked(tmp_path):
        pass
    assert refused.value.code == "series-locked"
    with locked(tmp_path):
        pass


def test_an_error_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    with locked(tmp_path):
        pass


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as refused, locked(tmp_path / "none"):
        pass
    assert refused.value.code == "series-lock-failed"
