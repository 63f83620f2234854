"""The conditions of the privacy models, row by row, in plain Python and exact fractions, without a line of the package.

Source: spec 1.2, equations 2.1 to 2.8 of the dissertation, and the papers that the pages of the models name. Every
decimal number of a plan is taken as it is written: 0.2 is 1/5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

from support.oracle import Node, Row, generalize, label
from support.tables import Levels, SmallTable

Values = Sequence[str | None]
Entry = Mapping[str, object]
"""A model as a plan writes it."""


@dataclass(frozen=True)
class Seen:
    """A class: the sensitive values of its rows, and of all rows of the table, suppressed ones included.

    `people` of the population look like it. `neighbours` are the sensitive values of the groups of kept rows that
    agree with it in all quasi-identifiers but one.
    """

    rows: int
    values: Values
    table: Values
    levels: Levels
    order: tuple[str, ...]
    people: int
    neighbours: list[Values]


def exact(number: object) -> Fraction:
    return Fraction(str(number))


def share(value: object, values: Values) -> Fraction:
    return Fraction(list(values).count(value), len(values))


def descending(seen: Seen) -> list[int]:
    return sorted(Counter(seen.values).values(), reverse=True)


# Conditions on one class


def k_anonymity(seen: Seen, entry: Entry) -> bool:
    return seen.rows >= entry["k"]


def distinct(seen: Seen, entry: Entry) -> bool:
    return len(set(seen.values)) >= entry["l"]


def entropy(seen: Seen, entry: Entry) -> bool:
    """-sum p log p >= log l, both sides as powers: the product of p^-count is at least l^n."""
    product = Fraction(1)
    for count in descending(seen):
        product *= Fraction(seen.rows, count) ** count
    return product >= exact(entry["l"]) ** seen.rows


def recursive(seen: Seen, entry: Entry) -> bool:
    counts = descending(seen)
    return counts[0] < exact(entry["c"]) * sum(counts[entry["l"] - 1 :])


def equal(seen: Seen, entry: Entry) -> bool:
    return equal_distance(seen.values, seen.table) <= exact(entry["t"])


def equal_distance(some: Values, others: Values) -> Fraction:
    return sum(abs(share(value, some) - share(value, others)) for value in {*some, *others}) / 2


def ordered(seen: Seen, entry: Entry) -> bool:
    return ordered_distance(seen) <= exact(entry["t"])


def ordered_distance(seen: Seen) -> Fraction:
    """Equation 2.2, over the values that occur."""
    values = [value for value in seen.order if value in seen.table]
    extra = [share(value, seen.values) - share(value, seen.table) for value in values]
    sums = [abs(sum(extra[: place + 1])) for place in range(len(extra))]
    return sum(sums) / (len(values) - 1) if len(values) > 1 else Fraction(0)


def hierarchical(seen: Seen, entry: Entry) -> bool:
    return hierarchical_distance(seen) <= exact(entry["t"])


def hierarchical_distance(seen: Seen) -> Fraction:
    """Equations 2.4 to 2.8: `extra[level][label]` of every node of the tree."""
    height = len(seen.levels) - 1
    values = set(seen.table)
    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in {label(seen.levels, value, level) for value in values}:
            below = [value for value in values if label(seen.levels, value, level) == node]
            extra: Counter[str | None] = Counter()
            for value in below:
                extra[label(seen.levels, value, level - 1)] += share(value, seen.values) - share(value, seen.table)
            positive = sum(more for more in extra.values() if more > 0)
            negative = -sum(more for more in extra.values() if more < 0)
            cost += Fraction(level, height) * min(positive, negative)
    return cost


def presence(seen: Seen, entry: Entry) -> bool:
    return exact(entry["minimum"]) <= Fraction(seen.rows, seen.people) <= exact(entry["maximum"])


def k_map(seen: Seen, entry: Entry) -> bool:
    return seen.people >= entry["k"]


def alpha_k(seen: Seen, entry: Entry) -> bool:
    return seen.rows >= entry["k"] and Fraction(descending(seen)[0], seen.rows) <= exact(entry["alpha"])


def disclosure(seen: Seen, entry: Entry) -> bool:
    """|log2(p / q)| < delta for every value of the table; with delta = a / b, that is 2^-a < (p / q)^b < 2^a."""
    delta = exact(entry["delta"])
    bound = Fraction(2) ** delta.numerator
    ratios = [share(value, seen.values) / share(value, seen.table) for value in set(seen.table)]
    return all(1 / bound < ratio**delta.denominator < bound for ratio in ratios)


def gains(seen: Seen) -> list[tuple[Fraction, Fraction]]:
    """Of every value of a class: its share q of the table, and (p - q) / q."""
    pairs = [(share(value, seen.table), share(value, seen.values)) for value in set(seen.values)]
    return [(q, (p - q) / q) for q, p in pairs]


def basic_likeness(seen: Seen, entry: Entry) -> bool:
    return all(gain <= exact(entry["beta"]) for _, gain in gains(seen))


def enhanced_likeness(seen: Seen, entry: Entry) -> bool:
    """(p - q) / q <= min(beta, -ln q): the logarithm is a fraction only for q = 1."""
    return basic_likeness(seen, entry) and all(gain <= 0 if q == 1 else gain <= -log(q) for q, gain in gains(seen))


def n_t_closeness(seen: Seen, entry: Entry) -> bool:
    groups = [seen.values, *seen.neighbours, seen.table]
    return any(len(group) >= entry["n"] and equal_distance(seen.values, group) <= exact(entry["t"]) for group in groups)


def nothing(seen: Seen, entry: Entry) -> bool:
    return True


CONDITIONS: dict[str, Callable[[Seen, Entry], bool]] = {
    "k-anonymity": k_anonymity,
    "l-diversity_distinct": distinct,
    "l-diversity_entropy": entropy,
    "l-diversity_recursive": recursive,
    "t-closeness_equal": equal,
    "t-closeness_ordered": ordered,
    "t-closeness_hierarchical": hierarchical,
    "delta-presence": presence,
    "k-map": k_map,
    "alpha-k-anonymity": alpha_k,
    "delta-disclosure": disclosure,
    "beta-likeness_basic": basic_likeness,
    "beta-likeness_enhanced": enhanced_likeness,
    "n-t-closeness": n_t_closeness,
    "average-risk": nothing,
    "safe-harbor": nothing,
}


# Tables


def classes(table: SmallTable, node: Node) -> dict[Row, list[int]]:
    """The numbers of the rows of each class, by what the output shows of it."""
    found: dict[Row, list[int]] = {}
    for number, row in enumerate(table.rows):
        if table.takes_part(row):
            found.setdefault(generalize(table, row, node), []).append(number)
    return found


def satisfying(table: SmallTable, node: Node, entry: Entry, among: set[Row] | None = None) -> set[Row]:
    """The classes that satisfy a model; `among` are those that are to stay."""
    holds = CONDITIONS[entry["model"]]
    return {shown for shown in classes(table, node) if holds(see(table, node, shown, entry, among), entry)}


def see(table: SmallTable, node: Node, shown: Row, entry: Entry, among: set[Row] | None) -> Seen:
    every = classes(table, node)
    secret = dict(table.secrets).get(str(entry.get("attribute")))
    values = secret.values if secret else (None,) * len(table.rows)
    everybody = [row for row in table.rows + (table.others or ()) if table.takes_part(row)]
    neighbours = []
    for attribute in range(len(node)):
        agree = [
            rows
            for other, rows in every.items()
            if (among is None or other in among)
            and all(other[place] == shown[place] for place in range(len(node)) if place != attribute)
        ]
        neighbours.append([values[number] for rows in agree for number in rows])
    return Seen(
        rows=len(every[shown]),
        values=[values[number] for number in every[shown]],
        table=values,
        levels=secret.levels if secret else (),
        order=secret.order if secret else (),
        people=sum(generalize(table, row, node) == shown for row in everybody),
        neighbours=neighbours,
    )


def holds_for_all(table: SmallTable, node: Node, entry: Entry, kept: set[Row]) -> bool:
    """The conditions on all kept classes together."""
    every = classes(table, node)
    if entry["model"] == "average-risk":
        return len(kept) <= exact(entry["threshold"]) * sum(len(every[shown]) for shown in kept)
    if entry["model"] == "delta-presence" and entry["minimum"] > 0 and entry.get("empty_classes") != "ignore":
        return all(generalize(table, row, node) in every for row in table.others or () if table.takes_part(row))
    return True


def kept_classes(table: SmallTable, node: Node, entries: Sequence[Entry]) -> set[Row]:
    """The classes that stay: leave out what fails, then the smallest ones until the conditions on all hold."""
    every = classes(table, node)
    kept = set(every)
    while True:
        before = set()
        while kept != before:
            before = kept
            kept = kept.intersection(*(satisfying(table, node, entry, kept) for entry in entries))
        if not kept or all(holds_for_all(table, node, entry, kept) for entry in entries):
            return kept
        smallest = min(len(every[shown]) for shown in kept)
        kept = {shown for shown in kept if len(every[shown]) > smallest}
