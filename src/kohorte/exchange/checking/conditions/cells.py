"""Whether a condition singles people out by what others know about them, before anything is answered.

Two answers, or an answer and a refusal, tell whether leaving somebody out makes a difference: asking for drug X, then
for drug X without farmers of 47, tells whether such a farmer gets X. Therefore the comparisons of a condition that look
at quasi-identifiers divide all people of the table, treated or not, into cells. Every cell that has anybody must have k
people, and the smallest cell that the condition can describe must be expected for enough people of the area. Neither
depends on who satisfies the rest of the condition, so that a refusal says nothing about it.

A value that is written in several spellings is one value, and values that nobody of the table has do not make a cell
larger: members of parliament or pilots, where there is no pilot, are members of parliament.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.shown_labels import numbered_classes, people_per_value
from kohorte.exchange.request import Condition, satisfied_without, selected_rows
from kohorte.exchange.request.selection import DATE
from kohorte.exchange.statistics import Frequency
from kohorte.exchange.statistics.entries import OLDEST, comparable
from kohorte.kernels.arrays import Bools, Integers


def cells_of(table: pl.DataFrame, look: GlobalLook) -> Integers:
    """A number for each row of the table: the cell into which the comparisons of known attributes divide it."""
    return _numbered(_known(look), table)


def _numbered(comparisons: list[Condition], table: pl.DataFrame) -> Integers:
    flags = [selected_rows(table, one).cast(pl.String).alias(str(at)) for at, one in enumerate(comparisons)]
    return numbered_classes(pl.DataFrame(flags)) if flags else np.zeros(table.height, dtype=np.int64)


def cell_problem(table: pl.DataFrame, cells: Integers, people: Integers, look: GlobalLook) -> str | None:
    """Why the condition describes too few people; None if it does not."""
    known = _known(look)
    if not known:
        return None
    policy = look.holding.policy
    expected = _smallest_share(known, look, table, people) * look.holding.population
    if expected < policy.rare_combination:
        return (
            f"what the condition says about known attributes can fit fewer than {policy.rare_combination} people of "
            "the area, or the statistics do not know how many"
        )
    if int(people_per_value(cells, people).min(initial=policy.k)) < policy.k:
        return (
            f"what the condition says about known attributes divides the patients into groups of which one has fewer "
            f"than {policy.k} people"
        )
    return None


def sensitive_facts(table: pl.DataFrame, look: GlobalLook) -> dict[str, tuple[Integers, ...]]:
    """What is true of each row (-1: nothing) in each sensitive attribute that the condition looks at.

    That is its value, whether each comparison of it holds, and whether the condition does as far as it depends on
    sensitive attributes: with whatever others may know, or with some of it. That a comparison does not hold counts if
    the request asks for this, and if it holds for most rows: who asks for three of five drugs learns who gets none of
    them. There is none if being in the answer is not sensitive.
    """
    secret = [(one, no) for one, no in _comparisons(look.request.condition) if not _is_known(one, look)]
    facts: dict[str, tuple[Integers, ...]] = {one.attribute: (values_of(table[one.attribute]),) for one, _ in secret}
    for one, no in secret:
        facts[one.attribute] += (_fact(selected_rows(table, one), no=no),)
    if len(secret) > 1:
        satisfied = satisfied_without(table, look.request.condition, {one.attribute for one in _known(look)})
        whole = tuple(_fact(satisfied.fill_null(value=known), no=False) for known in (True, False))
        facts = {name: (*own, *whole) for name, own in facts.items()}
    return facts


def _fact(holds: pl.Series, *, no: bool) -> Integers:
    """Whether something holds for each row: 0; if not, -1, or 1 if that it does not hold is a fact, too."""
    true = holds.to_numpy()
    both = no or 2 * np.count_nonzero(true) > len(true)
    return np.where(true, 0, 1 if both else -1)


def told_of(table: pl.DataFrame, look: GlobalLook) -> dict[str, Bools]:
    """For each of several sensitive attributes that the condition looks at, the rows of which an answer tells it.

    Who asks for those who get X and have E11, and for all who get X, learns how many of them have E11, as if the
    diagnoses of those who get X were shown. Of a single attribute, it is told of everybody.
    """
    secret = dict.fromkeys(one.attribute for one in look.request.condition.comparisons() if not _is_known(one, look))
    return {
        name: satisfied_without(table, look.request.condition, [name]).is_null().to_numpy()
        for name in secret
        if len(secret) > 1
    }


def _comparisons(condition: Condition, *, no: bool = False) -> Iterator[tuple[Condition, bool]]:
    """Each comparison of a condition, and whether the condition asks for those of whom it does not hold."""
    if not condition.parts:
        yield condition, no
    for part in condition.parts:
        yield from _comparisons(part, no=no != (condition.operator == "not"))


def values_of(column: pl.Series) -> Integers:
    """A number for each row, the same for the same value; -1: it has none."""
    text = as_text(column)
    return np.where(text.is_null().to_numpy(), -1, numbered_classes(text.to_frame()))


def _known(look: GlobalLook) -> list[Condition]:
    return [one for one in look.request.condition.comparisons() if _is_known(one, look)]


def _is_known(one: Condition, look: GlobalLook) -> bool:
    """Whether others may know the attribute of a comparison."""
    return look.holding.plan.attributes[one.attribute].role is not Role.SENSITIVE


def _smallest_share(known: list[Condition], look: GlobalLook, table: pl.DataFrame, people: Integers) -> float:
    """The share of the world in the smallest cell: attributes are taken for independent.

    No statistics know how many people were admitted or born in some months. There, the patients of the table count.
    """
    share = 1.0
    for name in dict.fromkeys(one.attribute for one in known):
        own = [one for one in known if one.attribute == name]
        if name not in look.holding.statistics and _are_dates(table[name]):
            share *= min(1.0, _fewest(own, table, people) / look.holding.population)
        else:
            share *= min(_cells(own, look, table[name]), default=1.0)
    return share


def _are_dates(column: pl.Series) -> bool:
    present = as_text(column).drop_nulls()
    return bool(len(present)) and bool(present.str.contains(DATE).all())


def _fewest(own: list[Condition], table: pl.DataFrame, people: Integers) -> int:
    """The number of people in the smallest cell into which some comparisons divide the table."""
    return int(people_per_value(_numbered(own, table), people).min(initial=len(people)))


def _cells(own: list[Condition], look: GlobalLook, column: pl.Series) -> Iterator[float]:
    """The shares of the cells into which the comparisons of one attribute divide the world; 0 for a gap."""
    name = own[0].attribute
    gap = 0.0 if look.holding.policy.gaps == "rare" else 1.0
    if all(one.operator in ("at_least", "at_most") for one in own) and look.holding.statistics.get(name) == "age":
        for low, high in _spans(own):
            yield _share(look, name, f"{low}-{high}", gap)
        return
    if any(one.operator not in ("is", "in") for one in own):
        yield gap
        return
    texts = as_text(column).drop_nulls().unique().to_frame()
    signatures: dict[str, frozenset[int]] = {}
    for at, one in enumerate(own):
        for value in _meant(one, texts):
            signatures[value] = signatures.get(value, frozenset()) | {at}
    sums: dict[frozenset[int], float] = {}
    for text, signature in signatures.items():
        sums[signature] = sums.get(signature, 0.0) + _share(look, name, text, gap)
    yield from sums.values()
    yield max(0.0, 1.0 - sum(sums.values())) if gap == 0.0 else 1.0


def _meant(one: Condition, texts: pl.DataFrame) -> set[str]:
    """The different values of the column that a comparison selects; those that it names if nobody has any of them."""
    here = texts.to_series().filter(selected_rows(texts, one)).to_list()
    return {comparable(value) for value in here or map(str, one.values)}


def _spans(own: list[Condition]) -> Iterator[tuple[int, int]]:
    """The spans of ages between the bounds of comparisons."""
    starts = {0}
    for one in own:
        bound = float(one.values[0])
        starts.add(int(np.ceil(bound)) if one.operator == "at_least" else int(np.floor(bound)) + 1)
    ordered = sorted(start for start in starts if 0 <= start <= OLDEST)
    for low, after in zip(ordered, [*ordered[1:], OLDEST + 1], strict=True):
        yield low, after - 1


def _share(look: GlobalLook, name: str, value: str, gap: float) -> float:
    found = look.frequency(name, value)
    return found.share if isinstance(found, Frequency) else gap
