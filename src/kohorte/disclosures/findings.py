"""What an attacker could derive from a candidate together with earlier releases; for the holder, never for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kohorte.in_words import count, listed


class FindingKind(StrEnum):
    """How people would stand out."""

    SMALL_CLASS = "small class"
    ALL_BUT_FEW = "all but few"
    OVERLAPPING = "overlapping conditions"
    COMPLEMENTARY = "complementary columns"
    GROWING = "growing table"
    SAME_VALUE = "same value"
    LOOK_ALIKE = "look alike"
    WITHDRAWN = "withdrawn"


WORDS = {
    FindingKind.SMALL_CLASS: "the release itself shows groups below k",
    FindingKind.ALL_BUT_FEW: "the release shows a group without a few of its people, so that these stand out",
    FindingKind.OVERLAPPING: "groups overlap with groups that were released before in a few people",
    FindingKind.COMPLEMENTARY: "people were released with other columns before; laid over each other, a few stand out",
    FindingKind.GROWING: "the table has grown by a few people, who stand out by comparison with an earlier release",
    FindingKind.SAME_VALUE: "a group that can be told apart has one sensitive value in common",
    FindingKind.LOOK_ALIKE: "nearly all people who look alike, as this and earlier releases show them, have something "
    "sensitive in common",
    FindingKind.WITHDRAWN: "people have withdrawn and must not be in a release any more",
}


@dataclass(frozen=True)
class Finding:
    """One way in which people would stand out: the earlier releases that are involved, and at most how many people.

    The number of people is rounded up to a multiple of k.
    """

    kind: FindingKind
    releases: tuple[int, ...]
    people_at_most: int

    @property
    def in_words(self) -> str:
        """Return the finding as a sentence without a value."""
        earlier = f" (with release {listed([str(number) for number in self.releases])})" if self.releases else ""
        return f"{WORDS[self.kind]}{earlier}: at most {count(self.people_at_most, 'person', 'people')}"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {"kind": str(self.kind), "releases": list(self.releases), "people_at_most": self.people_at_most}


@dataclass(frozen=True)
class Findings:
    """All findings; empty and false if nothing was found."""

    found: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    @property
    def releases(self) -> tuple[int, ...]:
        """The numbers of all earlier releases that are involved."""
        return tuple(sorted({number for finding in self.found for number in finding.releases}))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the findings as plain data."""
        return [finding.to_dict() for finding in self.found]
