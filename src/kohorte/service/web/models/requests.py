"""The base of all request bodies: unknown members are refused, and validation stops early on malformed bodies."""

from __future__ import annotations

from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

MOST_ROWS = 1_000_000
MOST_LEVELS = 1_000
MOST_UNKNOWN = 20


class Body(BaseModel):
    """A request body; unknown members are refused.

    Lists have a maximum length and `fail_fast`, because a body of 16 MiB can contain millions of invalid entries.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        """Keep only the first unknown members, because each one causes an error."""
        known = cls.model_fields
        if not isinstance(given, dict) or len(given) <= len(known) + MOST_UNKNOWN:
            return given
        unknown = islice((name for name in given if name not in known), MOST_UNKNOWN)
        return {name: given[name] for name in (*(name for name in known if name in given), *unknown)}
