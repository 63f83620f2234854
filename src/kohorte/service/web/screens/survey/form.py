"""The form of a questionnaire: its fields from a survey, and a survey with merges to try from its fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.service.surveys.planning import MOST_ANSWERS, MOST_QUESTIONS
from kohorte.service.web.screens.hierarchy.changes import plain_json
from kohorte.service.web.screens.visitors import Visitor
from kohorte.survey import Survey
from kohorte.survey.estimators.judgements import DEFAULT_JUDGE
from kohorte.survey.questionnaire.frequencies import as_written

GROUPS = ("A", "B", "C", "D", "E", "F")
BLANKS = 2
"""Empty lines for further answers, so that no script is needed to add one."""
LONGEST = 200


@dataclass(frozen=True)
class Answer:
    """An answer with its share as it was typed, and the group with which it is merged."""

    name: str
    share: str = ""
    group: str = ""


@dataclass(frozen=True)
class AskedQuestion:
    """A question with its answers; `merge` allows merges."""

    name: str
    answers: tuple[Answer, ...]
    ordered: bool = True
    merge: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The question as a survey file writes it."""
        named = [answer for answer in self.answers if answer.name]
        if len({answer.name for answer in named}) < len(named):
            raise InputError(f"question {self.name!r}: an answer occurs twice", code="survey-form")
        shares = [answer for answer in named if answer.share]
        if shares and len(shares) < len(named):
            raise InputError(f"question {self.name!r}: give a share for every answer, or for none", code="survey-form")
        categories: Any = {answer.name: _share(answer.share) for answer in named}
        flags = {name: False for name in ("ordered", "merge") if not getattr(self, name)}
        return {"categories": categories if shares else list(categories), **flags}

    @property
    def groups(self) -> list[list[str]]:
        """The answers that are merged, by their groups."""
        letters = sorted({answer.group for answer in self.answers if answer.name and answer.group})
        found = [[one.name for one in self.answers if one.name and one.group == letter] for letter in letters]
        return [group for group in found if len(group) > 1]

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any]) -> AskedQuestion:
        """The question of a survey."""
        categories = entry["categories"]
        shares = categories if isinstance(categories, Mapping) else dict.fromkeys(categories, "")
        answers = tuple(Answer(str(answer), str(share)) for answer, share in shares.items())
        return cls(name, answers, entry.get("ordered", True), entry.get("merge", True))


@dataclass(frozen=True)
class SurveyForm:
    """What the form shows."""

    people: str
    questions: tuple[AskedQuestion, ...]
    percent: str = "5"
    by: str = DEFAULT_JUDGE
    normalize: bool = False
    joint: Sequence[Any] = field(default=())

    @classmethod
    def of(cls, survey: Survey) -> SurveyForm:
        """The form of a survey; joint tables are kept, and not shown."""
        data: dict[str, Any] = survey.to_dict()
        questions = tuple(AskedQuestion.of(name, entry) for name, entry in data["questions"].items())
        return cls(str(data.get("people", "")), questions, joint=data.get("joint", ()))

    @classmethod
    def sent(cls, visitor: Visitor) -> SurveyForm:
        """The form that a browser sent."""
        count = _number(visitor.text("questions") or "0", "questions", most=MOST_QUESTIONS + 1)
        questions = (_question(visitor, number) for number in range(count))
        return cls(
            visitor.text("people"),
            tuple(one for one in questions if one.name or any(answer.name for answer in one.answers)),
            visitor.text("percent") or "5",
            visitor.text("by") or DEFAULT_JUDGE,
            bool(visitor.text("normalize")),
            _joint(visitor.text("joint")),
        )

    @property
    def number(self) -> int:
        """The number of people."""
        return _number(self.people, "people", most=10**12)

    @property
    def wanted(self) -> float:
        """The percentage that is wanted."""
        try:
            return float(self.percent.replace(",", ".").removesuffix("%"))
        except ValueError:
            raise InputError("percent: is a number from 0 to 100", code="survey-form") from None

    @property
    def merges(self) -> dict[str, list[list[str]]]:
        """The merges to try."""
        return {question.name: question.groups for question in self.questions if question.groups}

    @property
    def kept_joint(self) -> str:
        """The joint tables for a hidden field."""
        return plain_json(list(self.joint)) if self.joint else ""

    def to_dict(self) -> dict[str, Any]:
        """The questionnaire as a survey file writes it."""
        names = [question.name for question in self.questions]
        if not all(names) or len(set(names)) < len(names):
            raise InputError("every question has a name of its own", code="survey-form")
        joint = {"joint": list(self.joint)} if self.joint else {}
        questions = {question.name: question.to_dict() for question in self.questions}
        return {"people": self.number, "questions": questions, **joint}

    def with_merges(self, merges: Mapping[str, Sequence[Sequence[str]]], people: str) -> SurveyForm:
        """The form with other merges to try and another number of people."""
        questions = tuple(_grouped(one, merges.get(one.name, ())) for one in self.questions)
        return replace(self, questions=questions, people=people or self.people)

    def with_question(self) -> SurveyForm:
        """The form with one more question."""
        return replace(self, questions=(*self.questions, AskedQuestion("", ())))


