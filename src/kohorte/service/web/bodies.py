"""What all bodies have in common: nothing unknown is taken, and one that is wrong all over is soon refused."""

from __future__ import annotations

from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

MOST_ROWS = 1_000_000
MOST_LEVELS = 1_000
MOST_UNKNOWN = 20


class Body(BaseModel):
    """What a client sends; a member that is not known is refused.

    Lists have a greatest length and `fail_fast`: a body of 16 MiB has room for millions of wrong entries.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        """Look at the first unknown members only; each makes an error."""
        known = cls.model_fields
        if not isinstance(given, dict) or len(given) <= len(known) + MOST_UNKNOWN:
            return given
        unknown = islice((name for name in given if name not in known), MOST_UNKNOWN)
        return {name: given[name] for name in (*(name for name in known if name in given), *unknown)}
