"""What a new record is, after it was compared: a new person, a known one, or a case for a person to decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kohorte.patients.linkage.weights import CLEARLY_BETTER, Comparison, Verdict

MOST_CASES = 5
"""So many people at most are shown beside a new record."""


class Outcome(StrEnum):
    """What became of a row."""

    NEW = "new"
    KNOWN = "known"
    GREY = "grey"
    INSUFFICIENT = "insufficient"


REGISTERED = "registered"


def told(outcome: Outcome) -> str:
    """What a source is told of an outcome: it must not learn who was in the list already."""
    return outcome.value if outcome is Outcome.INSUFFICIENT else REGISTERED


@dataclass(frozen=True, slots=True)
class Match:
    """A record of the list that resembles the new one; `equal` if nothing that is compared differs."""

    person: int
    record: int
    comparison: Comparison
    equal: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome; `best` is the known person's record, `doubtful` are others that a person should look at."""

    outcome: Outcome
    best: Match | None = None
    doubtful: tuple[Match, ...] = ()


def judge(matches: Iterable[Match]) -> Judgement:
    """Judge a new record by its comparisons with the list.

    Known is only a person who is clearly ahead of all others. Two people of the list are never joined here: if both
    agree with the new record, a person is asked.
    """
    ranked = _best_of_each_person(match for match in matches if match.comparison.verdict is not Verdict.DIFFERENT)
    if not ranked:
        return Judgement(Outcome.NEW)
    best, others = ranked[0], ranked[1:]
    if best.comparison.verdict is Verdict.SAME and not any(_is_close(best, other) for other in others):
        same = tuple(other for other in others if other.comparison.verdict is Verdict.SAME and not best.equal)
        return Judgement(Outcome.KNOWN, best, same)
    return Judgement(Outcome.GREY, None, ranked[:MOST_CASES])


def _best_of_each_person(matches: Iterable[Match]) -> tuple[Match, ...]:
    best: dict[int, Match] = {}
    for match in matches:
        known = best.get(match.person)
        if known is None or _rank(match) > _rank(known):
            best[match.person] = match
    return tuple(sorted(best.values(), key=_rank, reverse=True))


def _rank(match: Match) -> tuple[bool, bool, float]:
    return match.comparison.verdict is Verdict.SAME, match.equal, match.comparison.weight


def _is_close(best: Match, other: Match) -> bool:
    """Whether another person could be meant as well."""
    if best.equal:
        return other.equal
    return other.comparison.weight > best.comparison.weight - CLEARLY_BETTER
