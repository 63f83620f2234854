"""People instead of rows, by the definitions, in plain Python and without a line of the package.

Source: spec 9. A person counts once in a class, and once for each different sensitive value that they have in it. The
models of values also ask that enough people of a class do not have its most frequent value (docs/people.md). The
distances of t-closeness are those of Li, Li and Venkatasubramanian, t-Closeness, ICDE 2007, section 5: as sums of
cumulated differences where values have an order, and by the recursion over the tree where they have categories.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

from support.oracle import Judged, Node, generalize
from support.tables import SmallTable


@dataclass(frozen=True)
class People:
    """Whom each row of a table is about; what ties rows together; its sensitive values; what the attacker knows."""

    table: SmallTable
    persons: tuple[str, ...]
    values: tuple[str, ...]
    all_rows: bool = False
    links: tuple[str, ...] | None = None

    def judge(self, node: Node, models: Sequence[dict[str, object]], smallest_class: int) -> Judged:
        """Generalize, group and suppress, until every group of people that is left satisfies the models."""
        shown = tuple(generalize(self.table, row, node) for row in self.table.rows)
        included = [self.table.takes_part(row) for row in self.table.rows]
        kept = list(included)
        while True:
            bad = {row for group in self._groups(shown, kept) for row in group if not self.satisfied(group, models)}
            if not bad:
                return Judged(self.table, node, smallest_class, shown, tuple(included), tuple(kept))
            kept = [keeps and row not in bad for row, keeps in enumerate(kept)]

    def _groups(self, shown: Sequence[object], kept: Sequence[bool]) -> list[list[int]]:
        """The rows that are judged together: those of a class and, by sets, those of people with the same set."""
        rows = [row for row, keeps in enumerate(kept) if keeps]
        groups = _grouped(rows, lambda row: shown[row])
        if not self.all_rows and self.links is None:
            return groups
        of_person = {
            self.persons[own[0]]: self._pattern(own, shown) for own in _grouped(rows, self.persons.__getitem__)
        }
        return groups + _grouped(rows, lambda row: of_person[self.persons[row]])

    def _pattern(self, rows: Iterable[int], shown: Sequence[object]) -> object:
        """What an attacker who knows all rows of a person, or sees them tied together, recognises them by."""
        if self.links is None:
            return frozenset(shown[row] for row in rows)
        of_link: dict[str, Counter[object]] = defaultdict(Counter)
        for row in rows:
            of_link[self.links[row]][shown[row]] += 1
        return frozenset(Counter(frozenset(classes.items()) for classes in of_link.values()).items())

    def satisfied(self, rows: Sequence[int], models: Sequence[dict[str, object]]) -> bool:
        people = {self.persons[row] for row in rows}
        holders = Counter(value for _, value in {(self.persons[row], self.values[row]) for row in rows})
        everybody = Counter(value for _, value in set(zip(self.persons, self.values, strict=True)))
        seen = Seen(len(people), holders, len(set(self.persons)), everybody)
        return seen.people >= 2 and all(CONDITIONS[str(model["model"])](seen, model) for model in models)


@dataclass(frozen=True)
class Seen:
    """A group: its people, how many have each value; and the same of the whole table."""

    people: int
    holders: Counter[str]
    table_people: int
    table: Counter[str]

    @property
    def descending(self) -> list[int]:
        return sorted(self.holders.values(), reverse=True)

    def doubted(self, values: int) -> bool:
        return self.people - self.descending[0] >= values - 1


def _grouped(rows: Iterable[int], key: Callable[[int], object]) -> list[list[int]]:
    found: dict[object, list[int]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return list(found.values())


def k_anonymity(seen: Seen, model: dict) -> bool:
    return seen.people >= model["k"]


def distinct(seen: Seen, model: dict) -> bool:
    return len(seen.holders) >= model["l"] and seen.doubted(model["l"])


def entropy(seen: Seen, model: dict) -> bool:
    total = sum(seen.holders.values())
    bits = -sum(count / total * log(count / total) for count in seen.holders.values())
    return bits >= log(model["l"]) - 1e-12 and seen.doubted(model["l"])


def recursive(seen: Seen, model: dict) -> bool:
    counts = seen.descending
    return counts[0] < model["c"] * sum(counts[model["l"] - 1 :]) and seen.doubted(model["l"])


def alpha_k(seen: Seen, model: dict) -> bool:
    return seen.people >= model["k"] and Fraction(seen.descending[0], seen.people) <= Fraction(str(model["alpha"]))


def equal_closeness(seen: Seen, model: dict) -> bool:
    own, table = sum(seen.holders.values()), sum(seen.table.values())
    differences = [
        abs(Fraction(seen.holders[value], own) - Fraction(count, table)) for value, count in seen.table.items()
    ]
    return sum(differences) / 2 <= Fraction(str(model["t"]))


def _differences(seen: Seen) -> dict[str, Fraction]:
    own, table = sum(seen.holders.values()), sum(seen.table.values())
    return {value: Fraction(seen.holders[value], own) - Fraction(count, table) for value, count in seen.table.items()}


def ordered_closeness(seen: Seen, model: dict) -> bool:
    differences = _differences(seen)
    ranked = [differences[value] for value in ORDER if value in differences]
    work = sum(abs(sum(ranked[:end], Fraction())) for end in range(1, len(ranked)))
    return work <= Fraction(str(model["t"])) * (len(ranked) - 1)


def tree_closeness(seen: Seen, model: dict) -> bool:
    differences = _differences(seen)
    work, above = Fraction(), []
    for values in TREE.values():
        moved, left = _exchanged([differences.get(value, Fraction()) for value in values])
        work += Fraction(1, 2) * moved
        above.append(left)
    return work + _exchanged(above)[0] <= Fraction(str(model["t"]))


def _exchanged(extras: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """What the children of a node of the tree exchange, and what is left to be moved above it."""
    more = sum((extra for extra in extras if extra > 0), Fraction())
    less = -sum((extra for extra in extras if extra < 0), Fraction())
    return min(more, less), more - less


def basic_likeness(seen: Seen, model: dict) -> bool:
    shares = [
        (Fraction(count, seen.people), Fraction(seen.table[value], seen.table_people))
        for value, count in seen.holders.items()
    ]
    return all((p - q) / q <= Fraction(str(model["beta"])) for p, q in shares)


def disclosure(seen: Seen, model: dict) -> bool:
    bound = Fraction(2) ** model["delta"]
    ratios = [
        Fraction(seen.holders[value], seen.people) / Fraction(count, seen.table_people)
        for value, count in seen.table.items()
    ]
    return all(1 / bound < ratio < bound for ratio in ratios)


ORDER = ("w", "u", "v")
TREE = {"first": ("u", "w"), "second": ("v",)}
"""The order of the sensitive values, and their categories, two of three levels with the value and `*`."""

CONDITIONS: dict[str, Callable[[Seen, dict], bool]] = {
    "k-anonymity": k_anonymity,
    "l-diversity_distinct": distinct,
    "l-diversity_entropy": entropy,
    "l-diversity_recursive": recursive,
    "alpha-k-anonymity": alpha_k,
    "t-closeness_equal": equal_closeness,
    "t-closeness_ordered": ordered_closeness,
    "t-closeness_hierarchical": tree_closeness,
    "beta-likeness_basic": basic_likeness,
    "delta-disclosure": disclosure,
}
