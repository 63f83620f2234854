"""The engine for people who are judged by all their rows together: by the set of classes into which these fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from kohorte.engines.local import LocalEngine
from kohorte.engines.people import PeopleEngine
from kohorte.groups import (
    Domain,
    Groups,
    JudgedPeople,
    different_people,
    people_with_values,
    person_sets,
    rows_with_values,
)
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.sources import EncodedTable, Persons


class PersonSetsEngine:
    """Counts the classes of a node, divided by the set of classes that each person's rows fall into.

    An attacker who knows all rows of a person looks for people with the same set. If the release ties rows together,
    the attacker also sees how many rows fall into each class, so equal sets are not enough: the numbers must agree,
    too, link by link. A class of the returned groups is a class of the table with one set of classes.
    """

    name: ClassVar[str] = "person_sets"
    rolled_up: ClassVar[int] = 0

    def __init__(self, table: EncodedTable) -> None:
        assert table.persons is not None
        assert not table.populations, "models with a population are refused before"
        self._table, self._persons = table, table.persons
        self._rows = LocalEngine(replace(table, persons=None, merged=False, sensitive=()))
        self._one_row = PeopleEngine(table)

    @property
    def distinct_rows(self) -> int:
        """The number of rows after merging those of one person that look the same at the finest node."""
        return self._one_row.distinct_rows

    @property
    def held_bytes(self) -> int:
        """About how much memory counted nodes take, from which coarser ones are counted."""
        return self._rows.held_bytes + self._one_row.held_bytes

    def forget(self) -> None:
        """Forget counted nodes; what is counted later stays the same."""
        self._rows.forget()
        self._one_row.forget()

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows, excluded ones too: the table as it looks if everything is `*`."""
        return self._one_row.all_rows(node)

    def use_threads(self, count: int) -> None:
        """Nodes are counted when they are needed."""

    def sizes(self, node: Node) -> Groups | None:
        """Return only the class sizes in rows: a class of too few rows has too few people."""
        return self._rows.groups(node)

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Count a node when its classes are asked for."""
        return lambda: self.groups(node)

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node, divided by the sets of the people in them."""
        return self.classes(node)[1]

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included tuple at a node, and the classes."""
        table, included = self._table, self._table.included
        class_of, by_rows = self._rows.classes(node)
        tuples = _Tuples(class_of, self._persons.chosen(np.flatnonzero(included)), table.weights[included])
        set_of_person, _ = tuples.sets(np.ones(len(class_of), dtype=bool))
        keys = class_of.astype(np.int64) << 32 | set_of_person[tuples.persons.codes]
        cells, cell_of = np.unique(keys, return_inverse=True)
        row_class = (cells >> 32).astype(np.uint32)
        values = {column.name: column.codes[included] for column in table.sensitive}
        found = _Sets(tuples, cell_of.astype(np.uint32), row_class, values, table.domains)
        every = by_rows.codes(np.ones(len(by_rows), dtype=bool))

        def merged(group_of: Codes, class_of_group: Codes) -> Groups:
            """Groups of cells, counted in rows."""
            of = group_of[cell_of]
            return Groups(
                node,
                np.bincount(of, weights=tuples.weights, minlength=len(class_of_group)).astype(np.int64),
                lambda which: every[class_of_group[which]],
                excluded=table.excluded,
                histograms={
                    column.name: rows_with_values(
                        of, values[column.name], tuples.weights, len(class_of_group), column.domain
                    )
                    for column in table.sensitive
                },
                attributes=len(node),
            )

        def as_shown(kept: Bools) -> tuple[Groups, Bools]:
            keys, part_of = np.unique(row_class.astype(np.int64) * 2 + ~kept, return_inverse=True)
            return merged(part_of.astype(np.uint32), (keys // 2).astype(np.uint32)), keys % 2 == 0

        groups = merged(np.arange(len(cells), dtype=np.uint32), row_class)
        return cell_of.astype(np.uint32), replace(groups, sets=found.judged, as_shown=as_shown)


@dataclass(frozen=True, eq=False)
class _Tuples:
    """The included tuples of a table at a node: the class, the person and the rows of each."""

    class_of: Codes
    persons: Persons
    weights: Counts

    def sets(self, kept: Bools) -> tuple[Codes, Counts]:
        """Number the sets of classes that people's kept tuples fall into; return each person's set, and its people.

        People without a kept tuple have no set: their number is that of the sets.
        """
        persons = self.persons.chosen(np.flatnonzero(kept))
        people = int(self.persons.codes.max(initial=0)) + 1
        return person_sets(
            self.class_of[kept], persons.codes, people=people, weights=self.weights[kept], links=persons.links
        )


@dataclass(frozen=True, eq=False)
class _Sets:
    """What the models judge if people are judged by all their rows.

    `cell_of` is the cell of each tuple (a class with one set), `row_class` the class of each cell, `values` the
    sensitive values of the tuples.
    """

    tuples: _Tuples
    cell_of: Codes
    row_class: Codes
    values: dict[str, Codes] = field(repr=False)
    domains: dict[str, Domain] = field(repr=False)

    def judged(self, kept: Bools) -> Sequence[JudgedPeople]:
        """The people with the same set of kept classes, and those of each kept class: both must satisfy the models.

        Knowing all rows includes knowing one, so nothing that one row reveals may be worse.
        """
        shown = kept[self.cell_of]
        set_of_person, sizes = self.tuples.sets(shown)
        set_of = set_of_person[self.tuples.persons.codes]
        of_cell = np.zeros(len(kept), dtype=np.uint32)
        of_cell[self.cell_of[shown]] = set_of[shown]
        numbers, class_of_cell = np.unique(self.row_class[kept], return_inverse=True)
        of_class = np.zeros(len(kept), dtype=np.uint32)
        of_class[kept] = class_of_cell
        return (
            JudgedPeople(self._groups(set_of[shown], shown, len(sizes)), of_cell),
            JudgedPeople(self._groups(of_class[self.cell_of][shown], shown, len(numbers)), of_class),
        )

    def _groups(self, group_of: Codes, shown: Bools, count: int) -> Groups:
        """Groups of tuples, counted in people."""
        persons = self.tuples.persons.codes[shown]
        sizes = different_people(group_of, persons, count)
        histograms = {
            name: people_with_values(group_of, values[shown], persons, sizes, self.domains[name])
            for name, values in self.values.items()
        }
        return Groups((), sizes, _no_codes, histograms=histograms)


def _no_codes(which: Bools) -> Codes:
    raise AssertionError(f"groups of people have no codes ({len(which)})")
