"""The planner: the smallest changes to a survey that reach a wanted percentage.

Optimal or heuristic: with OR, which is a function of the remaining entropy, the best of all combinations of merges is
found if they can be listed (200,000), otherwise the best of those that represent the others (choices.py). With other
estimators all combinations are tried if there are at most 5,000; otherwise those near the least loss that reaches the
percentage, found by bisection as if the estimator decreased with every bit lost. Each proposal says whether it is
proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kohorte.errors import InputError
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.survey.estimators.estimate import figures_with_worst
from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.judgements import DEFAULT_JUDGE, refuse_unknown_judge
from kohorte.survey.estimators.published import ESTIMATORS, entropy
from kohorte.survey.estimators.worst_case import worst_case_bound
from kohorte.survey.planning.choices import Choices, Integers, all_choices, non_dominated
from kohorte.survey.planning.judging import ROUNDING, percentage_by, reaches
from kohorte.survey.planning.merging import (
    MergedBlocks,
    Option,
    Partition,
    changes_of,
    merged_survey,
    options_of,
    unchanged,
)
from kohorte.survey.planning.more_people import least_people
from kohorte.survey.planning.proposal import Merge, SurveyProposal
from kohorte.survey.questionnaire.survey import Answers, Survey, survey_of

MOST_TRIED = 5_000
AROUND = 40
FEW_PEOPLE = 10_000
MOST_KINDS = 20


def plan_survey(
    survey: Survey,
    *,
    percent: float,
    people: int | None = None,
    by: str = DEFAULT_JUDGE,
    most: int = 6,
    progress: ProgressCallback | None = None,
) -> tuple[SurveyProposal, ...]:
    """A short list of ways to reach a wanted percentage, the least loss of information first.

    Each merges neighbouring categories, leaves questions out, or asks more people (which loses nothing). A question
    that forbids merging stays as it is. `by` is the judgement: expected, worst (the bound that no table with exactly
    these margins exceeds, and no less than the expectation), or one of the published coefficients OR, FG, RT and RR.
    `progress` is called when a stage begins, and while combinations of merges are examined.
    """
    refuse_unknown_judge(by)
    if not _is_percentage(percent):
        raise InputError(f"percent (--percent) is a number from 0 to 100, not {percent!r}", code="survey-percent")
    return _Planner(survey, survey_of(survey).asked(people), float(percent), by, progress).proposals(most)


def _is_percentage(percent: object) -> bool:
    return isinstance(percent, int | float) and not isinstance(percent, bool) and 0 <= percent <= 100


def singles_by(by: str, survey: Answers, people: int) -> float:
    """The number of people, or the coefficient, by a judgement."""
    if by == "expected":
        return expected_singles(survey, people).singles
    if by == "worst":
        return max(worst_case_bound(survey, people), expected_singles(survey, people).singles)
    return ESTIMATORS[by](survey, people)


class _Planner:
    def __init__(self, survey: Survey, people: int, percent: float, by: str, progress: ProgressCallback | None) -> None:
        self.survey, self.people, self.percent, self.by = survey, people, percent, by
        self.progress = progress
        self.bits = math.fsum(entropy(block) for block in survey.blocks)

    def singles(self, survey: Answers, people: int) -> float:
        """The figure of the chosen judgement."""
        return singles_by(self.by, survey, people)

    def proposals(self, most: int) -> tuple[SurveyProposal, ...]:
        if reaches(self.singles(self.survey, self.people), self.people, self.percent):
            return (self._proposal({}, self.people, proven=True),)
        tell(self.progress, Stage.SEARCHING, "a number of people")
        enough = least_people(
            self.survey, self.percent, self.by, lambda people: self.singles(self.survey, people), self.people
        )
        larger = () if enough is None else (self._proposal({}, enough, proven=self.by != "worst"),)
        return (*larger, *self._merged(most - len(larger)))

    def _merged(self, most: int) -> list[SurveyProposal]:
        tell(self.progress, Stage.SEARCHING, "merges of categories")
        found = [options_of(block, self.survey) for block in self.survey.blocks]
        units, complete = [options for options, _ in found], all(whole for _, whole in found)
        choices = all_choices(units)
        rows, tried_all = self._reaching(choices, units)
        chosen = non_dominated(rows, choices, most) if len(rows) else []
        proven = complete and choices.complete and tried_all
        return [
            self._proposal(self._partitions(units, choices.options(row)), self.people, proven=proven) for row in chosen
        ]

    def _reaching(self, choices: Choices, units: Sequence[Sequence[Option]]) -> tuple[Integers, bool]:
        """The combinations that reach the percentage, and whether all were examined."""
        if self.by == "OR":
            most = math.log2(self.people * (self.percent + ROUNDING) / 100)
            return np.flatnonzero(choices.entropies <= most), True

        merged, percentage = MergedBlocks(self.survey.blocks, units), percentage_by(self.by, self.survey)

        def good(row: int) -> bool:
            survey = merged.of(choices.options(row))
            if percentage is not None:
                return percentage.reaches(survey, self.people, self.percent)
            return reaches(self.singles(survey, self.people), self.people, self.percent)

        if (in_all := len(choices.entropies)) <= MOST_TRIED:
            return np.array([row for row in self._told(range(in_all)) if good(row)], dtype=np.int64), True
        around = AROUND if self.people <= FEW_PEOPLE else AROUND // 5  # each evaluation takes longer
        return _near_the_border(choices, good, around), False

    def _told(self, rows: range) -> Iterator[int]:
        """Combinations of merges; before each, the progress is reported."""
        for row in rows:
            unit = "combinations examined"
            tell(self.progress, Stage.SEARCHING, "merges of categories", done=row, of=len(rows), unit=unit)
            yield row

    def _partitions(self, units: Sequence[Sequence[Option]], options: Sequence[int]) -> dict[str, Partition]:
        """The merges in each question, without unchanged questions."""
        found: dict[str, Partition] = {}
        for block, unit, option in zip(self.survey.blocks, units, options, strict=True):
            pairs = zip(block.questions, block.shape, unit[option].partitions, strict=True)
            found |= {name: partition for name, count, partition in pairs if partition != unchanged(count)}
        return found

    def _proposal(self, partitions: dict[str, Partition], people: int, *, proven: bool) -> SurveyProposal:
        survey = merged_survey(self.survey, partitions, people)
        lost = max(0.0, self.bits - math.fsum(entropy(block) for block in survey.blocks)) if partitions else 0.0
        merges = tuple(self._merge(name, partition) for name, partition in partitions.items())
        return SurveyProposal(
            survey=survey,
            people=people,
            more_people=people - self.people,
            merges=merges,
            by=self.by,
            figures=figures_with_worst(survey, people),
            lost_bits=lost,
            lost_share=lost / self.bits if self.bits else 0.0,
            changes=sum(map(changes_of, partitions.values())) or int(people > self.people),
            proven=proven,
        )

    def _merge(self, name: str, partition: Partition) -> Merge:
        categories = self.survey.questions[name].categories
        return Merge(name, tuple(tuple(categories[position] for position in group) for group in partition))


def _near_the_border(choices: Choices, good: Callable[[int], bool], around: int) -> Integers:
    """For each number of changes, some combinations that reach the percentage with about the least loss."""
    found: list[int] = []
    kinds = 0
    for changes in np.unique(choices.changes).tolist():
        rows = np.flatnonzero(choices.changes == changes)
        rows = rows[np.argsort(-choices.entropies[rows], kind="stable")]
        if kinds == MOST_KINDS or not good(int(rows[-1])):
            continue
        kinds += 1
        low, high = 0, len(rows) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if good(int(rows[middle])) else (middle + 1, high)
        found += [int(row) for row in rows[max(0, low - around) : low + around] if good(int(row))]
    return np.array(found, dtype=np.int64)
