"""An exchange of labels: pairs of labels that stand for each other in dummy rows, at every level of a hierarchy.

The exchange is its own inverse and keeps the hierarchy: a label is exchanged for one of the same level, and what is
below the one for what is below the other. Pairs are drawn with a key, alike at all parties. If one of two partners has
less below it than the other, the rest of the other one gets invented partners, which hide nothing about how often a
label occurs. So a label stays what it is if all others have less than half as many values; then those below it are
exchanged for each other. Of an odd number of labels, one stays. Labels that anybody recognizes without a key stay, too,
with all above them: missing values and `*`, which are not encrypted, and texts that the hierarchy has at several
places. If the shares of labels are sent, only labels with equal shares are exchanged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Floats
from kohorte.parties.own_table import LabelledColumn, labels_of

Kind = tuple[int, tuple[float, ...]]

NAME = 10
"""Bytes of the text of an invented label."""

MOST_UNEQUAL = 2
"""How many times as many values as its partner a label can have: at least half of them get a partner that exists."""


@dataclass(frozen=True, eq=False)
class Label:
    """A label, those below it, and how many values it has; if several levels in a row show it, it is one label.

    `kind` is what anybody sees of it, so that partners must have it in common: the lowest level that shows the label,
    and its shares.
    """

    text: str | None = field(repr=False)
    kind: Kind
    below: tuple[Label, ...] = field(repr=False)
    values: int

    def all(self) -> Iterator[Label]:
        """This label and all below it."""
        yield self
        for label in self.below:
            yield from label.all()


def exchanged_labels(column: LabelledColumn, key: bytes) -> dict[str, str]:
    """Pairs of labels to exchange, in both directions; labels that are not in it stay what they are.

    Only the values of the column matter, not its rows. Parties with the same values get the same pairs.
    """
    tops = _labels(labels_of(column), column.shares)
    places = Counter(label.text for top in tops for label in top.all())
    recognized = frozenset({None, SUPPRESSED, *(text for text, count in places.items() if count > 1)})
    drawing = _Drawing(key, recognized)
    drawing.among(tops)
    return drawing.pairs


def _labels(values: Sequence[Sequence[str | None]], shares: Floats | None) -> tuple[Label, ...]:
    """The labels of the highest level of these values, with those below them."""
    groups: dict[str | None, list[int]] = {}
    for index, labels in enumerate(values):
        groups.setdefault(labels[-1], []).append(index)
    found = []
    for text, members in groups.items():
        lowest = len(values[members[0]]) - 1
        while lowest and all(values[index][lowest - 1] == text for index in members):
            lowest -= 1
        own = () if shares is None else tuple(map(float, shares[members[0], lowest:]))
        lower = None if shares is None else shares[members, :lowest]
        below = _labels([values[index][:lowest] for index in members], lower) if lowest else ()
        found.append(Label(text, (lowest, own), below, len(members)))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Drawing:
    """Draws pairs with a key."""

    key: bytes = field(repr=False)
    recognized: frozenset[str | None] = field(repr=False)
    pairs: dict[str, str] = field(default_factory=dict, repr=False)

    def among(self, labels: Sequence[Label]) -> None:
        """Exchange labels below one that stays what it is."""
        movable = [label for label in labels if all(one.text not in self.recognized for one in label.all())]
        moved = set[Label]()
        for group in _by_kind(movable).values():
            for one, other in _of_similar_size(self._by_size(sorted(group, key=self._number)[len(group) % 2 :])):
                self._both(one, other)
                moved |= {one, other}
        for label in labels:
            if label not in moved:
                self.among(label.below)

    def _both(self, one: Label, other: Label) -> None:
        """Exchange two labels and what is below them."""
        self._pair(one, other.text)
        ones, others = _by_kind(one.below), _by_kind(other.below)
        for kind in ones | others:
            here, there = self._by_size(ones.get(kind, [])), self._by_size(others.get(kind, []))
            for first, second in zip(here, there, strict=False):
                self._both(first, second)
            for rest in (*here[len(there) :], *there[len(here) :]):
                for label in rest.all():
                    self._pair(label, f"\0{self._number(label)[:NAME].hex()}")

    def _pair(self, label: Label, partner: str | None) -> None:
        assert label.text is not None, "a missing value stays"
        assert partner is not None, "a missing value stays"
        self.pairs.update({label.text: partner, partner: label.text})

    def _by_size(self, labels: Sequence[Label]) -> list[Label]:
        """Those with most values first, so that few labels are invented; equal ones in an order drawn with the key."""
        return sorted(labels, key=lambda label: (-label.values, self._number(label)))

    def _number(self, label: Label) -> bytes:
        """A number that only those with the key know."""
        return hashlib.shake_256(self.key + str(label.text).encode()).digest(2 * NAME)


def _of_similar_size(labels: Sequence[Label]) -> Iterator[tuple[Label, Label]]:
    """Pairs of neighbours among labels that are sorted by size; none has more than twice the values of its partner."""
    waiting: Label | None = None
    for label in labels:
        if waiting is not None and waiting.values <= MOST_UNEQUAL * label.values:
            yield waiting, label
            waiting = None
        else:
            waiting = label


def _by_kind(labels: Sequence[Label]) -> dict[Kind, list[Label]]:
    found: dict[Kind, list[Label]] = {}
    for label in labels:
        found.setdefault(label.kind, []).append(label)
    return found
