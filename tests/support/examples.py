"""How many examples hypothesis tries: all of them in `make test-long`, a quarter of them in `make test`."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

THOROUGH = 100
"""The examples of a property that asks for no other number, in the profile `thorough`."""
FEWEST = 4


def examples(number: int, **more: Any) -> settings:
    """Try so many examples, or a smaller number in the same proportion, as the profile says."""
    return settings(max_examples=max(FEWEST, number * settings.default.max_examples // THOROUGH), **more)
