"""Ways to merge categories, and the resulting survey."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from kohorte.survey.questionnaire.parts import JointTable, Question
from kohorte.survey.questionnaire.survey import Block, Survey

Partition = tuple[tuple[int, ...], ...]
"""The positions of the categories of a question, in groups that are merged."""

MOST_ORDERED = 11
MOST_UNORDERED = 7
MOST_IN_PAIRS = 40
MOST_IN_TABLES = 200
MOST_OPTIONS = 5_000


@dataclass(frozen=True)
class Option:
    """One way to merge the categories of the questions of a block."""

    partitions: tuple[Partition, ...]
    entropy: float
    changes: int


def is_left_out(partition: Partition) -> bool:
    """Whether all categories are merged into one, so that the question need not be asked."""
    return len(partition) == 1


def changes_of(partition: Partition) -> int:
    """The number of changes: one for a question left out, or one per group of merged categories."""
    if len(partition) == 1:
        return int(len(partition[0]) > 1)
    return sum(len(group) > 1 for group in partition)


def unchanged(count: int) -> Partition:
    """The partition that merges nothing."""
    return tuple((position,) for position in range(count))


def options_of(block: Block, survey: Survey) -> tuple[list[Option], bool]:
    """Ways to merge the categories of a block, and whether these are all ways."""
    questions = [survey.questions[name] for name in block.questions]
    choices = [partitions_of(question, _margin(block, axis)) for axis, question in enumerate(questions)]
    complete = all(whole for _, whole in choices)
    lists = [found for found, _ in choices]
    combined: Iterator[tuple[Partition, ...]] = itertools.product(*lists)
    if math.prod(len(found) for found in lists) > MOST_OPTIONS:
        complete, combined = False, _one_at_a_time(lists)
    cells = np.array([float(probability) for probability in block.probabilities]).reshape(block.shape)
    found = {partitions: _option(cells, partitions) for partitions in combined}
    return sorted(found.values(), key=lambda option: (-option.entropy, option.changes, option.partitions)), complete


def _one_at_a_time(lists: Sequence[Sequence[Partition]]) -> Iterator[tuple[Partition, ...]]:
    """Merges in one question, with the others unchanged or left out."""
    for others in ([max(found, key=len) for found in lists], [min(found, key=len) for found in lists]):
        for axis, found in enumerate(lists):
            for partition in found:
                yield (*others[:axis], partition, *others[axis + 1 :])


def _option(cells: npt.NDArray[np.float64], partitions: tuple[Partition, ...]) -> Option:
    for axis, partition in enumerate(partitions):
        if len(partition) < cells.shape[axis]:
            cells = np.stack([cells.take(group, axis=axis).sum(axis=axis) for group in partition], axis=axis)
    used = cells[cells > 0]
    return Option(partitions, max(0.0, -float(used @ np.log2(used))), sum(map(changes_of, partitions)))


def merged_probabilities(block: Block, partitions: Sequence[Partition]) -> tuple[Fraction, ...]:
    """The probabilities of the combinations of merged categories."""
    group_of = [
        {position: number for number, group in enumerate(partition) for position in group} for partition in partitions
    ]
    shape = [len(partition) for partition in partitions]
    found = [Fraction()] * math.prod(shape)
    for probability, positions in zip(block.probabilities, itertools.product(*map(range, block.shape)), strict=True):
        number = 0
        for groups, length, position in zip(group_of, shape, positions, strict=True):
            number = number * length + groups[position]
        found[number] += probability
    return tuple(found)


def _margin(block: Block, axis: int) -> list[float]:
    cells = np.array([float(probability) for probability in block.probabilities]).reshape(block.shape)
    others = tuple(other for other in range(len(block.shape)) if other != axis)
    margin: list[float] = cells.sum(axis=others).tolist()
    return margin


def partitions_of(question: Question, frequencies: Sequence[float]) -> tuple[list[Partition], bool]:
    """Ways to merge the categories of a question, and whether these are all ways.

    Only the unchanged one, if the question forbids merging. All ways, if there are few. Otherwise, for each number of
    categories, the one of the largest entropy (for categories without order: the two rarest merged repeatedly), and all
    merges of one run of neighbours or of one pair.
    """
    count = len(frequencies)
    if not question.merge:
        return [unchanged(count)], True
    if question.ordered:
        if count <= MOST_ORDERED:
            return list(_runs(count)), True
        found = [unchanged(count), *_single_runs(count)]
        found += _best_runs(frequencies) if count <= MOST_IN_TABLES else _even_runs(count)
    else:
        if count <= MOST_UNORDERED:
            return list(_set_partitions(count)), True
        found = [unchanged(count), *_rarest_merged(frequencies), *_pairs(count)]
    return list(dict.fromkeys(found)), False


def _runs(count: int) -> Iterator[Partition]:
    for borders in itertools.product((True, False), repeat=count - 1):
        yield _cut([position + 1 for position, border in enumerate(borders) if border], count)


def _cut(borders: Sequence[int], count: int) -> Partition:
    return tuple(tuple(range(start, end)) for start, end in itertools.pairwise([0, *borders, count]))


def _single_runs(count: int) -> Iterator[Partition]:
    if count <= MOST_IN_PAIRS:
        for start, end in itertools.combinations(range(count + 1), 2):
            yield _cut([*range(1, start + 1), *range(end, count)] if start else [*range(end, count)], count)


def _even_runs(count: int) -> Iterator[Partition]:
    """Runs of equal length: 2, 4, 8, and so on."""
    width = 2
    while width < 2 * count:
        yield _cut(range(width, count, width), count)
        width *= 2


def _best_runs(frequencies: Sequence[float]) -> Iterator[Partition]:
    """For each number of groups, the merge of neighbours with the largest entropy (dynamic programming)."""
    count = len(frequencies)
    sums = np.concatenate([[0.0], np.cumsum(frequencies)])
    mass = np.maximum(sums[None, :] - sums[:, None], 0.0)
    gain = np.where(np.triu(np.ones_like(mass), 1) > 0, -mass * np.log2(np.where(mass > 0, mass, 1.0)), -np.inf)
    best, before = gain[0], []
    yield _cut([], count)
    for _ in range(2, count):
        reached = best[:, None] + gain
        before.append(np.argmax(reached, axis=0))
        best = np.max(reached, axis=0)
        borders = [count]
        for step in reversed(before):
            borders.append(int(step[borders[-1]]))
        yield _cut(borders[:0:-1], count)


def _set_partitions(count: int) -> Iterator[Partition]:
    if count == 1:
        yield ((0,),)
        return
    last = count - 1
    for smaller in _set_partitions(last):
        yield (*smaller, (last,))
        for position, group in enumerate(smaller):
            yield (*smaller[:position], (*group, last), *smaller[position + 1 :])


def _rarest_merged(frequencies: Sequence[float]) -> Iterator[Partition]:
    groups: list[tuple[float, tuple[int, ...]]] = [
        (frequency, (position,)) for position, frequency in enumerate(frequencies)
    ]
    while len(groups) > 1:
        (first, one), (second, other), *rest = sorted(groups)
        groups = [*rest, (first + second, tuple(sorted(one + other)))]
        yield tuple(sorted(group for _, group in groups))


def _pairs(count: int) -> Iterator[Partition]:
    if count <= MOST_IN_PAIRS:
        for one, other in itertools.combinations(range(count), 2):
            alone = [(position,) for position in range(count) if position not in (one, other)]
            yield tuple(sorted([*alone, (one, other)]))


@dataclass(frozen=True)
class _Merged:
    """A survey with merged categories, as the estimators need it."""

    shape: tuple[int, ...]
    blocks: tuple[Block, ...]


class MergedBlocks:
    """The blocks of a survey with merged categories, each built once for many combinations of options."""

    def __init__(self, blocks: Sequence[Block], units: Sequence[Sequence[Option]]) -> None:
        self._blocks, self._units = blocks, units
        self._made: dict[tuple[int, int], Block] = {}

    def of(self, options: Sequence[int]) -> _Merged:
        """The survey with one option for each block, without the questions that are left out."""
        made = [self._block(position, option) for position, option in enumerate(options)]
        shape = tuple(length for block in made for length in block.shape)
        return _Merged(shape or (1,), tuple(made))

    def _block(self, position: int, option: int) -> Block:
        if (position, option) not in self._made:
            block, partitions = self._blocks[position], self._units[position][option].partitions
            lengths = zip(partitions, block.shape, strict=True)
            shape = tuple(len(partition) for partition, before in lengths if len(partition) > 1 or before == 1)
            self._made[position, option] = Block(block.questions, shape, merged_probabilities(block, partitions))
        return self._made[position, option]


def merged_survey(survey: Survey, partitions: Mapping[str, Partition], people: int) -> Survey:
    """The survey with merged categories, without the questions that are left out (one always stays)."""
    kept = [name for name in survey.questions if not (name in partitions and is_left_out(partitions[name]))]
    kept = kept or [next(iter(survey.questions))]
    questions: dict[str, Question] = {}
    tables = []
    for block in survey.blocks:
        own = [
            partitions.get(name, unchanged(length)) for name, length in zip(block.questions, block.shape, strict=True)
        ]
        cells = merged_probabilities(block, own)
        left = [(name, partition) for name, partition in zip(block.questions, own, strict=True) if name in kept]
        for name, partition in left:
            before = survey.questions[name]
            together = tuple(" or ".join(before.categories[position] for position in group) for group in partition)
            known = cells if len(left) == 1 else None
            same = len(block.questions) == 1 and name not in partitions
            questions[name] = before if same else Question(together, known, before.ordered, before.merge)
        if len(left) > 1:
            names = tuple(name for name, _ in left)
            tables.append(JointTable(names, tuple(len(partition) for _, partition in left), cells))
    return Survey({name: questions[name] for name in survey.questions if name in questions}, people, tables)
