"""A proposal to change a survey so that fewer people can be recognized, with the loss of information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kohorte.survey.estimators.estimate import Figure, Shown, figures_to_dict
from kohorte.survey.questionnaire.survey import Survey


@dataclass(frozen=True)
class Merge:
    """The merged categories of one question: each group becomes one answer."""

    question: str
    groups: tuple[tuple[str, ...], ...]

    @property
    def left_out(self) -> bool:
        """Whether all answers are merged into one, so that the question need not be asked."""
        return len(self.groups) == 1

    @property
    def in_words(self) -> str:
        """What to do, for people."""
        if self.left_out:
            return f"leave out {self.question}"
        merged = [" + ".join(group) for group in self.groups if len(group) > 1]
        return f"{self.question}: merge {' and '.join(merged)}"

    def to_dict(self) -> dict[str, object]:
        """The merge as plain dictionaries, lists and text."""
        return {
            "question": self.question,
            "left_out": self.left_out,
            "groups": [list(group) for group in self.groups],
        }


@dataclass(frozen=True)
class SurveyProposal:
    """A survey that reaches the wanted percentage, and the changes: merged categories, or more people.

    `figures` are those of the changed survey. `lost_bits` is the lost entropy of the answers, `lost_share` its share of
    the total. `proven` says that all combinations of merges were examined, and none with as few changes loses a
    hundredth of a bit less.
    """

    survey: Survey
    people: int
    more_people: int
    merges: tuple[Merge, ...]
    by: str
    figures: Mapping[str, Shown | None]
    lost_bits: float
    lost_share: float
    changes: int
    proven: bool

    @property
    def singles(self) -> float | None:
        """The number of people alone with their answers, by the chosen judgement; None if it is a coefficient."""
        figure = self.figures[self.by]
        return figure.singles if isinstance(figure, Figure) else None

    @property
    def deanonymizable_percent(self) -> float:
        """The percentage that is reached, by the chosen judgement."""
        figure = self.figures[self.by]
        assert figure is not None  # a proposal is only made by a figure that was computed
        return figure.deanonymizable_percent

    @property
    def in_words(self) -> str:
        """What to do, for people."""
        if self.more_people:
            return f"ask {self.people:,} people instead of {self.people - self.more_people:,}"
        parts = [merge.in_words for merge in self.merges if not merge.left_out]
        if gone := [merge.question for merge in self.merges if merge.left_out]:
            parts.append(f"leave out {', '.join(gone)}")
        return "; ".join(parts) or "no change is needed"

    def to_dict(self) -> dict[str, object]:
        """The proposal as plain dictionaries, lists, numbers and text."""
        return {
            "what": self.in_words,
            "people": self.people,
            "merges": [merge.to_dict() for merge in self.merges],
            "cells": self.survey.cells,
            "singles": self.singles,
            "deanonymizable_percent": self.deanonymizable_percent,
            "figures": figures_to_dict(self.figures),
            "lost_bits": self.lost_bits,
            "lost_share": self.lost_share,
            "changes": self.changes,
            "proven": self.proven,
            "survey": self.survey.to_dict(),
        }
