"""The algorithm of a plan and its options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from kohorte.algorithm_names import SEARCH_NAMES
from kohorte.errors import InputError, member_named
from kohorte.recoding import ALGORITHMS
from kohorte.recoding.least_loss import CELLS
from kohorte.recoding.mu_argus import IDENTIFICATION
from kohorte.search import Options

BY_ATTRIBUTE = ("weights", "identification", "levels")


@dataclass(frozen=True)
class SearchOptions:
    """The algorithm, its time limit (in seconds) and the number of threads (None: chosen by the size of the table).

    The number of threads never changes the answer. The other options belong to single algorithms: `weights` from 0
    (never generalized) to 1 to datafly, `identification` (most, more or identifying) to mu_argus, `steps` and `seed`
    to hill_climbing, `seed`, `cells` (sets, intervals or hierarchy) and `strict` to least_loss. With `levels`, one for
    each quasi-identifier, nothing is searched: the release has these levels, or there is none.
    """

    algorithm: str = "optimal"
    time_limit: float | None = None
    threads: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    identification: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    seed: int = 0
    levels: Mapping[str, int] = field(default_factory=dict)
    cells: str | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        name = str(self.algorithm)
        algorithm = member_named(name, ALGORITHMS, what="algorithm", code="algorithm-unknown")
        limit = self.time_limit
        if limit is not None and not (is_number(limit) and limit > 0):
            raise InputError(f"time_limit must be a number of seconds above 0, not {limit!r}", code="plan-time-limit")
        object.__setattr__(self, "time_limit", None if limit is None else float(limit))
        if self.threads is not None and (type(self.threads) is not int or self.threads not in range(1, 257)):
            raise InputError(f"threads must be a whole number from 1 to 256, not {self.threads!r}", code="plan-threads")
        self._check_own(name, (*getattr(algorithm, "options", ()), *(LEVELS if name in SEARCH_NAMES else ())))
        for option in BY_ATTRIBUTE:
            object.__setattr__(self, option, MappingProxyType(dict(getattr(self, option))))

    def _check_own(self, name: str, known: tuple[str, ...]) -> None:
        """Refuse options that the algorithm does not have, and invalid values."""
        for option, (fits, wanted) in OWN.items():
            given = getattr(self, option)
            if _is_default(option, given):
                continue
            if option not in known:
                raise InputError(f"algorithm {name} has no option {option}", code="plan-search-option")
            by_attribute = option in BY_ATTRIBUTE
            if isinstance(given, Mapping) is not by_attribute or (not by_attribute and not fits(given)):
                raise InputError(f"{option} is {wanted}", code="plan-search-option")
            for attribute, value in given.items() if by_attribute else ():
                if not fits(value):
                    raise InputError(f"{option}: {attribute}: is {wanted}", code="plan-search-option")

    def for_algorithm(self, name: str) -> SearchOptions:
        """The same for another algorithm, without the options that it does not have."""
        known = getattr(member_named(name, ALGORITHMS, what="algorithm", code="algorithm-unknown"), "options", ())
        own = {option: getattr(self, option) for option in OWN if option in known}  # levels are of no algorithm
        return SearchOptions(algorithm=name, time_limit=self.time_limit, threads=self.threads, **own)

    def __hash__(self) -> int:
        return hash((self.algorithm, self.time_limit, self.threads, self.steps, self.seed, self.cells, self.strict))

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _made, (self.to_dict(),)

    @property
    def options(self) -> Options:
        """The options that are passed to the algorithm."""
        return Options(
            self.weights,
            self.identification,
            self.steps,
            self.seed,
            cells=self.cells,
            strict=self.strict,
            threads=self.threads,
        )

    @staticmethod
    def keys() -> tuple[str, ...]:
        """The keys as a plan writes them."""
        return tuple(option.name for option in fields(SearchOptions))

    def to_dict(self) -> dict[str, object]:
        """The options as a plan writes them."""
        entry: dict[str, object] = {"algorithm": self.algorithm}
        for option in self.keys()[1:]:
            value = getattr(self, option)
            if value is not None and not (option in OWN and _is_default(option, value)):
                entry[option] = dict(value) if isinstance(value, Mapping) else value
        return entry


def _is_default(option: str, value: object) -> bool:
    """Whether an option has its default value, which a plan does not write."""
    if option in BY_ATTRIBUTE:
        return isinstance(value, Mapping) and not value
    if option == "strict":
        return value is False
    return value is None if option in ("steps", "cells") else type(value) is int and value == 0


def _made(entry: dict[str, object]) -> SearchOptions:
    return SearchOptions(**entry)  # type: ignore[arg-type]


def is_number(value: object) -> bool:
    """Tell whether something is a finite number; True and False are not."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


OWN: dict[str, tuple[Callable[[object], bool], str]] = {
    "weights": (
        lambda value: is_number(value) and 0 <= float(str(value)) <= 1,
        "a number from 0 (never generalized) to 1 for each attribute, as in {zip: 1, age: 0.5}",
    ),
    "identification": (
        lambda value: value in IDENTIFICATION,
        f"one of {', '.join(IDENTIFICATION)} for each attribute, as in {{zip: most, age: more}}",
    ),
    "steps": (lambda value: type(value) is int and value >= 1, "a whole number of at least 1"),
    "seed": (lambda value: type(value) is int and value >= 0, "a whole number of at least 0"),
    "cells": (lambda value: value in CELLS, f"one of {', '.join(CELLS)}"),
    "strict": (lambda value: type(value) is bool, "true or false"),
    "levels": (
        lambda value: type(value) is int and value >= 0,
        "a whole number of at least 0 for each quasi-identifying attribute, as in {zip: 2, age: 1}",
    ),
}
"""The options of single algorithms, and levels: which values are valid, and how they are described."""

LEVELS = ("levels",)
"""What every search of the lattice accepts, and no recoding."""
