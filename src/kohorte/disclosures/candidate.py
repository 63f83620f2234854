"""A release that somebody wants to give away: whom it is about, in which classes, to whom and what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Integers

LEFT_OUT = -1
"""The class of a row that the recipient does not get, and the signature of a person of whom they get no row."""
PUBLIC = "public"
"""The recipient of what is published: everybody knows it, also those who got nothing else."""
LONGEST_NAME = 200
LONGEST_TEXT = 2_000


class ReleaseKind(StrEnum):
    """How data left the house."""

    FILE = "file"
    SERIES = "series"
    QUERY = "query"
    EXCHANGE = "exchange"
    JOINT = "joint"


@dataclass(frozen=True, eq=False)
class Alike:
    """How the people of the table look in a release that tells something of them, row by row, and what that is.

    Releases with the same `about` are compared. `looks` is a number for each row of the table, the same for rows of
    people who look alike (-1: nothing is told of them), and `own` that of each row of the candidate. `facts` are
    numbers of what is true of each row of the table (-1: nothing) and nobody should learn: of no group may more than
    the share `most` have one of them in common, unless more than the share `ordinary` of all people have it.
    """

    about: str
    people: Integers
    looks: Integers
    own: Integers
    facts: tuple[Integers, ...]
    most: float
    ordinary: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release before it is given away; row i is about person `people[i]` and is shown in class `classes[i]`.

    `people` are indices that `Ledger.fingerprints` returned. A class is a number, or -1 for a row that the recipient
    does not get. Suppressed rows that the recipient sees as stars are shown: they are a class of their own. `table`
    are the people of the whole table, also those who do not satisfy the condition (None: everybody whom the ledger
    knows). `sensitive` has, for each sensitive column, a code per row (-1: missing). An answer with noise has
    `epsilon`; it is listed with its cost and tells no set of people. `about` says which series, project or
    study the release belongs to. `alike` says how everybody looks, if that is compared, too.
    """

    people: Integers
    classes: Integers
    recipient: str
    kind: ReleaseKind = ReleaseKind.FILE
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    condition: str = field(default="", repr=False)
    purpose: str = field(default="", repr=False)
    table: Integers | None = None
    sensitive: Mapping[str, Integers] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    epsilon: float | None = None
    delta: float = 0.0
    about: str = ""
    alike: tuple[Alike, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        arrays = {"people": self.people, "classes": self.classes}
        arrays |= {f"sensitive[{name!r}]": codes for name, codes in self.sensitive.items()}
        for name, array in arrays.items():
            if array.shape != self.people.shape or array.ndim != 1 or array.dtype.kind not in "iu":
                raise InputError(f"{name}: is one whole number per row", code="disclosure-candidate", field=name)
        if len(self.people) and (self.people.min() < 0 or self.classes.min() < LEFT_OUT):
            raise InputError("people are indices from 0, and classes numbers from 0 or -1", code="disclosure-candidate")
        if self.epsilon is not None and not 0 < self.epsilon < np.inf:
            raise InputError("epsilon: is a number above 0", code="disclosure-candidate", field="epsilon")
        if not self.recipient.strip() or len(self.recipient) > LONGEST_NAME:
            raise InputError(
                f"recipient: is a name of at most {LONGEST_NAME} characters",
                code="disclosure-recipient",
                field="recipient",
            )
        if not 0 <= self.delta < 1:
            raise InputError("delta: is a number from 0 to below 1", code="disclosure-candidate", field="delta")
        for name in ("condition", "purpose", "about"):
            if len(getattr(self, name)) > LONGEST_TEXT:
                raise InputError(
                    f"{name}: has at most {LONGEST_TEXT} characters", code="disclosure-candidate", field=name
                )

    @property
    def shown(self) -> Bools:
        """Which rows the recipient gets."""
        return self.classes > LEFT_OUT

    @property
    def tells_sets(self) -> bool:
        """Whether the release tells exact sets of people, unlike an answer with noise."""
        return self.epsilon is None

    def without(self, people: Bools) -> Candidate:
        """Return the candidate without all rows of some people: one flag for each index."""
        gone = people[self.people]
        return replace(self, classes=np.where(gone, LEFT_OUT, self.classes))

    def of_table(self, people: Integers) -> Candidate:
        """Return the candidate as one of a table of these people, also if it was made of some of them only."""
        return replace(self, table=people)

    def left_out_of(self, other: Candidate) -> Integers:
        """The people whom another candidate with the same rows shows and this one does not."""
        return np.setdiff1d(other.people[other.shown], self.people[self.shown])

    def facts(self) -> dict[str, Any]:
        """Return what the ledger notes in words, as plain data."""
        return {
            "kind": str(self.kind),
            "recipient": self.recipient,
            "purpose": self.purpose,
            "columns": dict(self.columns),
            "condition": self.condition,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "about": self.about,
        }
