"""The outcome of one algorithm."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """How a run ended."""

    RELEASED = "released"
    REFUSED = "refused"  # the algorithm cannot solve this plan
    NO_SOLUTION = "no-solution"
    NOT_PRIVATE = "not-private"  # its result does not satisfy the models
    UNVERIFIED = "unverified"  # the verification contradicts the algorithm: a bug


@dataclass(frozen=True)
class Effort:
    """The time of an algorithm, what it counted, and what it states about its release."""

    seconds: float
    checked: int
    optimal: bool = False
    heuristic: bool = False
    lower_bound: float = -math.inf


@dataclass(frozen=True)
class QueryError:
    """The relative error of count queries on the release, which count rows: median and 90th percentile."""

    median: float
    ninetieth: float


@dataclass(frozen=True)
class Accuracy:
    """The share of held-out original rows that are predicted correctly; `guessed` says why nothing could be learnt."""

    value: float
    guessed: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of one algorithm; without a release, `reason` says why and the figures are None.

    Classes count people where the plan does, otherwise rows; suppressed and failing rows are rows.

    A result that does not satisfy the models has figures about its classes and how many of them fail, but no costs: it
    cannot be compared with a release.
    """

    algorithm: str
    recodes: bool
    what_it_is: str
    status: Status
    reason: str | None = None
    effort: Effort | None = None
    classes: int | None = None
    smallest_class: int | None = None
    average_class: float | None = None
    suppressed: int | None = None
    people_losing_rows: int | None = None
    people_losing_all_rows: int | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    verified: bool = False
    cost: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    query_error: QueryError | None = None
    accuracy: Accuracy | None = None

    @property
    def released(self) -> bool:
        """Whether there is a release."""
        return self.status is Status.RELEASED

    @property
    def seconds(self) -> float | None:
        """The time that the algorithm took."""
        return None if self.effort is None else self.effort.seconds

    @property
    def verdict(self) -> str:
        """The quality of the release, or how the run ended, in a word or two."""
        if not self.released or self.effort is None:
            return str(self.status).replace("-", " ")
        if self.effort.optimal:
            return "optimal"
        return "heuristic" if self.effort.heuristic else "time was over"

    @property
    def release_key(self) -> tuple[object, ...]:
        """A key that is equal for algorithms whose releases agree in all figures."""
        people = (self.people_losing_rows, self.people_losing_all_rows)
        figures = (self.classes, self.smallest_class, self.suppressed, *people, self.query_error, self.accuracy)
        return (*figures, *(float(f"{cost:.9g}") for cost in self.costs.values()))

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        effort, error, accuracy = self.effort, self.query_error, self.accuracy
        bound = None if effort is None or effort.lower_bound == -math.inf else effort.lower_bound
        return {
            "algorithm": self.algorithm,
            "recodes": self.recodes,
            "status": str(self.status),
            "reason": self.reason,
            "seconds": self.seconds,
            "checked": effort and effort.checked,
            "optimal": effort is not None and effort.optimal,
            "heuristic": effort is not None and effort.heuristic,
            "lower_bound": bound,
            "levels": dict(self.levels),
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class": self.average_class,
            "suppressed": self.suppressed,
            "people_losing_rows": self.people_losing_rows,
            "people_losing_all_rows": self.people_losing_all_rows,
            "failing_classes": self.failing_classes,
            "failing_rows": self.failing_rows,
            "verified": self.verified,
            "cost": self.cost,
            "costs": dict(self.costs),
            "query_error": error and {"median": error.median, "ninetieth": error.ninetieth},
            "accuracy": accuracy and accuracy.value,
            "accuracy_note": accuracy and accuracy.guessed,
        }


def what_it_is(algorithm: type) -> str:
    """The first sentence of an algorithm's docstring."""
    first = inspect.cleandoc(algorithm.__doc__ or "").split("\n\n", maxsplit=1)[0]
    return " ".join(first.split())
