"""The engine of the member that knows the sizes of classes but not the classes: it asks for counters of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    def add(self, counters: Cells, group_of: Codes, groups: int) -> Cells:
        """Add up the encrypted counters of each group."""


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


@dataclass(frozen=True, eq=False)
class Answer:
    """The counters of the cells of a node: a class with one combination of sensitive values each."""

    node: Node
    class_of: Codes = field(repr=False)
    cells: Cells = field(repr=False)
    rows: Counts = field(repr=False)  # of each class, dummy rows included
    codes: Codes | None = field(repr=False)
    values: tuple[Codes, ...] = field(repr=False)
    sizes: Counts = field(repr=False)  # of each class, decrypted

    @property
    def real(self) -> Counts:
        """The classes that have people."""
        return np.flatnonzero(self.sizes)


class CounterEngine:
    """Counts the classes of nodes that another member knows.

    Decrypting a counter takes far longer than adding it. So the sizes of classes are decrypted first, and how people
    are divided among sensitive values only for classes of at least `least` people: smaller ones are never released.
    """

    name: ClassVar[str] = "counters"

    def __init__(self, domain: TrueDomain, counter: Counter, least: int = 1) -> None:
        self._domain, self._counter, self._least = domain, counter, least
        self._last: Answer | None = None
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
        """Return the classes of a node that have people, in random order.

        A class that is too small to be released is said to have the most frequent value of each sensitive attribute.
        """
        answer = self._answer(node)
        self.kept_order[node] = answer.real, answer.rows
        return replace(self._without_values(answer), histograms=self._histograms(answer))

    def sizes(self, node: Node) -> Groups | None:
        """Return the classes of a node without their sensitive values, if there are any to be left out."""
        return self._without_values(self._answer(node)) if self._domain.domains else None

    def _without_values(self, answer: Answer) -> Groups:
        real, codes = answer.real, answer.codes
        return Groups(
            node=answer.node,
            sizes=answer.sizes[real],
            codes=_hidden if codes is None else lambda which: codes[real[which]],
            excluded=self._domain.excluded,
            attributes=len(answer.node),
        )

    def _answer(self, node: Node) -> Answer:
        """Ask for a node, unless it was the last one that was asked for."""
        if self._last is None or self._last.node != node:
            self._last = self._asked(node)
        return self._last

    def _asked(self, node: Node) -> Answer:
        facts, arrays = unpack(self._counter.ask(node, self._domain.exact))
        classes, class_of, cells = facts.get("classes"), arrays.get("class"), arrays.get("counters")
        rows, codes = arrays.get("rows"), arrays.get("codes")
        if type(classes) is not int or cells is None or not _are_codes(class_of, len(cells)):
            raise malformed("it does not count classes")
        if rows is None or rows.shape != (classes,) or rows.dtype.kind not in "ui":
            raise malformed("it does not count rows")
        highest = int(class_of.max()) if len(class_of) else -1
        if not highest < classes <= len(cells) or not np.bincount(class_of, minlength=classes).all():
            raise malformed("it counts a class that is not there")
        if codes is not None and not self._are_labels(codes, classes, node):
            raise malformed("its codes do not fit its classes")
        values = tuple(
            self._values(arrays.get(f"s{number}"), len(cells), domain)
            for number, domain in enumerate(self._domain.domains.values())
        )
        of_classes = (
            cells[np.argsort(class_of)] if classes == len(cells) else self._counter.add(cells, class_of, classes)
        )
        sizes = self._counter.decrypt(of_classes)
        return Answer(node, class_of, cells, rows, codes, values, sizes)

    @staticmethod
    def _values(values: NDArray[Any] | None, cells: int, domain: Domain) -> Codes:
        if not _are_codes(values, cells) or int(values.max(initial=0)) >= len(domain.overall):
            raise malformed("its values do not fit its classes")
        return values

    def _histograms(self, answer: Answer) -> dict[str, Histogram]:
        if not self._domain.domains:
            return {}
        real = answer.real
        large = answer.sizes >= self._least
        shown = np.flatnonzero(large[answer.class_of])
        counts = self._counter.decrypt(answer.cells[shown])
        small = real[~large[real]]
        place = np.zeros(len(answer.sizes), dtype=np.int64)
        place[real] = np.arange(len(real))
        class_of = np.concatenate([place[answer.class_of[shown]], place[small]])
        people = np.concatenate([counts, answer.sizes[small]])
        return {
            name: _histogram(domain, class_of, np.concatenate([values[shown], _most_frequent(domain, small)]), people)
            for (name, domain), values in zip(self._domain.domains.items(), answer.values, strict=True)
        }

    def _are_labels(self, codes: NDArray[Any], classes: int, node: Node) -> bool:
        """Whether each class has the code of a label of each column."""
        columns = zip(self._domain.marginals.columns, node, strict=True)
        labels = np.array([len(column.shares[level]) for column, level in columns])
        fits = codes.shape == (classes, len(node)) and codes.dtype == np.uint32
        return fits and bool((codes < labels).all())

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


def _most_frequent(domain: Domain, classes: Counts) -> Codes:
    """A value that people have, for each of these classes; some values are only in dummy rows."""
    return np.full(len(classes), np.argmax(domain.overall), dtype=np.uint32)


def _histogram(domain: Domain, class_of: Counts, values: Codes, people: Counts) -> Histogram:
    """How the people of each class are divided among the values of an attribute; a cell without people is left out."""
    some, width = people > 0, len(domain.overall)
    keys, of = np.unique(class_of[some] * width + values[some], return_inverse=True)
    together = np.bincount(of, weights=people[some], minlength=len(keys)).astype(np.int64)
    classes = keys // width
    starts = np.searchsorted(classes, np.arange(int(classes.max(initial=-1)) + 2))
    return Histogram(starts, (keys % width).astype(np.uint32), together, domain)


def _are_codes(array: NDArray[Any] | None, length: int) -> TypeGuard[Codes]:
    return array is not None and array.dtype == np.uint32 and array.shape == (length,)


def _hidden(which: Bools) -> Codes:
    """Refuse to say which labels classes have: nobody who knows their sizes may know them."""
    del which
    raise InternalError("the labels of single classes are not known here", code="engine-rows-hidden")