def from_text(text: str) -> SurveyForm:
    """The form of a survey file, YAML or JSON."""
    return SurveyForm.of(Survey.from_dict(strict_yaml.load(text, source="the file", code="survey-yaml")))


def applied(text: str) -> tuple[dict[str, list[list[str]]], str]:
    """Read the merges and the number of people that a button carries."""
    try:
        found = json.loads(text)
        merges = {
            str(name): [[str(answer) for answer in group] for group in groups] for name, groups in found[0].items()
        }
        return merges, str(int(found[1])) if found[1] else ""
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        raise InputError("the proposal cannot be read; plan again", code="survey-form") from None


def proposal_button(proposal: Mapping[str, Any]) -> str:
    """What the button of a proposal carries."""
    merges = {merge["question"]: merge["groups"] for merge in proposal["merges"]}
    return plain_json([merges, proposal["people"]])


def _question(visitor: Visitor, number: int) -> AskedQuestion:
    count = _number(visitor.text(f"answers-{number}") or "0", "answers", most=MOST_ANSWERS + BLANKS)
    answers = (
        Answer(*(visitor.text(f"{part}-{number}-{answer}")[:LONGEST] for part in ("answer", "share", "group")))
        for answer in range(count)
    )
    kept = tuple(one for one in answers if one.name or one.share)
    ordered, merge = (bool(visitor.text(f"{flag}-{number}")) for flag in ("ordered", "merge"))
    gone = visitor.text("drop") == str(number)
    return AskedQuestion(
        "" if gone else visitor.text(f"question-{number}")[:LONGEST], () if gone else kept, ordered, merge
    )


def _grouped(question: AskedQuestion, groups: Sequence[Sequence[str]]) -> AskedQuestion:
    letters = {name: letter for letter, group in zip(GROUPS, _several(groups), strict=False) for name in group}
    return replace(question, answers=tuple(replace(one, group=letters.get(one.name, "")) for one in question.answers))


def _several(groups: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [group for group in groups if len(group) > 1]


def _share(text: str) -> str:
    """A share as a survey file writes it: `51 %` and `0,51` are 0.51."""
    plain = text.replace(",", ".").replace("\u00a0", " ").strip()
    if not plain.endswith("%"):
        return plain
    try:
        found = as_written(Fraction(plain.removesuffix("%").strip()) / 100)
    except (ValueError, ZeroDivisionError):
        raise InputError("a share is a number, a fraction or a percentage", code="survey-form") from None
    return str(found)


def _joint(text: str) -> Sequence[Any]:
    try:
        found = json.loads(text) if text else []
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise InputError("the joint tables cannot be read; open the page again", code="survey-form")
    return found


def _number(text: str, name: str, *, most: int) -> int:
    plain = text.replace(".", "").replace(",", "").replace("\u00a0", "")
    if not plain.isascii() or not plain.isdecimal() or len(plain) > 13 or int(plain) > most:
        raise InputError(f"{name}: is a whole number, and not too large", code="survey-form")
    return int(plain)
