"""How many people must satisfy a condition before anything about them is answered: the rarer, the more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.plans.search_options import is_number

KEYS = ("always", "rarer_than", "unknown")
EXAMPLE = "{always: 30, rarer_than: {0.01: 50, 0.001: 100}, unknown: 100}"


@dataclass(frozen=True)
class BaseSet:
    """The fewest people: `always`, for conditions rarer in the world than a share, and where nothing is known.

    `rarer_than` has pairs of a share and a number of people, from frequent to rare; the numbers never fall.
    """

    always: int
    rarer_than: tuple[tuple[float, int], ...]
    unknown: int

    def __post_init__(self) -> None:
        numbers = [self.always, *(people for _, people in self.rarer_than)]
        if not all(type(people) is int and people >= 2 for people in (*numbers, self.unknown)):
            raise _wrong("numbers of people are whole numbers of at least 2")
        shares = [share for share, _ in self.rarer_than]
        if any(not 0 < share < 1 for share in shares) or shares != sorted(set(shares), reverse=True):
            raise _wrong("shares are different numbers between 0 and 1")
        if numbers != sorted(numbers):
            raise _wrong("the rarer a condition, the more people are needed")

    def needed(self, share: float | None) -> int:
        """The fewest people for a condition that this share of the world satisfies; None: it is not known."""
        if share is None:
            return self.unknown
        return max([self.always, *(people for bound, people in self.rarer_than if share < bound)])

    def to_dict(self) -> dict[str, Any]:
        """The rule as a policy writes it."""
        rarer = {repr(share): people for share, people in self.rarer_than}
        return {"always": self.always, "rarer_than": rarer, "unknown": self.unknown}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the rule of a policy."""
        if not isinstance(data, Mapping):
            raise _wrong(f"is written as {EXAMPLE}")
        refuse_unknown_keys(data, KEYS, where="base_set", code="exchange-policy-key")
        rarer = data.get("rarer_than", {})
        if not isinstance(rarer, Mapping) or "always" not in data or "unknown" not in data:
            raise _wrong(f"is written as {EXAMPLE}")
        pairs = sorted(((_share(share), people) for share, people in rarer.items()), reverse=True)
        return cls(data["always"], tuple(pairs), data["unknown"])


def _share(text: object) -> float:
    try:
        share = float(str(text))
    except ValueError:
        raise _wrong("rarer_than has shares between 0 and 1") from None
    if not is_number(share):
        raise _wrong("rarer_than has shares between 0 and 1")
    return share


def _wrong(what: str) -> InputError:
    return InputError(f"base_set: {what}", code="exchange-policy-value", field="base_set")
