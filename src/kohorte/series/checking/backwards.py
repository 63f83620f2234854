"""Detecting a series that was restored from an old copy, and so does not know its latest releases.

Published releases cannot be taken back, and a release made from an old copy may contradict them. Their certificates
contain the series, the number and the content of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from kohorte.errors import PrivacyViolation
from kohorte.series.memory.state import State


def refuse_backwards(state: State, output: Path) -> None:
    """Refuse a release if a certificate beside its output is of a later release, which the state does not know."""
    for path in _certificates(output):
        series = _series_of(path)
        if series.get("id") == State(state.head).hash and not _is_known(series, state):
            raise PrivacyViolation(
                f"{path}: belongs to a release that this copy of the series does not know; a new release could "
                "contradict it. Restore the latest copy of the folder of the series",
                code="series-backwards",
            )


def _certificates(output: Path) -> list[Path]:
    """All certificates in the folder of the output, and, if it is a link, in the folder of its file."""
    folders = {output.parent, Path(os.path.realpath(output)).parent}
    return sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*.certificate.json"))


def _series_of(path: Path) -> Mapping[str, object]:
    """The series part of a certificate; empty if the file is not a certificate of a series."""
    try:
        facts = json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return {}
    series = facts.get("series") if isinstance(facts, dict) else None
    return series if isinstance(series, dict) else {}


def _is_known(series: Mapping[str, object], state: State) -> bool:
    number = series.get("number")
    if type(number) is not int or not 1 <= number <= len(state.releases):
        return False
    entry = state.releases[number - 1]
    return (series.get("previous"), series.get("content_sha256")) == (entry.previous, entry.content_sha256)
