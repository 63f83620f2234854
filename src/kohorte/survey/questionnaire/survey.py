"""A planned survey: its questions, the expected frequencies of answers, and the number of people."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest, refuse_unknown_keys
from kohorte.survey.questionnaire.frequencies import normalized
from kohorte.survey.questionnaire.normalizing import with_sums_of_one
from kohorte.survey.questionnaire.parts import JointTable, Question, mapping

KEYS = ("people", "normalize", "questions", "joint")
MOST_CELLS = 2**1000
MOST_JOINT_CELLS = 20_000


@dataclass(frozen=True)
class Block:
    """Questions that are answered independently of all others: one question, or those of a joint table.

    The probabilities of the combinations of answers sum to exactly 1; the last question varies fastest.
    """

    questions: tuple[str, ...]
    shape: tuple[int, ...]
    probabilities: tuple[Fraction, ...]

    @cached_property
    def denominator(self) -> int:
        """A denominator of all probabilities."""
        return math.lcm(*(probability.denominator for probability in self.probabilities))

    @cached_property
    def numerators(self) -> Counter[int]:
        """How often each numerator above 0 occurs, over that denominator."""
        return Counter(int(probability * self.denominator) for probability in self.probabilities if probability)


class Answers(Protocol):
    """The parts of a survey that the estimators need."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each question has."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The independent parts."""


@dataclass(frozen=True)
class Survey:
    """Questions whose answers others may know, by name, and the number of people asked (None: not yet known).

    Each part may also be given as a survey file writes it: `questions={"sex": {"categories": ["female", "male"]}}`.
    """

    questions: Mapping[str, Question]
    people: int | None = None
    joint: Sequence[JointTable] = ()
    scaled: Mapping[str, float] = field(default_factory=dict, kw_only=True, compare=False, repr=False)
    """The sums other than 1 by which frequencies were divided when the survey was read."""

    def __post_init__(self) -> None:
        self._set("questions", MappingProxyType(_questions(self.questions)))
        if self.people is not None:
            self._set("people", whole_people_asked(self.people))
        self._set("joint", _joint_tables(self.joint))
        for number, table in enumerate(self.joint, start=1):
            self._check_joint(table, where=f"joint: table {number}")
        named = [name for table in self.joint for name in table.questions]
        if twice := [name for name in named if named.count(name) > 1]:
            raise InputError(f"joint: question {twice[0]!r} is in two joint tables", code="survey-joint")
        if self.cells > MOST_CELLS:
            raise InputError("the survey has more than 2^1000 combinations of answers", code="survey-too-large")

    def _check_joint(self, table: JointTable, *, where: str) -> None:
        for name in table.questions:
            if name not in self.questions:
                raise InputError(
                    f"{where}: there is no question {name!r}{nearest(name, self.questions)}", code="survey-joint"
                )
        shape = tuple(len(self.questions[name].categories) for name in table.questions)
        if shape != table.shape:
            raise InputError(
                f"{where}: the table is {_times(table.shape)}, the categories of {', '.join(table.questions)} "
                f"need {_times(shape)}",
                code="survey-joint",
            )
        if math.prod(shape) > MOST_JOINT_CELLS:
            raise InputError(f"{where}: more than {MOST_JOINT_CELLS:,} cells", code="survey-too-large")
        for name in table.questions:
            given = self.questions[name].frequencies
            if given is not None and not table.has_margin(name, given):
                raise InputError(
                    f"{where}: the frequencies of question {name!r} are not those of the table; leave them out",
                    code="survey-joint",
                )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {"questions": dict(self.questions), "people": self.people, "joint": self.joint, "scaled": self.scaled}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            self._set(name, MappingProxyType(value) if name == "questions" else value)

    def __hash__(self) -> int:
        return hash((frozenset(self.questions.items()), self.people, self.joint))

    def __repr__(self) -> str:
        return f"Survey.from_dict({self.to_dict()!r})"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each question has."""
        return tuple(len(question.categories) for question in self.questions.values())

    @property
    def cells(self) -> int:
        """The number of combinations of answers (ZZ)."""
        return math.prod(self.shape)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The independent parts of the survey, in the order of their first questions."""
        tables = {name: table for table in self.joint for name in table.questions}
        found = []
        for name, question in self.questions.items():
            table = tables.get(name)
            if table is None:
                found.append(Block((name,), (len(question.categories),), question.probabilities))
            elif name == table.questions[0]:
                found.append(Block(tuple(table.questions), tuple(table.shape), normalized(table.cells)))
        return tuple(found)

    def asked(self, people: int | None = None) -> int:
        """The number of people asked: the given number, or that of the survey."""
        chosen = self.people if people is None else people
        if chosen is None:
            raise InputError(
                "how many people are asked? write people: N in the survey, or give people (--people N)",
                code="survey-people",
            )
        return whole_people_asked(chosen)

    # As YAML, JSON and dictionaries

    def to_dict(self) -> dict[str, object]:
        """The survey as plain dictionaries, lists, numbers and text."""
        return {
            **({} if self.people is None else {"people": self.people}),
            "questions": {name: question.to_dict() for name, question in self.questions.items()},
            **({"joint": [table.to_dict() for table in self.joint]} if self.joint else {}),
        }

    def to_yaml(self) -> str:
        """The survey as the text of a survey file."""
        return strict_yaml.dump(self.to_dict())

    @classmethod
    def from_yaml(cls, path: str | Path, *, normalize: bool = False) -> Self:
        """Read a survey file; with `normalize` frequencies are divided by their sum."""
        path = Path(path)
        text = read_text(path, what="survey", code="survey-unreadable")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="survey-yaml"), normalize=normalize)

    @classmethod
    def from_dict(cls, data: object, *, normalize: bool = False) -> Self:
        """Read a survey from plain data, as loaded from YAML or JSON."""
        if not isinstance(data, Mapping):
            raise InputError("a survey is a mapping with the keys " + ", ".join(KEYS), code="survey-yaml")
        refuse_unknown_keys(data, KEYS, where="the survey", code="survey-unknown-key")
        wanted = data.get("normalize", False)
        if not isinstance(wanted, bool):
            raise InputError("normalize is true or false", code="survey-incomplete")
        found, sums = with_sums_of_one(data) if wanted or normalize else (data, {})
        return cls(found.get("questions", {}), found.get("people"), found.get("joint", ()), scaled=sums)


def whole_people_asked(people: object) -> int:
    """Return a whole number of at least one person."""
    try:
        count = operator.index(people)  # type: ignore[arg-type]  # everything else is refused
    except TypeError:
        count = 0
    if isinstance(people, bool) or count < 1:
        raise InputError(f"people is a whole number of at least 1, not {people!r}", code="survey-people")
    return count


def _questions(entries: object) -> dict[str, Question]:
    if not isinstance(entries, Mapping) or not entries:
        raise InputError(
            "the survey has no questions; write them as questions: {sex: {categories: [female, male]}}",
            code="survey-incomplete",
        )
    return {
        str(name): entry if isinstance(entry, Question) else Question.from_dict(entry, name=str(name))
        for name, entry in entries.items()
    }


def _joint_tables(entries: object) -> tuple[JointTable, ...]:
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise InputError(
            "joint is a list, as in [{questions: [school, age], table: [[0.1, 0.2], [0.3, 0.4]]}]", code="survey-joint"
        )
    return tuple(
        entry
        if isinstance(entry, JointTable)
        else JointTable.from_dict(
            mapping(entry, "{questions: [...], table: [[...]]}", ("questions", "table"), where=f"joint: table {number}")
        )
        for number, entry in enumerate(entries, start=1)
    )


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


def survey_of(survey: object) -> Survey:
    """Return the survey; refuse anything else."""
    if not isinstance(survey, Survey):
        raise InputError("give a Survey, for example Survey.from_yaml('survey.yaml')", code="survey-type")
    return survey
