"""The parts of a survey: questions, joint tables, and how each is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.survey.questionnaire.frequencies import TOLERANCE, as_fraction, as_written, check_sum, normalized


@dataclass(frozen=True)
class Question:
    """The answers to a question and their expected frequencies; without frequencies all are equally frequent.

    The categories are in their natural order, and neighbours can be merged; if they have no order, `ordered` is False,
    and any two can be merged. If `merge` is False, a plan must not change the question: its categories are not merged,
    and it is not left out.
    """

    categories: Sequence[str]
    frequencies: Sequence[Fraction] | None = None
    ordered: bool = True
    merge: bool = True

    def __post_init__(self) -> None:
        names = tuple(_category(name) for name in self.categories)
        object.__setattr__(self, "categories", names)
        if not names:
            raise InputError("it has no categories", code="survey-no-category")
        if len(set(names)) < len(names):
            twice, _ = Counter(names).most_common(1)[0]
            raise InputError(f"category {twice!r} occurs twice", code="survey-category-twice")
        for name in ("ordered", "merge"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is true or false", code="survey-incomplete")
        if self.frequencies is not None:
            object.__setattr__(self, "frequencies", self._checked(tuple(self.frequencies)))

    def _checked(self, given: Sequence[object]) -> tuple[Fraction, ...]:
        if len(given) != len(self.categories):
            raise InputError(
                f"{len(self.categories)} categories have {len(given)} frequencies", code="survey-frequency"
            )
        frequencies = tuple(
            as_fraction(number, where=f"the frequency of {name!r}")
            for name, number in zip(self.categories, given, strict=True)
        )
        check_sum(frequencies, where="the frequencies")
        return frequencies

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The frequencies, with a sum of exactly 1; all equal if none are given."""
        if self.frequencies is None:
            return (Fraction(1, len(self.categories)),) * len(self.categories)
        return normalized(self.frequencies)

    @property
    def forbids_merging(self) -> bool:
        """Whether the question has categories that could be merged, and must not be."""
        return not self.merge and len(self.categories) > 1

    def to_dict(self) -> dict[str, object]:
        """The question as a survey file writes it."""
        categories: object = list(self.categories)
        if self.frequencies is not None:
            categories = dict(zip(self.categories, map(as_written, self.frequencies), strict=True))
        flags = {name: False for name in ("ordered", "merge") if not getattr(self, name)}
        return {"categories": categories, **flags}

    @classmethod
    def from_dict(cls, entry: object, *, name: str) -> Self:
        """Read `{categories: {female: 0.5, male: 0.5}}` or `{categories: [a, b], ordered: false, merge: false}`."""
        where = f"question {name!r}"
        options = mapping(entry, "{categories: [...]}", ("categories", "ordered", "merge"), where=where)
        categories = options.get("categories")
        if not isinstance(categories, Mapping | list | tuple) or not categories:
            raise InputError(f"{where} has no categories; name at least one", code="survey-no-category")
        frequencies = tuple(categories.values()) if isinstance(categories, Mapping) else None
        try:
            return cls(tuple(categories), frequencies, options.get("ordered", True), options.get("merge", True))
        except InputError as error:
            raise InputError(f"{where}: {error.message}", code=error.code) from None


@dataclass(frozen=True)
class JointTable:
    """The joint frequencies of the answers to several questions; they replace the frequencies of the questions.

    `cells` is the table row by row, the last question varying fastest.
    """

    questions: Sequence[str]
    shape: Sequence[int]
    cells: Sequence[Fraction]

    def __post_init__(self) -> None:
        for name in ("questions", "shape"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        cells = tuple(as_fraction(cell, where=self._where(number)) for number, cell in enumerate(self.cells))
        object.__setattr__(self, "cells", cells)
        if len(self.questions) < 2 or len(set(self.questions)) != len(self.questions):
            raise InputError("joint: a table is about two or more different questions", code="survey-joint")
        if len(self.shape) != len(self.questions) or math.prod(self.shape) != len(cells):
            raise InputError("joint: the lists of a table do not all have the same lengths", code="survey-joint")
        check_sum(cells, where=f"joint: the cells of {' and '.join(self.questions)}")

    def _where(self, number: int) -> str:
        """The position of a cell for messages: its table, and its index in each list, from 1."""
        position: list[str] = []
        for length in reversed(self.shape):
            number, index = divmod(number, length or 1)
            position.insert(0, str(index + 1))
        return f"joint: the cell at ({', '.join(position)}) of the table about {' and '.join(map(str, self.questions))}"

    def has_margin(self, name: str, frequencies: Sequence[Fraction]) -> bool:
        """Whether a question has these frequencies in the table."""
        inner = math.prod(self.shape[self.questions.index(name) + 1 :])
        margin = [Fraction()] * len(frequencies)
        for position, cell in enumerate(self.cells):
            margin[position // inner % len(margin)] += cell
        return all(abs(found - given) <= TOLERANCE for found, given in zip(margin, frequencies, strict=True))

    def to_dict(self) -> dict[str, object]:
        """The table as a survey file writes it."""
        rows: list[Any] = [as_written(cell) for cell in self.cells]
        for length in reversed(self.shape[1:]):
            rows = [rows[start : start + length] for start in range(0, len(rows), length)]
        return {"questions": list(self.questions), "table": rows}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """Read `{questions: [school, age], table: [[0.1, 0.2], [0.3, 0.4]]}`."""
        questions = entry.get("questions")
        if not isinstance(questions, list | tuple):
            raise InputError("joint: a table names its questions, as in questions: [school, age]", code="survey-joint")
        shape, cells = [], [entry.get("table")]
        for _ in questions:
            lengths = {len(row) if isinstance(row, list | tuple) else -1 for row in cells}
            if len(lengths) != 1 or lengths <= {-1, 0}:
                raise InputError(
                    f"joint: a table about {len(questions)} questions must consist of nested lists of the same length",
                    code="survey-joint",
                )
            shape.append(lengths.pop())
            cells = [cell for row in cells for cell in row]  # type: ignore[union-attr]
        return cls(tuple(str(name) for name in questions), tuple(shape), cells)  # type: ignore[arg-type]


def _category(name: object) -> str:
    if isinstance(name, bool):
        return str(name).lower()
    if isinstance(name, str | int | float):
        return str(name)
    raise InputError("a category is a name", code="survey-no-category")


def mapping(entry: object, example: str, known: Sequence[str], *, where: str) -> dict[str, Any]:
    """Return an entry that must be a mapping with known keys."""
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is written as {example}", code="survey-incomplete")
    refuse_unknown_keys(entry, known, where=where, code="survey-unknown-key")
    return dict(entry)
