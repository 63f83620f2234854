"""The engine of the member that knows the sizes of classes but not the classes: it asks for counters of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.groups import Column, Domain, Groups, Histogram, Marginals
from kohorte.hierarchies.labels import group_shares
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.parties.counting.telling import told
from kohorte.parties.sealed import Cells, malformed, unpack
from kohorte.plans.plan import Plan


class Counter(Protocol):
    """Asks the other member, and decrypts what it answers."""

    def ask(self, node: Node, exact: Sequence[str]) -> bytes:
        """Ask for the counters of a node."""

    def decrypt(self, counters: Cells) -> Counts:
        """Decrypt counters."""


@dataclass(frozen=True, eq=False)
class TrueDomain:
    """The frequencies of single columns without dummy rows, from decrypted counters."""

    marginals: Marginals
    domains: Mapping[str, Domain]
    excluded: int
    starred: bool
    exact: tuple[str, ...] = ()
    tops: Mapping[str, int] = field(default_factory=dict)
    people: tuple[int, ...] = ()  # of each group of parties
    told: float = 0.5  # how well dummy rows can be told from real ones
    unmatched: Mapping[str, float] = field(default_factory=dict)
    """For each column that is counted, so many of the values of people have a dummy value that nobody has."""

    @classmethod
    def read(cls, message: bytes, plan: Plan, decrypt: Callable[[Cells], Counts]) -> TrueDomain:
        """Read the answer about the domain; whatever does not fit the plan is refused."""
        facts, arrays = unpack(message)
        try:
            columns = [
                (*_column(arrays, number, *entry[:-1], plan=plan, decrypt=decrypt), int(entry[-1]))
                for number, entry in enumerate(facts["columns"])
            ]
            stars = [entry[2] for entry in facts["columns"]]
            unmatched = {column.name: _unmatched(column.counts, absent) for column, _, absent in columns}
            domains = {
                str(name): Domain(decrypt(arrays[f"s{number}.counters"]), maps=_maps(arrays, f"s{number}", levels))
                for number, (name, levels) in enumerate(facts["sensitive"])
            }
            _, excluded = decrypt(arrays["included"]).tolist()
            rows = int(columns[0][0].counts.sum()) + excluded
            people = decrypt(arrays["people.counters"]).tolist() if "people.counters" in arrays else [rows]
            recognized = told(arrays["steps.rows"], decrypt(arrays["steps.counters"]))
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise malformed("it does not describe a domain") from None
        if tuple(column.name for column, *_ in columns) != plan.quasi_identifiers or set(domains) != set(
            plan.counted_attributes
        ):
            raise malformed("it does not describe the columns of the plan")
        return cls(
            marginals=Marginals(rows, tuple(column for column, *_ in columns)),
            domains=domains,
            excluded=excluded,
            starred=all(levels[-1] for levels in stars),
            exact=tuple(column.name for column, all_used, _ in columns if not all_used),
            tops={column.name: column.finest + column.top for column, *_ in columns},
            people=tuple(people),
            told=recognized,
            unmatched=unmatched | {name: _unmatched(domain.overall, 0) for name, domain in domains.items()},
        )


def _unmatched(counts: Counts, absent: int) -> float:
    """For so many of the values that people have, there is one that only dummy rows have; `absent` is in no row."""
    used = int((counts > 0).sum())
    return min(1.0, max(0, len(counts) - used - absent) / used) if used else 0.0


def _maps(arrays: Mapping[str, NDArray[Any]], prefix: str, levels: int) -> tuple[Codes, ...]:
    return tuple(arrays[f"{prefix}.{level}.map"].astype(np.uint32) for level in range(levels))


def _column(
    arrays: Mapping[str, NDArray[Any]],
    number: int,
    name: str,
    finest: int,
    starred: Sequence[bool],
    counted_shares: bool,
    lacks_values: bool,
    *,
    plan: Plan,
    decrypt: Callable[[Cells], Counts],
) -> tuple[Column, bool]:
    """One quasi-identifier, and whether the shares of its labels are right although dummy rows were counted."""
    maps = _maps(arrays, str(number), len(starred))
    counts = decrypt(arrays[f"{number}.counters"])
    shares = [arrays[f"{number}.{level}.shares"].astype(np.float64) for level in range(len(starred))]
    if any(
        len(mapped) != len(counts) or int(mapped.max(initial=0)) >= len(own)
        for mapped, own in zip(maps, shares, strict=True)
    ):
        raise malformed("a hierarchy does not fit its values")
    of_all = arrays.get(f"{number}.all.counters")  # rows that lack a value of another column included
    used = (counts if of_all is None else decrypt(of_all)) > 0
    if len(used) != len(counts):
        raise malformed("it does not count each value")
    right = bool(used.all()) or not counted_shares
    if not right:
        shares = _counted_again(maps, shares, used, name, lacks_values=lacks_values)
    weight = float(plan.attributes[name].weight)
    return Column(name, counts, maps, tuple(shares), weight, int(finest)), right


def _counted_again(
    maps: Sequence[Codes], shares: Sequence[NDArray[np.float64]], used: Bools, name: str, *, lacks_values: bool
) -> list[NDArray[np.float64]]:
    """Shares that count values: only values of real rows count, and a missing one, which is the last, does not.

    If there are missing values, the highest label covers more than one value: it covers the whole domain.
    """
    missing = lacks_values and bool(used[-1])
    values = np.append(used[:-1], values=False) if lacks_values else used
    groups = [np.unique(mapped[values], return_inverse=True) for mapped in maps]
    counted = group_shares([of.astype(np.uint32) for _, of in groups], None, attribute=name)
    found = []
    for own, (codes, _), again in zip(shares, groups, counted, strict=True):
        corrected = own.copy()
        corrected[codes] = again
        found.append(corrected)
    return [*found[:-1], np.ones_like(found[-1])] if missing else found


class CounterEngine:
    """Counts the classes of nodes that another member knows."""

    name: ClassVar[str] = "counters"

    def __init__(self, domain: TrueDomain, counter: Counter) -> None:
        self._domain, self._counter = domain, counter
        self.kept_order: dict[Node, tuple[Counts, Counts]] = {}
        """For each node, the numbers of the classes that have people, and the rows of all classes."""

    @property
    def rolled_up(self) -> int:
        """None: what the other member does is not known."""
        return 0

    @property
    def distinct_rows(self) -> int:
        """The number of rows: which of them look the same is not known."""
        return self._domain.marginals.rows

    def groups(self, node: Node) -> Groups:
        """Return the classes of a node that have people, in random order."""
        facts, arrays = unpack(self._counter.ask(node, self._domain.exact))
        classes, class_of, cells = facts.get("classes"), arrays.get("class"), arrays.get("counters")
        rows = arrays.get("rows")
        if type(classes) is not int or cells is None or not _are_codes(class_of, len(cells)):
            raise malformed("it does not count classes")
        if rows is None or rows.shape != (classes,) or rows.dtype.kind not in "ui":
            raise malformed("it does not count rows")
        highest = int(class_of.max()) if len(class_of) else -1
        if not highest < classes <= len(cells):
            raise malformed("it counts a class that is not there")
        counts = self._counter.decrypt(cells)
        sizes = np.bincount(class_of, weights=counts, minlength=classes).astype(np.int64)
        real = np.flatnonzero(sizes)
        self.kept_order[node] = real, rows
        place = np.zeros(classes, dtype=np.int64)
        place[real] = np.arange(len(real))
        codes = arrays.get("codes")
        if codes is not None and not self._are_labels(codes, classes, node):
            raise malformed("its codes do not fit its classes")
        some = counts > 0
        histograms = {
            name: self._histogram(name, arrays.get(f"s{number}"), place[class_of][some], counts[some], some)
            for number, name in enumerate(self._domain.domains)
        }
        return Groups(
            node=node,
            sizes=sizes[real],
            codes=_hidden if codes is None else lambda which: codes[real[which]],
            excluded=self._domain.excluded,
            histograms=histograms,
            attributes=len(node),
        )

    def _are_labels(self, codes: NDArray[Any], classes: int, node: Node) -> bool:
        """Whether each class has the code of a label of each column."""
        columns = zip(self._domain.marginals.columns, node, strict=True)
        labels = np.array([len(column.shares[level]) for column, level in columns])
        fits = codes.shape == (classes, len(node)) and codes.dtype == np.uint32
        return fits and bool((codes < labels).all())

    def _histogram(
        self, name: str, values: NDArray[Any] | None, class_of: Counts, counts: Counts, some: Bools
    ) -> Histogram:
        domain = self._domain.domains[name]
        if not _are_codes(values, len(some)) or int(values.max(initial=0)) >= len(domain.overall):
            raise malformed("its values do not fit its classes")
        width = len(domain.overall)
        keys, of = np.unique(class_of * width + values[some], return_inverse=True)
        together = np.bincount(of, weights=counts, minlength=len(keys)).astype(np.int64)
        classes = keys // width
        starts = np.searchsorted(classes, np.arange(int(classes.max(initial=-1)) + 2))
        return Histogram(starts, (keys % width).astype(np.uint32), together, domain)

    def sizes(self, node: Node) -> Groups | None:
        """Asking twice would cost more than it saves."""
        del node
        return None

    def use_threads(self, count: int) -> None:
        """Nothing to do: one node is asked for at a time."""

    def begin(self, node: Node) -> Callable[[], Groups]:
        """Count a node when it is needed."""
        return lambda: self.groups(node)

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Not known here: which row is in which class."""
        del node
        raise InternalError("this engine does not know single rows", code="engine-rows-hidden")

    def all_rows(self, node: Node) -> Groups:
        """Return one class of all rows."""
        histograms = {
            name: Histogram(
                np.array([0, domain.distinct]),
                np.flatnonzero(domain.overall).astype(np.uint32),
                domain.overall[domain.overall > 0],
                domain,
            )
            for name, domain in self._domain.domains.items()
        }
        rows = self._domain.marginals.rows
        return Groups(node, np.array([rows]), _hidden, histograms=histograms, attributes=len(node))


def _are_codes(array: NDArray[Any] | None, length: int) -> TypeGuard[Codes]:
    return array is not None and array.dtype == np.uint32 and array.shape == (length,)


def _hidden(which: Bools) -> Codes:
    """Refuse to say which labels classes have: nobody who knows their sizes may know them."""
    del which
    raise InternalError("the labels of single classes are not known here", code="engine-rows-hidden")
