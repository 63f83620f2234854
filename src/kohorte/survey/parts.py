"""The parts of a survey: questions, joint tables, and how each is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from kohorte.errors import InputError, nearest
from kohorte.survey.frequencies import TOLERANCE, as_fraction, as_written, check_sum, normalized


@dataclass(frozen=True)
class Question:
    """The answers to a question and how often each is expected; without frequencies all are equally frequent.

    The categories are in their natural order, in which neighbours can be merged; if there is none, `ordered` is False,
    and any two can.
    """

    categories: Sequence[str]
    frequencies: Sequence[Fraction] | None = None
    ordered: bool = True

    def __post_init__(self) -> None:
        names = tuple(_category(name) for name in self.categories)
        object.__setattr__(self, "categories", names)
        if not names:
            raise InputError("it has no categories", code="survey-no-category")
        if len(set(names)) < len(names):
            twice, _ = Counter(names).most_common(1)[0]
            raise InputError(f"category {twice!r} stands there twice", code="survey-category-twice")
        if not isinstance(self.ordered, bool):
            raise InputError("ordered is true or false", code="survey-incomplete")
        if self.frequencies is not None:
            object.__setattr__(self, "frequencies", self._checked(tuple(self.frequencies)))

    def _checked(self, given: Sequence[object]) -> tuple[Fraction, ...]:
        if len(given) != len(self.categories):
            raise InputError(
                f"{len(self.categories)} categories have {len(given)} frequencies", code="survey-frequency"
            )
        frequencies = tuple(
            as_fraction(number, place=f"the frequency of {name!r}")
            for name, number in zip(self.categories, given, strict=True)
        )
        check_sum(frequencies, place="the frequencies")
        return frequencies

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The frequencies, with a sum of exactly 1; all equal where none are known."""
        if self.frequencies is None:
            return (Fraction(1, len(self.categories)),) * len(self.categories)
        return normalized(self.frequencies)

    def to_dict(self) -> dict[str, object]:
        """The question as a survey file writes it."""
        categories: object = list(self.categories)
        if self.frequencies is not None:
            categories = dict(zip(self.categories, map(as_written, self.frequencies), strict=True))
        return {"categories": categories, **({} if self.ordered else {"ordered": False})}

    @classmethod
    def from_dict(cls, entry: object, *, name: str) -> Self:
        """Read `{categories: {female: 0.5, male: 0.5}}` or `{categories: [female, male], ordered: false}`."""
        place = f"question {name!r}"
        options = mapping(entry, "{categories: [...]}", ("categories", "ordered"), place=place)
        categories = options.get("categories")
        if not isinstance(categories, Mapping | list | tuple) or not categories:
            raise InputError(f"{place} has no categories; name at least one", code="survey-no-category")
        frequencies = tuple(categories.values()) if isinstance(categories, Mapping) else None
        try:
            return cls(tuple(categories), frequencies, options.get("ordered", True))
        except InputError as error:
            raise InputError(f"{place}: {error.message}", code=error.code) from None


@dataclass(frozen=True)
class JointTable:
    """How often the answers to several questions are given together: a table that replaces their own frequencies.

    `cells` is the table row by row, the last question varying fastest.
    """

    questions: Sequence[str]
    shape: Sequence[int]
    cells: Sequence[Fraction]

    def __post_init__(self) -> None:
        for name in ("questions", "shape"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        cells = tuple(as_fraction(cell, place=self._place(number)) for number, cell in enumerate(self.cells))
        object.__setattr__(self, "cells", cells)
        if len(self.questions) < 2 or len(set(self.questions)) != len(self.questions):
            raise InputError("joint: a table is about two or more different questions", code="survey-joint")
        if len(self.shape) != len(self.questions) or math.prod(self.shape) != len(cells):
            raise InputError("joint: the lists of a table do not all have the same lengths", code="survey-joint")
        check_sum(cells, place=f"joint: the cells of {' and '.join(self.questions)}")

    def _place(self, number: int) -> str:
        """Where a cell stands: its table, and its position in each list, from 1."""
        position: list[str] = []
        for length in reversed(self.shape):
            number, place = divmod(number, length or 1)
            position.insert(0, str(place + 1))
        return f"joint: the cell at ({', '.join(position)}) of the table about {' and '.join(map(str, self.questions))}"

    def has_margin(self, name: str, frequencies: Sequence[Fraction]) -> bool:
        """Whether these are the frequencies of a question in the table."""
        inner = math.prod(self.shape[self.questions.index(name) + 1 :])
        margin = [Fraction()] * len(frequencies)
        for place, cell in enumerate(self.cells):
            margin[place // inner % len(margin)] += cell
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
                    f"joint: a table about {len(questions)} questions is a list within lists, all of the same length",
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


def mapping(entry: object, example: str, known: Sequence[str], *, place: str) -> dict[str, Any]:
    """Return an entry that has to be a mapping with known keys."""
    if not isinstance(entry, Mapping):
        raise InputError(f"{place} is written as {example}", code="survey-incomplete")
    refuse_unknown(entry, known, place)
    return dict(entry)


def refuse_unknown(entry: Mapping[Any, object], known: Sequence[str], place: str) -> None:
    """Refuse keys that are not known, and name the nearest that is."""
    for key in entry:
        if key not in known:
            raise InputError(
                f"{place} has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}",
                code="survey-unknown-key",
            )
