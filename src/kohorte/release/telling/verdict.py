"""The verdict on a table, decided in one place: green, amber or red.

Red: a model or another rule of the plan fails, or could not be checked. Amber: the plan is met, but a point is open
that a person has to think about. Green: the plan is met and nothing is open. The command, the certificate, the report,
a series and the service all ask `judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kohorte.in_words import count


class Standing(StrEnum):
    """The verdict in one word."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True)
class Verdict:
    """A verdict and its reasons: what fails if it is red, what is open if it is amber."""

    standing: Standing
    reasons: tuple[str, ...] = ()

    def sentence(self, subject: str, good: str = "satisfies the plan", bad: str = "does NOT satisfy the plan") -> str:
        """The verdict on a subject, such as `the release`; `good` and `bad` say what it does."""
        if self.standing is Standing.RED:
            return f"{subject} {bad}"
        satisfied = f"{subject} {good}"
        if self.standing is Standing.GREEN:
            return satisfied
        return f"{satisfied}, but {points_are(len(self.reasons))} open"

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        return {"standing": str(self.standing), "reasons": list(self.reasons)}


class Judged(Protocol):
    """One model: whether it holds, in words."""

    @property
    def satisfied(self) -> bool:
        """Whether it holds."""

    @property
    def model_in_words(self) -> str:
        """The model with its parameters."""

    @property
    def in_words(self) -> str:
        """Whether it holds, and where not."""


class Verified(Protocol):
    """A verification: whether a table satisfies its plan, model by model."""

    @property
    def satisfied(self) -> bool:
        """Whether it does."""

    @property
    def models(self) -> Sequence[Judged]:
        """The models."""

    @property
    def problems(self) -> Sequence[str]:
        """What is wrong besides them."""


def points_are(number: int) -> str:
    """So many points, with the verb: `1 point is`."""
    return f"{count(number, 'point')} {'is' if number == 1 else 'are'}"


def judge(verification: Verified | None, open_points: Sequence[str], *, failures: Sequence[str] = ()) -> Verdict:
    """Decide the verdict; a table that could not be verified is never better than red.

    `failures` are other reasons for red, such as a risk above the limit of a policy.
    """
    failing = [*_failing(verification), *failures]
    if failing:
        return Verdict(Standing.RED, tuple(failing))
    return Verdict(Standing.AMBER, tuple(open_points)) if open_points else Verdict(Standing.GREEN)


def _failing(verification: Verified | None) -> list[str]:
    if verification is None:
        return ["the models could not be checked"]
    models = [f"{model.model_in_words}: {model.in_words}" for model in verification.models if not model.satisfied]
    found = [*models, *verification.problems]
    return found if found or verification.satisfied else ["the plan is not satisfied"]
