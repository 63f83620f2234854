"""Which attributes distinguish people: distinction and separation of every attribute set up to a size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from kohorte.errors import InputError
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.risks.shown.alike import Alike
from kohorte.risks.special_uniques import MinimalUniques, SpecialUniques

MOST_SETS = 100_000
USUAL_SIZE = 4


@dataclass(frozen=True)
class AttributeSet:
    """How well a set of attributes distinguishes rows or people.

    `distinction` is the number of different combinations of values divided by the number of rows; `separation` is the
    share of pairs of rows that differ. `uniques` counts the unique rows. For `singled_out` of them no smaller set is
    enough: the set is a minimal sample unique.

    Where people are counted, a person counts once in each of their combinations of values: `distinction` divides by
    these, `separation` is about pairs of them of two different people. `uniques` and `singled_out` count people with a
    combination that only they have. If people are judged by all their rows, their combination is a set of classes.

    Source
        Motwani and Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers, VLDB 2007.
    """

    attributes: tuple[str, ...]
    distinction: float
    separation: float
    uniques: int
    singled_out: int

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {**vars(self), "attributes": list(self.attributes)}


def attribute_sets(
    table: Alike, names: Sequence[str], largest: int, *, progress: ProgressCallback | None = None
) -> tuple[tuple[AttributeSet, ...], SpecialUniques]:
    """Assess all sets of up to `largest` quasi-identifiers, small sets first; 0 assesses none."""
    largest = checked_size(largest, len(names))
    uniques = MinimalUniques(table, names, largest)
    found: list[AttributeSet] = []
    in_all = _sets(largest, len(names))
    for size in range(1, largest + 1):
        for chosen in combinations(range(len(names)), size):
            tell(progress, Stage.COUNTING, "attribute sets", done=len(found), of=in_all, unit="sets")
            split = table.split(chosen)
            own, unique = tuple(names[number] for number in chosen), table.different(split.alone)
            singled_out = uniques.add(chosen, split.alone)
            found.append(AttributeSet(own, split.distinction, split.separation, unique, singled_out))
        uniques.next_size()
    return tuple(found), uniques.found()


def checked_size(largest: object, attributes: int) -> int:
    """Return the size of the largest sets, at most the number of attributes; refuse too many sets."""
    if type(largest) is not int or largest < 0:
        raise InputError(
            f"largest_set (--sets) must be a whole number of at least 0, not {largest!r}",
            code="risk-sets",
        )
    largest = min(largest, attributes)
    if (count := _sets(largest, attributes)) > MOST_SETS:
        raise InputError(
            f"{attributes} quasi-identifiers have {count:,} sets of up to {largest}, too many to assess; give a "
            f"largest_set (--sets) of at most {feasible_size(attributes, largest)}",
            code="risk-sets",
        )
    return largest


def feasible_size(attributes: int, largest: int = USUAL_SIZE) -> int:
    """The largest size, up to the given one, for which the number of sets is feasible."""
    largest = min(largest, attributes)
    return max(size for size in range(largest + 1) if _sets(size, attributes) <= MOST_SETS)


def _sets(largest: int, attributes: int) -> int:
    return sum(math.comb(attributes, size) for size in range(1, largest + 1))
