"""An attacker who may ask as often as they like, to learn about one person; uses no line of the package.

They know the attributes of everybody, choose conditions and columns around their target, ask through several
institutions, wait until the table has grown, and compare all answers. In the worst case they know who is in each class
that was answered. `smallest_group` is the best they can do: people whom no answer tells apart.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Person = Mapping[str, int]
Answer = Mapping[int, int]
"""The class in which an answer shows a person, by the number of the person."""

SIZES = {"age": 90, "sex": 2, "area": 20, "job": 12, "drug": 8}


@dataclass(frozen=True)
class Asked:
    """A request: who asks, which people satisfy the condition, and the columns with how far they are coarsened."""

    recipient: str
    condition: Callable[[Person], bool]
    columns: Mapping[str, int]

    def classes(self, people: Sequence[Person], k: int) -> Answer:
        """The answer that is k-anonymous by itself: classes with fewer than k people are left out."""
        shown = {number: person for number, person in enumerate(people) if self.condition(person)}
        labels = {
            number: tuple(person[name] // width for name, width in self.columns.items())
            for number, person in shown.items()
        }
        sizes = Counter(labels.values())
        numbers = {label: number for number, label in enumerate(sorted(sizes))}
        return {number: numbers[label] for number, label in labels.items() if sizes[label] >= k}


def population(dice: random.Random, size: int) -> list[Person]:
    """Made-up people."""
    return [{name: dice.randrange(values) for name, values in SIZES.items()} for _ in range(size)]


class Attacker:
    """Asks for people around a target."""

    def __init__(self, dice: random.Random, target: Person) -> None:
        self._dice = dice
        self._target = target

    def ask(self) -> Asked:
        """The next request: a condition, perhaps without those who look like the target, and some columns."""
        name = self._dice.choice(list(SIZES))
        wide, out = self._condition(name), self._look_alikes()
        conditions: list[Callable[[Person], bool]] = [
            lambda person: True,
            wide,
            lambda person: not out(person),
            lambda person: wide(person) and not out(person),
            lambda person: not wide(person),
        ]
        columns = {
            column: self._dice.choice((1, 5, 30)) for column in self._dice.sample(list(SIZES), self._dice.randint(0, 2))
        }
        return Asked(f"institution {self._dice.randrange(3)}", self._dice.choice(conditions), columns)

    def _condition(self, name: str) -> Callable[[Person], bool]:
        """People near the target in one attribute."""
        near, at = self._dice.choice((0, 1, 2, 10)), self._target[name]
        return lambda person: abs(person[name] - at) <= near

    def _look_alikes(self) -> Callable[[Person], bool]:
        """People who are like the target in some attributes."""
        names = self._dice.sample(list(SIZES), self._dice.randint(1, 4))
        return lambda person: all(person[name] == self._target[name] for name in names)


def smallest_group(people: int, answers: Iterable[Answer]) -> int:
    """The number of people in the smallest group that some answer shows and that no answer tells apart."""
    told = list(answers)
    seen = [tuple(answer.get(person, -1) for answer in told) for person in range(people)]
    sizes = Counter(group for group in seen if any(one >= 0 for one in group))
    return min(sizes.values(), default=people)
