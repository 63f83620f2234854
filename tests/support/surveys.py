"""Made-up surveys for tests, and their cells listed one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from unittest.mock import patch

from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey.estimators.integer_program import singles_if_right, solve


def of(*questions: int | Sequence[object], people: int | None = None, ordered: bool = True) -> ko.Survey:
    """A survey from numbers of categories (equal frequencies) or frequencies."""
    entries = {}
    for number, question in enumerate(questions):
        if isinstance(question, int):
            categories: object = [f"c{place}" for place in range(question)]
        else:
            categories = {f"c{place}": frequency for place, frequency in enumerate(question)}
        entries[f"q{number}"] = {"categories": categories, "ordered": ordered}
    return ko.Survey(questions=entries, people=people)


def cells(survey: ko.Survey) -> list[Fraction]:
    """The probability of every cell."""
    return [math.prod(cell) for cell in itertools.product(*(block.probabilities for block in survey.blocks))]


@st.composite
def frequencies(draw: st.DrawFn, most: int = 5, smallest: int = 0) -> list[Fraction]:
    weights = draw(st.lists(st.integers(smallest, 30), min_size=1, max_size=most).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def questions(most: int = 5) -> st.SearchStrategy[int | list[Fraction]]:
    return st.integers(1, most) | frequencies(most)


@st.composite
def surveys(draw: st.DrawFn, most_questions: int = 4, most_categories: int = 5) -> ko.Survey:
    return of(*draw(st.lists(questions(most_categories), min_size=1, max_size=most_questions)))


def partitions(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to merge neighbours, by their borders."""
    for borders in itertools.product((True, False), repeat=count - 1):
        groups: list[list[int]] = [[0]]
        for place, border in enumerate(borders, start=1):
            if border:
                groups.append([place])
            else:
                groups[-1].append(place)
        yield tuple(map(tuple, groups))


def skewed(count: int) -> ko.Survey:
    """A large survey: so many questions of four categories, each with other frequencies."""
    return of(
        *(
            [
                Fraction(7000 + 13 * number, 10_000),
                Fraction(2000 - 7 * number, 10_000),
                Fraction(800 - 5 * number, 10_000),
                Fraction(200 - number, 10_000),
            ]
            for number in range(count)
        )
    )


@contextmanager
def solved_in_this_process() -> Iterator[None]:
    """Search the worst and the best case with the same solver, without starting a process each time."""

    def search(margins: tuple[tuple[int, ...], ...], *, most: int) -> tuple[int, int]:
        bound, table = solve(margins, between=(0, most))
        return bound, singles_if_right(margins, None if table is None else table.tolist()) or 0

    def search_fewest(margins: tuple[tuple[int, ...], ...], *, least: int) -> tuple[int, int | None]:
        bound, table = solve(margins, between=(least, sum(margins[0])), fewest=True)
        return bound, singles_if_right(margins, None if table is None else table.tolist())

    with (
        patch("kohorte.survey.estimators.worst_case.search", search),
        patch("kohorte.survey.estimators.best_case.search_fewest", search_fewest),
    ):
        yield
