"""Try merges that a person has chosen: the survey with them, and the information that they lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kohorte.errors import InputError, nearest
from kohorte.survey.estimators.published import entropy
from kohorte.survey.planning.merging import Partition, merged_survey
from kohorte.survey.questionnaire.parts import Question
from kohorte.survey.questionnaire.survey import Survey

Merges = Mapping[str, Sequence[Sequence[str]]]
"""For some questions, groups of answers that become one; answers that are not named stay as they are."""


@dataclass(frozen=True)
class Tried:
    """A survey with merged answers; `lost_bits` is the entropy of the answers that is lost."""

    survey: Survey
    lost_bits: float
    lost_share: float

    def to_dict(self) -> dict[str, object]:
        """The merged survey and the loss as plain data."""
        return {"survey": self.survey.to_dict(), "lost_bits": self.lost_bits, "lost_share": self.lost_share}


def try_merges(survey: Survey, merges: Merges, people: int) -> Tried:
    """Return the survey with merges; what a question forbids, or what its order does not allow, is refused."""
    partitions = {name: _partition(survey, name, groups) for name, groups in merges.items()}
    changed = {name: partition for name, partition in partitions.items() if any(len(group) > 1 for group in partition)}
    if not changed:
        return Tried(survey, 0.0, 0.0)
    merged = merged_survey(survey, changed, people)
    before, after = (math.fsum(entropy(block) for block in one.blocks) for one in (survey, merged))
    lost = max(0.0, before - after)
    return Tried(merged, lost, lost / before if before else 0.0)


def _partition(survey: Survey, name: str, groups: Sequence[Sequence[str]]) -> Partition:
    question = survey.questions.get(name)
    if question is None:
        raise _wrong(f"there is no question {name!r}{nearest(name, survey.questions)}")
    if not question.merge and any(len(group) > 1 for group in groups):
        raise _wrong(f"question {name!r} forbids merging")
    positions = [tuple(sorted(_position(question, name, answer) for answer in group)) for group in groups if group]
    named = [position for group in positions for position in group]
    if len(named) != len(set(named)):
        raise _wrong(f"question {name!r}: an answer is in two groups")
    if question.ordered and any(group[-1] - group[0] >= len(group) for group in positions):
        raise _wrong(f"question {name!r}: its answers have an order, so that only neighbours can be merged")
    alone = [(position,) for position in range(len(question.categories)) if position not in named]
    return tuple(sorted([*positions, *alone]))


def _position(question: Question, name: str, answer: str) -> int:
    if answer not in question.categories:
        raise _wrong(f"question {name!r} has no such answer{nearest(str(answer), question.categories)}")
    return tuple(question.categories).index(answer)


def _wrong(message: str) -> InputError:
    return InputError(f"merges: {message}", code="survey-merge")
