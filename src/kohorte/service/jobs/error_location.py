"""The location of an error, for logs that must not contain its message."""

from __future__ import annotations

import traceback
from pathlib import Path


def error_location(error: BaseException) -> str:
    """Return type and location of an error, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    location = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "an unknown file"
    return f"{type(error).__name__} in {location}"
