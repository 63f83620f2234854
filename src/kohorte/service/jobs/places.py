"""Where an error came from, for logs that must not repeat its words."""

from __future__ import annotations

import traceback
from pathlib import Path


def place_of(error: BaseException) -> str:
    """Say what happened and where, without the words of the error."""
    places = traceback.extract_tb(error.__traceback__)
    place = f"{Path(places[-1].filename).name}, line {places[-1].lineno}" if places else "an unknown place"
    return f"{type(error).__name__} in {place}"
