"""Frequencies of the values of sensitive attributes in the classes of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.members import Members
from kohorte.data import one_spelling
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.risks.shown.table import numbered


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The cells (class, value) of a sensitive attribute that occur; `texts` are the values.

    `counts` are the members of each cell: a person counts once for each of their values in a class. `told` says for
    each cell whether its value is known, that is, neither missing nor suppressed. `distinct` counts the values of each
    class, `cell_of` is the cell of every entry of `members`.
    """

    name: str
    members: Members = field(repr=False)
    classes: Codes = field(repr=False)
    values: Codes = field(repr=False)
    counts: Counts = field(repr=False)
    told: Bools = field(repr=False)
    distinct: Counts = field(repr=False)
    cell_of: Counts = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)

    @cached_property
    def common(self) -> Bools:
        """Which classes have a known value that all their members have; of rows, it is the only value."""
        found = np.zeros(self.members.classes, dtype=bool)
        found[self.classes[self.told & (self.counts == self.members.sizes[self.classes])]] = True
        return found

    @cached_property
    def hidden(self) -> Bools:
        """Which classes have a value that is missing or suppressed."""
        found = np.zeros(self.members.classes, dtype=bool)
        found[self.classes[~self.told]] = True
        return found


def count_values(members: Members, name: str, codes: Codes, texts: tuple[str | None, ...]) -> ValueCounts:
    """Count the values, given as the code of every entry, within the classes."""
    keys = members.class_of.astype(np.int64) * max(1, len(texts)) + codes
    cells, cell_of = np.unique(keys, return_inverse=True)
    classes, values = np.divmod(cells, max(1, len(texts)))
    unknown = [number for number, text in enumerate(texts) if text is None or text == SUPPRESSED]
    return ValueCounts(
        name=name,
        members=members,
        classes=classes.astype(np.uint32),
        values=values.astype(np.uint32),
        counts=members.in_each(cell_of, len(cells)),
        told=~np.isin(values, unknown),
        distinct=np.bincount(classes, minlength=members.classes).astype(np.int64),
        cell_of=cell_of.astype(np.int64),
        texts=texts,
    )


def sensitive_values(attacked: AttackedTable) -> Iterator[ValueCounts]:
    """Count all sensitive attributes of a table; all spellings of a value are one."""
    for name in attacked.sensitive_names:
        yield count_values(attacked.members, name, *numbered(one_spelling(attacked.members.text(name))))
