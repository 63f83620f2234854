"""The engine for a table that fits into the memory of one machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kohorte.engines.history import History, Snapshot
from kohorte.groups import Groups, Histogram, Population
from kohorte.kernels import Grouper, Rows, Workers, sort_cells
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.sources import EncodedTable

WORTH_SCREENING = 0.5
"""If a node is counted from at least this share of all rows, class sizes are counted first, as they may decide.

Our own choice, without a recorded measurement; it changes the time a search takes, never its answer."""


class LocalEngine:
    """Groups the tuples of an encoded table at a node, from the smallest finer node that it remembers.

    Each sensitive attribute is one more column with two levels, its value and `*`. So is the population of a tuple
    (0: the table itself). Tuples are first merged into cells (a class with one combination of sensitive values), from
    which coarser nodes can be counted, then into classes.
    """

    name: ClassVar[str] = "local"

    def __init__(self, table: EncodedTable) -> None:
        self._table = table
        widths = [len(column.domain.overall) for column in table.sensitive]
        if table.populations:
            widths.append(len(table.populations) + 1)
        maps = [list(column.maps) for column in table.columns]
        maps += [[np.arange(width, dtype=np.uint32), np.zeros(width, dtype=np.uint32)] for width in widths]
        self._extra = len(widths)
        self._grouper = Grouper(maps)
        rows = self._grouper.pack(self._codes())
        weights = [table.weights[table.included], *(own.weights for own in table.populations.values())]
        bottom = (0,) * len(table.columns)
        finest = self._levels(bottom, starred=False)
        if table.merged:  # no two tuples look the same
            first, sizes = np.arange(len(rows), dtype=np.uint32), weights[0]
            self._base_of = first
        else:
            self._base_of, first, sizes = self._grouper.group(rows, np.concatenate(weights), finest, True)
        self._base = Snapshot(bottom, rows, first, sizes)
        self._history = History(self._base)
        self._workers: Workers | None = None
        plain = replace(table, sensitive=(), populations={}, merged=False)
        self._plain = LocalEngine(plain) if table.sensitive or table.populations else self

    def _codes(self) -> Codes:
        """The codes of all included tuples and of all populations, extra columns included."""
        table = self._table
        every = [column.codes for column in table.columns] + [column.codes for column in table.sensitive]
        if not table.included.all():
            every = [codes[table.included] for codes in every]
        codes = np.stack(every).T
        if not table.populations:
            return codes
        parts = [np.pad(codes, ((0, 0), (0, 1)))]
        for origin, population in enumerate(table.populations.values(), start=1):
            part = np.pad(population.codes, ((0, 0), (0, self._extra)))
            part[:, -1] = origin
            parts.append(part)
        return np.ascontiguousarray(np.concatenate(parts))

    @property
    def distinct_rows(self) -> int:
        """The number of rows after merging those that look the same at the finest node."""
        return len(self._base)

    @property
    def rolled_up(self) -> int:
        """The number of nodes that were counted from a finer node instead of the table."""
        return self._history.hits + (0 if self._plain is self else self._plain.rolled_up)

    @property
    def held_bytes(self) -> int:
        """About how much memory counted nodes take, from which coarser ones are counted."""
        return self._history.held_bytes + (0 if self._plain is self else self._plain.held_bytes)

    def forget(self) -> None:
        """Forget counted nodes; what is counted later stays the same."""
        self._history.forget()
        if self._plain is not self:
            self._plain.forget()

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows, excluded ones too: the table as it looks if everything is `*`."""
        table = self._table
        histograms = {
            column.name: Histogram(
                np.array([0, column.domain.distinct]),
                np.flatnonzero(column.domain.overall).astype(np.uint32),
                column.domain.overall[column.domain.overall > 0],
                column.domain,
            )
            for column in table.sensitive
        }
        own = table.rows - table.excluded
        populations = {
            key: Population(np.array([int(population.weights.sum()) + population.includes_table * own]), 0)
            for key, population in table.populations.items()
        }
        return Groups(
            node=node,
            sizes=np.array([table.rows]),
            codes=lambda which: np.zeros((int(which.sum()), len(node)), dtype=np.uint32),
            histograms=histograms,
            populations=populations,
            joined=lambda _: np.zeros(1, dtype=np.uint32),
            attributes=len(node),
        )

    def use_threads(self, count: int) -> None:
        """Let `count` threads count the nodes that `begin` starts; with 0, they are counted when needed."""
        self._workers = Workers(count) if count else None

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""
        source = self._history.source(node)
        if self._one_histogram:
            levels = self._levels(node, starred=True)
            return self._with_histogram(node, source, self._grouper.cells(source.rows, source.sizes, levels, len(node)))
        levels = self._levels(node, starred=False)
        return self._from_cells(node, source, self._grouper.group(source.rows, source.sizes, levels, False))

    def sizes(self, node: Node) -> Groups | None:
        """Return only the class sizes at a node, without histograms and populations; None if that saves little time."""
        if self._plain is self or self._history.rows_at_hand(node) < WORTH_SCREENING * len(self._base):
            return None
        return self._plain.groups(node)

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Start to count a node; call the returned function once for its classes."""
        if self._workers is None:
            return lambda: self.groups(node)
        source = self._history.source(node)
        levels = self._levels(node, starred=self._one_histogram)
        if self._one_histogram:
            job = self._workers.cells(self._grouper, source.rows, source.sizes, levels, len(node))
            return lambda: self._with_histogram(node, source, job.result())
        job = self._workers.group(self._grouper, source.rows, source.sizes, levels)
        return lambda: self._from_cells(node, source, job.result())

    @property
    def _one_histogram(self) -> bool:
        return self._extra == len(self._table.sensitive) == 1

    def _from_cells(self, node: Node, source: Snapshot, grouped: tuple[Codes, Codes, Counts]) -> Groups:
        _, first, sizes = grouped
        cells = Snapshot(node, source.rows, first, sizes)
        self._history.keep(cells, source)
        return self._merge(cells)[1] if self._extra else self._groups(node, source.rows, first, sizes)

    def _with_histogram(
        self, node: Node, source: Snapshot, counted: tuple[Codes, Counts, Counts, Codes, Counts, Codes]
    ) -> Groups:
        """The classes of a table with one sensitive attribute and no population."""
        first, sizes, starts, values, counts, first_of_cell = counted
        self._history.keep(Snapshot(node, source.rows, first_of_cell, counts), source)
        (column,) = self._table.sensitive
        histogram = Histogram(starts, values, counts, column.domain)
        return self._groups(node, source.rows, first, sizes, {column.name: histogram})

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included tuple at a node, and the classes."""
        levels = self._levels(node, starred=False)
        cell_of, first, sizes = self._grouper.group(self._base.rows, self._base.sizes, levels, True)
        class_of, groups = self._merge(Snapshot(node, self._base.rows, first, sizes))
        own = self._base_of[: int(self._table.included.sum())]
        return class_of[cell_of][own], groups

    def _merge(self, cells: Snapshot) -> tuple[Codes, Groups]:
        """Merge the cells of a node into classes; return the class of each cell, and the classes.

        Cells of the table come before those of populations, so classes without a row of the table come last; they are
        left out.
        """
        rows, sizes = cells.rows, cells.sizes
        levels = self._levels(cells.node, starred=True)
        if not self._table.populations:
            class_of, first, class_sizes = self._grouper.group(rows, sizes, levels, True)
            groups = self._groups(cells.node, rows, first, class_sizes)
            return class_of, replace(groups, histograms=self._histograms(rows, sizes, class_of, len(groups)))
        origin = self._grouper.unpack(rows)[:, -1]
        own = origin == 0
        class_of, first, class_sizes = self._grouper.group(rows, np.where(own, sizes, 0), levels, True)
        count = int(np.count_nonzero(class_sizes))
        assert (class_sizes[:count] > 0).all(), "rows of the table come first"
        populations = {}
        for number, (key, population) in enumerate(self._table.populations.items(), start=1):
            of_origin = np.where(origin == number, sizes, 0)
            people = np.bincount(class_of, weights=of_origin, minlength=len(class_sizes)).astype(np.int64)
            empty = int(np.count_nonzero(people[count:]))
            populations[key] = Population(people[:count] + population.includes_table * class_sizes[:count], empty)
        groups = self._groups(cells.node, rows, first[:count], class_sizes[:count])
        own_rows = rows.take(np.flatnonzero(own).astype(np.uint32))
        histograms = self._histograms(own_rows, sizes[own], class_of[own], count)
        return class_of, replace(groups, histograms=histograms, populations=populations)

    def _histograms(self, rows: Rows, sizes: Counts, class_of: Codes, classes: int) -> dict[str, Histogram]:
        """Count the values of each sensitive attribute in each class; with a single attribute, each cell is a count."""
        table, found = self._table, {}
        unpacked = self._grouper.unpack(rows) if table.sensitive else None
        for index, column in enumerate(table.sensitive):
            assert unpacked is not None
            values = np.ascontiguousarray(unpacked[:, len(table.columns) + index])
            of, counts = class_of, sizes
            if self._extra > 1:
                keys = of.astype(np.int64) * len(column.domain.overall) + values
                keys, cells = np.unique(keys, return_inverse=True)
                counts = np.bincount(cells, weights=sizes).astype(np.int64)
                of = (keys // len(column.domain.overall)).astype(np.uint32)
                values = (keys % len(column.domain.overall)).astype(np.uint32)
            starts, order = sort_cells(of, classes)
            found[column.name] = Histogram(starts, values[order], counts[order], column.domain)
        return found

    def _levels(self, node: Node, *, starred: bool) -> Codes:
        """The levels of all columns: those of the node; extra columns show their value, or `*` if `starred`."""
        return np.array((*node, *(int(starred) for _ in range(self._extra))), dtype=np.uint32)

    def _groups(
        self,
        node: Node,
        rows: Rows,
        first: Codes,
        sizes: Counts,
        histograms: Mapping[str, Histogram] = MappingProxyType({}),
    ) -> Groups:
        def codes(which: Bools) -> Codes:
            unpacked = self._grouper.unpack(rows.take(first[which]))
            levels = zip(self._table.columns, node, unpacked.T, strict=False)
            return np.stack([column.maps[level][own] for column, level, own in levels], axis=1)

        def joined(attribute: int) -> Codes:
            levels = self._levels(node, starred=True)
            levels[attribute] = len(self._table.columns[attribute].maps) - 1
            of, _, _ = self._grouper.group(rows.take(first), sizes, levels, True)
            return of

        return Groups(
            node,
            sizes,
            codes,
            excluded=self._table.excluded,
            histograms=histograms,
            joined=joined,
            attributes=len(node),
        )
