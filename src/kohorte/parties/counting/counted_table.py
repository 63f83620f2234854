"""The table at the member that knows the classes but not their sizes: it adds up encrypted counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.engines import engine_for
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.metrics import Loss
from kohorte.parties.blind import tokens_of
from kohorte.parties.ciphers.counters import PublicCounters
from kohorte.parties.ciphers.secret import Keyring
from kohorte.parties.counting.telling import steps_of
from kohorte.parties.counting.veiled import ClassKeys, KeyShares, Layout, Veiled
from kohorte.parties.integration import random_order
from kohorte.parties.sealed import STAR, Cells, SealedTable, malformed, pack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.plans.plan import Plan
from kohorte.release.preparation import encode_problem
from kohorte.sources import EncodedColumn, EncodedTable, FrameSource

MANY = 200
"""Adding up fewer counters than this takes less time than looking for a shorter way."""

SMALLER = 2
"""How many times smaller than its source a stop on the way to a node is, at least."""


@dataclass(frozen=True, eq=False)
class Summed:
    """The cells of a node (a class with one combination of sensitive values) and their encrypted counters."""

    node: Node
    first: Counts = field(repr=False)  # a tuple of each cell
    counters: Cells = field(repr=False)


class CountedTable:
    """An encrypted table with dummy rows; it answers questions about nodes with encrypted counters.

    Each answer is in another random order, so that nobody recognizes a class by its position. Rows that are equal in
    all columns are counted together; these counters are refreshed, so that those who encrypted the counters of rows do
    not recognize them.
    """

    def __init__(self, table: SealedTable, plan: Plan, counters: PublicCounters, people: Cells | None = None) -> None:
        """`people` are counters of the people of each group of parties, if there are several."""
        self._table, self._plan, self._counters, self._people = table, plan, counters, people
        tokens, token_plan = tokens_of(table, plan)
        problem = encode_problem(FrameSource(tokens), token_plan)
        self._encoded: EncodedTable = problem.table
        name = plan.quasi_identifiers[0]
        numbers = pl.DataFrame({name: pl.int_range(len(problem.table.weights), eager=True)})
        of_row = problem.released(numbers, shuffled=False).in_memory("the tuples of the rows")[name]
        self._tuple_of_row: Counts = of_row.to_numpy()
        self._engine = engine_for(self._encoded)
        self._kinds, kind_of_row = _equal_rows([column.codes for column in table.columns.values()])
        together = self._sum(_given(table.counters, counters), kind_of_row, len(self._kinds))
        self._of_kind = counters.refresh(together)
        self._rows_of_kind: Counts = np.bincount(kind_of_row, minlength=len(self._kinds))
        self._of_tuple = self._sum(self._of_kind, self._tuple_of_row[self._kinds], len(self._encoded.weights))
        included = np.flatnonzero(self._encoded.included)
        self._known: list[Summed] = [
            Summed((0,) * len(self._encoded.columns), np.arange(len(included)), self._of_tuple[included])
        ]
        self._included = included
        self._rows_of_tuple: Counts = np.bincount(self._tuple_of_row, minlength=len(self._encoded.weights))[included]
        self._class_at: dict[Node, tuple[Codes, int]] = {}
        self._sizes: dict[Node, int] = {}

    def _sum(self, counters: Cells, group_of: Counts | Codes, groups: int) -> Cells:
        return self._counters.sum_groups(counters, group_of.astype(np.uint32), groups)

    @property
    def rows(self) -> int:
        """The number of rows, dummy rows included."""
        return self._table.rows

    def levels(self, node: Node) -> dict[str, int]:
        """The level of each quasi-identifier at a node."""
        columns = zip(self._encoded.columns, node, strict=True)
        return {column.name: column.finest + level for column, level in columns}

    def domain(self) -> bytes:
        """What the other member needs before the search: hierarchies in codes, and the counters of single values."""
        encoded, arrays = self._encoded, dict[str, NDArray[Any]]()
        columns = []
        for number, column in enumerate(encoded.columns):
            starred = [labels == (SUPPRESSED,) for labels in column.labels]
            counted = self._table.columns[column.name].shares is None
            absent = len(column.maps[0]) - len(np.unique(column.codes[self._included]))
            columns.append([column.name, column.finest, starred, counted, _lacks_values(column), absent])
            arrays[f"{number}.counters"] = self._of_values(number)
            if counted and not encoded.included.all():
                arrays[f"{number}.all.counters"] = self._sum(self._of_tuple, column.codes, len(column.maps[0]))
            for level, (mapped, shares) in enumerate(zip(column.maps, column.shares, strict=True)):
                arrays[f"{number}.{level}.map"], arrays[f"{number}.{level}.shares"] = mapped, shares
        for number, sensitive in enumerate(encoded.sensitive):
            arrays[f"s{number}.counters"] = self._sum(self._of_tuple, sensitive.codes, len(sensitive.domain.overall))
            for level, mapped in enumerate(sensitive.domain.maps):
                arrays[f"s{number}.{level}.map"] = mapped
        outside = np.where(self._encoded.included, 0, 1)
        arrays["included"] = self._sum(self._of_tuple, outside, 2)
        arrays |= {} if self._people is None else {"people.counters": self._people}
        steps = steps_of(
            np.stack([column.codes[self._kinds] for column in self._table.columns.values()], axis=1), self._rows_of_kind
        )
        counters = np.tile(self._of_kind[steps.chosen], (len(steps.step_of), 1))
        arrays["steps.counters"] = self._sum(counters, steps.step_of.reshape(-1), steps.count)
        arrays["steps.rows"] = steps.rows
        facts = {"columns": columns, "sensitive": [[one.name, len(one.domain.maps)] for one in encoded.sensitive]}
        return pack(facts, arrays)

    def _of_values(self, number: int) -> Cells:
        """The counters of the values of one column: those of the node at which all others show only `*`."""
        node = tuple(0 if place == number else levels - 1 for place, levels in enumerate(self._encoded.shape))
        found, column = self._summed(node), self._encoded.columns[number]
        return self._sum(found.counters, column.codes[self._included][found.first], len(column.maps[0]))

    def counted(self, node: Node, exact: Mapping[str, bool]) -> bytes:
        """The encrypted counters of the cells of a node, in random order, with the number of the class of each cell.

        Each class comes with its number of rows, dummy rows included.

        If the metric needs it, each class comes with a code for the share of the domain that its labels cover; labels
        with equal shares get the same code, unless `exact` asks for the code of the label itself.
        """
        self._refuse_strange(node)
        summed = self._summed(node)
        class_of, classes = self._classes(node)
        order, number = random_order(len(summed.first)), random_order(classes)
        renumber = np.empty(classes, dtype=np.uint32)
        renumber[number] = np.arange(classes)
        self._class_at[node] = renumber[class_of], classes
        first = summed.first[order]
        arrays: dict[str, NDArray[Any]] = {
            "counters": summed.counters[order],
            "class": renumber[class_of[summed.first]][order].astype(np.uint32),
            "rows": np.bincount(renumber[class_of], weights=self._rows_of_tuple, minlength=classes).astype(np.int64),
        }
        for position, sensitive in enumerate(self._encoded.sensitive):
            arrays[f"s{position}"] = sensitive.codes[self._included][first].astype(np.uint32)
        if isinstance(self._plan.metric, Loss) and self._plan.suppression_limit > 0:
            of_class = np.empty(classes, dtype=np.int64)
            of_class[renumber[class_of]] = np.arange(len(class_of))
            arrays["codes"] = np.stack(
                [
                    _covering(
                        column, level, column.codes[self._included][of_class], exact=exact.get(column.name, False)
                    )
                    for column, level in zip(self._encoded.columns, node, strict=True)
                ],
                axis=1,
            )
        return pack({"classes": classes}, arrays)

    def _summed(self, node: Node) -> Summed:
        """Add up the counters of a node, from the known finer node with the fewest cells, with stops on the way."""
        source = min((one for one in self._known if is_finer(one.node, node)), key=lambda one: len(one.first))
        while len(source.first) > MANY and (stop := self._stop(node, source)) not in (node, source.node):
            source = self._added_up(stop, source)
        return self._added_up(node, source)

    def _stop(self, node: Node, source: Summed) -> Node:
        """A node between the source and this one from which others can be added up cheaply; this one if there is none.

        It is as fine as it can be with a fraction of the cells of the source. What is finer than this node will most
        likely be finer than later ones, because nodes that are asked for resemble each other.
        """
        stop = node
        while True:
            lowered = [
                (*stop[:place], level - 1, *stop[place + 1 :])
                for place, level in enumerate(stop)
                if level > source.node[place]
            ]
            size, finer = min(((self._size(one), one) for one in lowered), default=(len(source.first), node))
            if size > len(source.first) // SMALLER:
                return stop
            stop = finer

    def _size(self, node: Node) -> int:
        """The number of cells of a node, counted once."""
        if node not in self._sizes:
            few = not self._encoded.sensitive
            self._sizes[node] = len(self._engine.groups(node)) if few else pl.Series(self._keys(node)).n_unique()
        return self._sizes[node]

    def _added_up(self, node: Node, source: Summed) -> Summed:
        """Add up the counters of a node from those of a finer one; a cell that stays alone keeps its counter."""
        _, first, cell_of, sizes = np.unique(
            self._keys(node)[source.first], return_index=True, return_inverse=True, return_counts=True
        )
        counters = source.counters[first]
        several = np.flatnonzero(sizes > 1)
        if len(several):
            place = np.zeros(len(sizes), dtype=np.int64)
            place[several] = np.arange(len(several))
            added = sizes[cell_of] > 1
            counters[several] = self._sum(source.counters[added], place[cell_of[added]], len(several))
        found = Summed(node, source.first[first], counters)
        if len(several):
            self._known.append(found)
        return found

    def _keys(self, node: Node) -> Counts:
        """The cell of each included tuple: its class and its sensitive values."""
        keys = self._classes(node)[0].astype(np.int64)
        for sensitive in self._encoded.sensitive:
            keys = keys * len(sensitive.domain.overall) + sensitive.codes[self._included]
        return keys

    def _classes(self, node: Node) -> tuple[Codes, int]:
        class_of, groups = self._engine.classes(node)
        return class_of, len(groups)

    def _refuse_strange(self, node: Node) -> None:
        shape = self._encoded.shape
        if len(node) != len(shape) or not all(0 <= level < levels for level, levels in zip(node, shape, strict=True)):
            raise malformed("it asks for a node that is not there")

    def released(self, node: Node, kept: Bools) -> tuple[SealedRelease, Cells]:
        """The rows as they are released at a node, and a counter of each; classes that are not kept show only `*`.

        Rows that show the same are one row, whose counter says how often the release has it: never, if all are dummy
        rows. `kept` is in the order of the last answer about the node.
        """
        self._refuse_strange(node)
        class_of, classes = self._class_at.get(node, (np.empty(0, dtype=np.uint32), -1))
        if len(kept) != classes:
            raise malformed("it does not say which classes are kept")
        of_tuple = np.zeros(len(self._encoded.weights), dtype=bool)
        of_tuple[self._included] = kept[class_of]
        shown_rows = of_tuple[self._tuple_of_row][self._kinds]
        shown = {name: column.at(0)[self._kinds] for name, column in self._table.columns.items()}
        for column, level in zip(self._encoded.columns, node, strict=True):
            cells = self._table.columns[column.name].at(level + column.finest)[self._kinds]
            shown[column.name] = np.where(shown_rows, cells, STAR).astype(np.uint32)
        first, row_of = _equal_rows(list(shown.values()))
        order = random_order(len(first))
        rows = {name: codes[first[order]] for name, codes in shown.items()}
        release = SealedRelease.of(self._table, self._kinds[first[order]].astype(np.uint32), rows, {})
        return release, self._sum(self._of_kind, row_of, len(first))[order]

    def veiled(self, node: Node, parties: int, keyring: Keyring) -> tuple[bytes, list[KeyShares]]:
        """The rows of each class of a node sealed with its key, and shares of the keys for so many parties.

        Classes have the numbers of the last answer about the node.
        """
        self._refuse_strange(node)
        class_of, classes = self._class_at.get(node, (np.empty(0, dtype=np.uint32), -1))
        if classes < 0:
            raise malformed("it chooses a node that was not counted")
        of_tuple = np.full(len(self._encoded.weights), -1)
        of_tuple[self._included] = class_of
        class_of_kind = of_tuple[self._tuple_of_row][self._kinds]
        levels = {name: level + column.finest for (name, column), level in zip(self._by_name(), node, strict=True)}
        shown = {name: column.at(levels.get(name, 0))[self._kinds] for name, column in self._table.columns.items()}
        cells = {name: column.cells for name, column in self._table.columns.items()}
        layout = Layout({name: cells[name].shape[1] for name in self._plan.attributes if name in cells})
        in_class = np.flatnonzero(class_of_kind >= 0)
        first, row_of = _equal_rows([codes[in_class] for codes in shown.values()])
        records = layout.records({name: codes[in_class[first]] for name, codes in shown.items()}, cells)
        counters = self._sum(self._of_kind[in_class], row_of, len(first))
        stars = {name: np.full_like(codes, STAR) if name in levels else codes for name, codes in shown.items()}
        different, of = _equal_rows(list(stars.values()))
        starred = layout.records({name: codes[different] for name, codes in stars.items()}, cells)
        keys = keyring.keep(ClassKeys.random(classes))
        order = random_order(len(different))
        found = Veiled.of(
            np.concatenate([records, counters], axis=1),
            class_of_kind[in_class[first]],
            keys.matrix,
            starred[order],
            self._sum(self._of_kind, of, len(different))[order],
        )
        return found.to_bytes(), keys.shares(parties, keyring)

    def _by_name(self) -> list[tuple[str, EncodedColumn]]:
        return [(column.name, column) for column in self._encoded.columns]


def _equal_rows(columns: Sequence[Codes]) -> tuple[Counts, Counts]:
    """The first of all rows that are equal in all columns, and the number of each row among them."""
    numbers = pl.DataFrame({str(number): codes for number, codes in enumerate(columns)}).select(
        pl.struct(pl.all()).rank("dense") - 1
    )
    _, first, of = np.unique(numbers.to_series().to_numpy(), return_index=True, return_inverse=True)
    return first.astype(np.int64), of.astype(np.int64)


def is_finer(one: Node, other: Node) -> bool:
    """Whether a node is at no level above another."""
    return all(low <= high for low, high in zip(one, other, strict=True))


def _given(counters: Cells | None, public: PublicCounters) -> Cells:
    if counters is None or counters.shape[1] != public.bytes_per_counter:
        raise malformed("its rows have no counters, or more than one each")
    return counters


def _lacks_values(column: EncodedColumn) -> bool:
    """Whether the last value of a column stands for missing ones, which are not part of its hierarchy."""
    stated = int(column.hierarchy.encode(pl.Series([""], dtype=pl.String))[0]) >= 0
    return column.values[-1:] == (None,) and not stated


def _covering(column: EncodedColumn, level: int, codes: Codes, *, exact: bool) -> Codes:
    """A code for what each label covers: the first code with an equal share, or the code itself."""
    generalized = column.maps[level][codes]
    if exact:
        return generalized
    shares = column.shares[level]
    _, first, of = np.unique(shares, return_index=True, return_inverse=True)
    return first[of][generalized].astype(np.uint32)
