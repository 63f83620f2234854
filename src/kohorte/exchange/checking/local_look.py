"""Step 6: what stands out in the table of the house, counted in people: base set, values, weights, combinations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.exchange.checking.shown_labels import numbered_classes, people_per_value, people_with
from kohorte.kernels.arrays import Bools, Integers


@dataclass(frozen=True)
class AttributeLook:
    """One attribute among the people of the base set.

    `outstanding_people` have a value that fewer than k people have. `largest_share` is that of the people with the most
    frequent value: an unequal weight if it is near 1.
    """

    values: int
    outstanding_people: int
    largest_share: float

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class LocalLook:
    """The people who satisfy the condition, and what stands out among them."""

    rows: int
    people: int
    attributes: Mapping[str, AttributeLook]
    unique_people: int

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        looks = {name: look.to_dict() for name, look in self.attributes.items()}
        return {"rows": self.rows, "people": self.people, "attributes": looks, "unique_people": self.unique_people}


def local_look(frame: pl.DataFrame, names: tuple[str, ...], people: Integers, k: int) -> LocalLook:
    """Look at the rows that satisfy the condition; `people` has a number for the person of each row."""
    everybody = people_with(np.ones(len(people), dtype=bool), people)
    texts = [as_text(frame[name]) for name in names]
    looks = {text.name: _attribute(text, people, everybody, k) for text in texts}
    return LocalLook(frame.height, everybody, looks, _unique(pl.DataFrame(texts), people) if texts else 0)


def _attribute(text: pl.Series, people: Integers, everybody: int, k: int) -> AttributeLook:
    present = text.is_not_null().to_numpy()
    if not present.any():
        return AttributeLook(0, 0, 0.0)
    codes = numbered_classes(text.drop_nulls().to_frame())
    of_value = people_per_value(codes, people[present])
    outstanding = people_with(of_value[codes] < k, people[present])
    return AttributeLook(len(of_value), outstanding, int(of_value.max()) / everybody)


def outstanding_rows(text: pl.Series, people: Integers, k: int) -> Bools:
    """Flag the rows with a value that fewer than k people have; a missing cell is no value."""
    present = text.is_not_null().to_numpy()
    flags = np.zeros(len(text), dtype=bool)
    if present.any():
        codes = numbered_classes(text.drop_nulls().to_frame())
        flags[present] = people_per_value(codes, people[present])[codes] < k
    return flags


def _unique(texts: pl.DataFrame, people: Integers) -> int:
    """How many people have a combination of values that nobody else has."""
    codes = numbered_classes(texts)
    return people_with(people_per_value(codes, people)[codes] == 1, people) if len(codes) else 0


@dataclass(frozen=True)
class PeopleRisk:
    """How likely people are to be found by an attacker who knows one of their rows: 1 / people who look alike."""

    highest: float
    average: float
    people_at_highest: int

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return dict(vars(self))


def people_risk(classes: Integers, people: Integers) -> PeopleRisk:
    """The risk of each person is that of their row in the smallest class; the highest and the mean of all people."""
    if not len(people):
        return PeopleRisk(0.0, 0.0, 0)
    sizes = people_per_value(classes, people)[classes]
    smallest = np.full(int(people.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, people, sizes)
    of_person = smallest[smallest < np.iinfo(np.int64).max]
    fewest = int(of_person.min())
    return PeopleRisk(1 / fewest, float((1 / of_person).mean()), int((of_person == fewest).sum()))
