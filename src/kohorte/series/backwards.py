"""Going backwards: a series whose folder was restored from an old copy does not know its latest releases.

The releases that are out cannot be taken back, and one that is made from an old copy may contradict them. Their
certificates tell the series, the number and the content of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from kohorte.errors import PrivacyViolation
from kohorte.series.memory.state import State


def refuse_backwards(state: State, output: Path) -> None:
    """Refuse a release beside whose output there is a certificate of this series that its state does not know."""
    for path in _certificates(output):
        series = _series_of(path)
        if series.get("id") == State(state.head).hash and not _is_known(series, state):
            raise PrivacyViolation(
                f"{path}: is of a release that this copy of the series does not know; a release from here could "
                "contradict it. Restore the latest copy of the folder of the series",
                code="series-backwards",
            )


def _certificates(output: Path) -> list[Path]:
    """All certificates in the folder of the output, and where it is a link also in that of its file."""
    folders = {output.parent, Path(os.path.realpath(output)).parent}
    return sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*.certificate.json"))


def _series_of(path: Path) -> Mapping[str, object]:
    """What a certificate says of its series; nothing where it is of none, or is no certificate."""
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
