"""How common names and postcodes are: to share a rare name says more than to share a common one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kohorte.patients.linkage.record import Counted

UNSEEN: Mapping[str, int] = {"first": 100, "last": 1000, "postcode": 500}
"""A value that was never seen among n records has the share 1 / (n + this)."""
RAREST: Mapping[str, float] = {"first": 1 / 2_000, "last": 1 / 20_000, "postcode": 1 / 2_000}
"""No share is taken for smaller than this, because lists of names are never complete."""


@dataclass
class Frequencies:
    """Counts of first names, family names and postcodes; the repr shows none."""

    records: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in UNSEEN})

    def __repr__(self) -> str:
        return f"<Frequencies of {self.records} records>"

    def add(self, people: Iterable[Counted]) -> None:
        """Count the values of people."""
        firsts, lasts, postcodes = (self.counts[name] for name in ("first", "last", "postcode"))
        for first, last, postcode in people:
            self.records += 1
            lasts[last.joined] += 1
            postcodes[postcode] += 1
            for name in {first.joined, *first.parts}:
                firsts[name] += 1

    def share(self, what: str, value: str) -> float:
        """The share of the people who have this value, at least `RAREST`."""
        seen = self.counts[what].get(value, 0)
        return max((seen + 1) / (self.records + UNSEEN[what]), RAREST[what])

    def together_with(self, other: Frequencies) -> Frequencies:
        """The counts of both."""
        counts = {name: self.counts[name] + other.counts[name] for name in UNSEEN}
        return Frequencies(self.records + other.records, counts)

    def to_json(self) -> bytes:
        """The counts as text, to be stored sealed."""
        return json.dumps({"records": self.records, "counts": self.counts}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Frequencies:
        """The counts of `to_json`."""
        found = json.loads(text)
        return cls(found["records"], {name: Counter(found["counts"][name]) for name in UNSEEN})
