"""The engine for a table in which several rows may be about one person: it counts people as well as rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from kohorte.engines.history import History, Snapshot
from kohorte.engines.local import LocalEngine
from kohorte.groups import Groups, Histogram, Population, different_people, people_with_values, rows_with_values
from kohorte.kernels import Grouper, Rows, Workers
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.sources import EncodedTable


class PeopleEngine:
    """Counts the classes of a node in rows, and the same classes in people (`Groups.people`).

    The number of different people is not additive: two classes may contain the same person. So the person is part of
    every cell (a class with one combination of sensitive values and one person), from which coarser nodes are counted.
    """

    name: ClassVar[str] = "people"

    def __init__(self, table: EncodedTable) -> None:
        assert table.persons is not None
        self._table, self._persons = table, table.persons
        self._domains = table.domains
        self._by_rows = LocalEngine(replace(table, persons=None, merged=False))
        self._sizes_only = LocalEngine(replace(table, persons=None, merged=False, sensitive=(), populations={}))
        known = [table.persons.codes, *(own.persons for own in table.populations.values() if own.persons is not None)]
        widths = [len(column.domain.overall) for column in table.sensitive]
        widths += [1 + max((int(codes.max(initial=0)) for codes in known), default=0), len(table.populations) + 1]
        maps = [list(column.maps) for column in table.columns]
        maps += [[np.arange(width, dtype=np.uint32), np.zeros(width, dtype=np.uint32)] for width in widths]
        self._extra = len(widths)
        self._grouper = Grouper(maps)
        weights = np.concatenate([table.weights[table.included], *(own.weights for own in table.populations.values())])
        rows, bottom = self._grouper.pack(self._codes()), (0,) * len(table.columns)
        self._base_of, first, sizes = self._grouper.group(rows, weights, self._levels(bottom), True)
        self._base = Snapshot(bottom, rows, first, sizes)
        self._history = History(self._base)
        self._workers: Workers | None = None

    def _codes(self) -> Codes:
        """The codes of included tuples and populations: quasi-identifiers, sensitive values, person, population."""
        table = self._table
        every = [*(column.codes for column in table.columns), *(column.codes for column in table.sensitive)]
        every += [self._persons.codes, np.zeros_like(self._persons.codes)]
        parts = [np.stack([codes[table.included] for codes in every], axis=1)]
        for origin, population in enumerate(table.populations.values(), start=1):
            part = np.pad(population.codes, ((0, 0), (0, self._extra)))
            part[:, -1] = origin
            if population.persons is not None:
                part[:, -2] = population.persons
            parts.append(part)
        return np.ascontiguousarray(np.concatenate(parts), dtype=np.uint32)

    @property
    def distinct_rows(self) -> int:
        """The number of rows after merging those of one person that look the same at the finest node."""
        return len(self._base)

    @property
    def rolled_up(self) -> int:
        """The number of nodes that were counted from a finer node instead of the table."""
        return self._history.hits

    @property
    def held_bytes(self) -> int:
        """About how much memory counted nodes take, from which coarser ones are counted."""
        return self._history.held_bytes + self._by_rows.held_bytes + self._sizes_only.held_bytes

    def forget(self) -> None:
        """Forget counted nodes; what is counted later stays the same."""
        for one in (self._history, self._by_rows, self._sizes_only):
            one.forget()

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows, excluded ones too: the table as it looks if everything is `*`."""
        groups = self._by_rows.all_rows(node)
        size = np.array([self._persons.count])
        histograms = {}
        for name, domain in self._domains.items():
            values = np.flatnonzero(domain.overall).astype(np.uint32)
            histograms[name] = Histogram(np.array([0, len(values)]), values, domain.overall[values], domain, size)
        populations = {}
        for key, own in self._table.populations.items():
            counts = groups.populations[key].counts
            if own.persons is not None:
                of_table = self._persons.codes[self._table.included] if own.includes_table else own.persons[:0]
                counts = np.array([len(np.union1d(own.persons, of_table))])
            populations[key] = Population(counts, 0)
        return replace(groups, people=replace(groups, sizes=size, histograms=histograms, populations=populations))

    def use_threads(self, count: int) -> None:
        """Let `count` threads count the nodes that `begin` starts; with 0, they are counted when needed."""
        self._workers = Workers(count) if count else None

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""
        source = self._history.source(node)
        if self._only_people:
            levels = self._levels(node, starred=True)
            return self._with_people(node, source, self._grouper.cells(source.rows, source.sizes, levels, len(node)))
        return self._counted(node, source, self._grouper.group(source.rows, source.sizes, self._levels(node), False))

    @property
    def _only_people(self) -> bool:
        """Whether a cell is one person of a class, because the models look at nothing else."""
        return not self._table.sensitive and not self._table.populations

    def sizes(self, node: Node) -> Groups | None:
        """Return only the class sizes in rows: a class of too few rows has too few people."""
        return self._sizes_only.groups(node)

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Start to count a node; call the returned function once for its classes."""
        if self._workers is None:
            return lambda: self.groups(node)
        source = self._history.source(node)
        if self._only_people:
            levels = self._levels(node, starred=True)
            cells = self._workers.cells(self._grouper, source.rows, source.sizes, levels, len(node))
            return lambda: self._with_people(node, source, cells.result())
        job = self._workers.group(self._grouper, source.rows, source.sizes, self._levels(node))
        return lambda: self._counted(node, source, job.result())

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included tuple at a node, and the classes."""
        cell_of, first, sizes = self._grouper.group(self._base.rows, self._base.sizes, self._levels(node), True)
        class_of, groups = self._merge(Snapshot(node, self._base.rows, first, sizes))
        own = self._base_of[: int(self._table.included.sum())]
        return class_of[cell_of][own], groups

    def _with_people(
        self, node: Node, source: Snapshot, counted: tuple[Codes, Counts, Counts, Codes, Counts, Codes]
    ) -> Groups:
        """The classes of a table whose cells are the people of each class."""
        first, sizes, starts, _, counts, first_of_cell = counted
        self._history.keep(Snapshot(node, source.rows, first_of_cell, counts), source)
        return self._groups(source.rows, node, first, sizes, np.diff(starts))

    def _counted(self, node: Node, source: Snapshot, grouped: tuple[Codes, Codes, Counts]) -> Groups:
        _, first, sizes = grouped
        cells = Snapshot(node, source.rows, first, sizes)
        self._history.keep(cells, source)
        return self._merge(cells)[1]

    def _levels(self, node: Node, *, starred: bool = False) -> Codes:
        """The levels of all columns: those of the node; extra columns show their value, or `*` if `starred`."""
        return np.array((*node, *(int(starred) for _ in range(self._extra))), dtype=np.uint32)

    def _merge(self, cells: Snapshot) -> tuple[Codes, Groups]:
        """Merge the cells of a node into classes; return the class of each cell, and the classes.

        Cells of the table come before those of populations, so classes without a row of the table come last; they are
        left out.
        """
        table, node = self._table, cells.node
        class_of, first, sizes = self._grouper.group(cells.rows, cells.sizes, self._levels(node, starred=True), True)
        if self._only_people:
            return class_of, self._groups(cells.rows, node, first, sizes, np.bincount(class_of, minlength=len(sizes)))
        unpacked = self._grouper.unpack(cells.rows)
        persons, origin = unpacked[:, -2].astype(np.int64), unpacked[:, -1]
        own = origin == 0
        sizes = np.bincount(class_of[own], weights=cells.sizes[own], minlength=len(sizes)).astype(np.int64)
        count = int(np.count_nonzero(sizes))
        of, whom = class_of[own], persons[own]
        people = different_people(of, whom, count)
        rows, counted = {}, {}
        for index, column in enumerate(table.sensitive):
            values = unpacked[own, len(table.columns) + index]
            rows[column.name] = rows_with_values(of, values, cells.sizes[own], count, column.domain)
            counted[column.name] = people_with_values(of, values, whom, people, self._domains[column.name])
        populations = {
            key: self._population(number, key, (class_of, persons, cells.sizes, origin), count)
            for number, key in enumerate(table.populations, start=1)
        }
        groups = self._groups(cells.rows, node, first[:count], sizes[:count], people)
        judged = replace(groups.judged, histograms=counted, populations=populations)
        return class_of, replace(groups, histograms=rows, populations=populations, people=judged)

    def _population(self, number: int, key: str, cells: tuple[Codes, Counts, Counts, Codes], count: int) -> Population:
        """The people of a population in each class: by person if it says whom a row is about, otherwise its rows."""
        class_of, persons, sizes, origin = cells
        population = self._table.populations[key]
        if population.persons is None:
            people = np.bincount(class_of, weights=np.where(origin == number, sizes, 0)).astype(np.int64)
        else:
            among = (origin == number) | ((origin == 0) & population.includes_table)
            people = different_people(class_of[among], persons[among], int(class_of.max(initial=0)) + 1)
        return Population(people[:count], int(np.count_nonzero(people[count:])))

    def _groups(self, rows: Rows, node: Node, first: Codes, sizes: Counts, people: Counts) -> Groups:
        def codes(which: Bools) -> Codes:
            unpacked = self._grouper.unpack(rows.take(first[which]))
            levels = zip(self._table.columns, node, unpacked.T, strict=False)
            return np.stack([column.maps[level][own] for column, level, own in levels], axis=1)

        groups = Groups(node, sizes, codes, excluded=self._table.excluded, attributes=len(node))
        return replace(groups, people=replace(groups, sizes=people, excluded=0))
