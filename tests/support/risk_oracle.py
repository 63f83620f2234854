"""The risk of people, by the definitions of docs/people.md, in plain Python and without a line of the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod

Cells = tuple[str | None, ...]


@dataclass(frozen=True)
class Stay:
    """A row: whom it is about, what it shows, and what ties it to other rows of the person."""

    person: str
    cells: Cells
    link: str = ""

    @property
    def suppressed(self) -> bool:
        return all(cell == "*" for cell in self.cells)


@dataclass(frozen=True)
class PeopleAtRisk:
    """The people of a table; judged by each row, by the set of all their rows (`sets`), or by tied rows (`links`)."""

    stays: Sequence[Stay]
    columns: int
    sets: bool = False
    links: bool = False

    @cached_property
    def kept(self) -> list[Stay]:
        return [stay for stay in self.stays if not stay.suppressed]

    @cached_property
    def people(self) -> set[str]:
        return {stay.person for stay in self.kept}

    @property
    def everything(self) -> tuple[int, ...]:
        return tuple(range(self.columns))

    def looks(self, person: str, chosen: Sequence[int]) -> set[object]:
        """What the person is recognised by, in some of the columns: one look for each row, or one for all rows."""
        rows = [stay for stay in self.kept if stay.person == person]
        if self.links:
            tied: dict[str, Counter[Cells]] = defaultdict(Counter)
            for stay in rows:
                tied[stay.link][_part(stay.cells, chosen)] += 1
            return {frozenset(Counter(frozenset(cells.items()) for cells in tied.values()).items())}
        looks = {_part(stay.cells, chosen) for stay in rows}
        return {frozenset(looks)} if self.sets else set(looks)

    def alike(self, chosen: Sequence[int]) -> dict[object, set[str]]:
        """The people with each look."""
        found: dict[object, set[str]] = defaultdict(set)
        for person in self.people:
            for look in self.looks(person, chosen):
                found[look].add(person)
        return found

    # The risk of people

    @cached_property
    def fewest_alike(self) -> dict[str, int]:
        """The smallest number of people among whom each person is hidden."""
        groups = self.alike(self.everything)
        return {
            person: min(len(groups[look]) for look in self.looks(person, self.everything)) for person in self.people
        }

    @cached_property
    def risks(self) -> list[Fraction]:
        return [Fraction(1, alike) for alike in self.fewest_alike.values()]

    def risks_by(self, population: Counter[Cells]) -> dict[str, Fraction]:
        """The highest risk of each person if so many people of a population have each look."""
        return {
            person: max(Fraction(1, population[look]) for look in self.looks(person, self.everything))
            for person in self.people
        }

    # Attribute sets

    def distinction(self, chosen: Sequence[int]) -> Fraction:
        groups = self.alike(chosen)
        return Fraction(len(groups), sum(map(len, groups.values())))

    def separation(self, chosen: Sequence[int]) -> Fraction:
        """The share of pairs of looks of two different people that differ, pair by pair."""
        looks = [(person, look) for person in self.people for look in self.looks(person, chosen)]
        pairs = [(one, other) for one, other in combinations(looks, 2) if one[0] != other[0]]
        return Fraction(sum(one[1] != other[1] for one, other in pairs), len(pairs)) if pairs else Fraction(0)

    def unique_by(self, chosen: Sequence[int]) -> set[str]:
        return {next(iter(people)) for people in self.alike(chosen).values() if len(people) == 1}

    def minimal(self, largest: int) -> dict[tuple[str, object], set[tuple[int, ...]]]:
        """The minimal sets of columns that single out each person, for each look in all columns."""
        sets = [chosen for size in range(1, largest + 1) for chosen in combinations(self.everything, size)]
        groups = {chosen: self.alike(chosen) for chosen in sets}
        found = {}
        for person in self.people:
            for look, parts in self._parts(person, sets):
                alone = {chosen for chosen in sets if len(groups[chosen][parts[chosen]]) == 1}
                own = {chosen for chosen in alone if not any(set(part) < set(chosen) for part in alone)}
                if own:
                    found[person, look] = own
        return found

    def _parts(self, person: str, sets: Iterable[tuple[int, ...]]) -> Iterable[tuple[object, dict]]:
        """Each look of a person in all columns, and what is seen of it in fewer columns."""
        if self.sets or self.links:
            (look,) = self.looks(person, self.everything)
            yield look, {chosen: next(iter(self.looks(person, chosen))) for chosen in sets}
            return
        for look in {stay.cells for stay in self.kept if stay.person == person}:
            yield look, {chosen: _part(look, chosen) for chosen in sets}

    def scores(self, largest: int) -> dict[tuple[str, object], int]:
        """The score of each look that is singled out."""
        return {
            key: sum(self._weight(len(chosen), largest) for chosen in own) for key, own in self.minimal(largest).items()
        }

    def highest_scores(self, largest: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for (person, _), score in self.scores(largest).items():
            found[person] = max(score, found.get(person, 0))
        return found

    def contribution(self, column: int, largest: int) -> Fraction:
        """The share of the people's highest scores that sets with the column make; equal rows count in equal parts."""
        minimal, scores, highest = self.minimal(largest), self.scores(largest), self.highest_scores(largest)
        if not highest:
            return Fraction(0)
        share = Fraction(0)
        for person, score in highest.items():
            best = [key for key, own in scores.items() if key[0] == person and own == score]
            share += Fraction(
                sum(self._weight(len(chosen), largest) for key in best for chosen in minimal[key] if column in chosen),
                len(best),
            )
        return share / sum(highest.values())

    def _weight(self, size: int, largest: int) -> int:
        return prod(self.columns - step for step in range(size, largest))


def _part(cells: Cells, chosen: Sequence[int]) -> Cells:
    return tuple(cells[column] for column in chosen)
