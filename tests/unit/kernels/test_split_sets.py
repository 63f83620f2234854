"""Sets of splits: the compiled kernel, its NumPy twin, and all sets tried in plain Python."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kohorte import kernels
from kohorte.kernels import split_sets_reference
from support.examples import examples

BOTH = [pytest.param(split_sets_reference.SplitSets, id="reference")]
if kernels.KERNELS == "native":
    BOTH.append(pytest.param(kernels.SplitSets, id="native"))
both_kernels = pytest.mark.parametrize("kernel", BOTH)


class Task:
    """A small table from a seed, with k, limit and kind of cost."""

    def __init__(self, seed, most_splits=7, by_label=None):
        random = np.random.default_rng(seed)
        sizes = [int(random.integers(1, 5)) for _ in range(random.integers(1, 4))]
        while sum(sizes) - len(sizes) > most_splits:
            sizes.pop()
        rows = int(random.integers(1, 20))
        self.by_label = bool(random.integers(2)) if by_label is None else by_label
        self.sizes = np.array(sizes, np.uint32)
        self.positions = random.integers(self.sizes, size=(rows, len(sizes))).astype(np.uint32)
        width = int(random.integers(1, 4)) if self.by_label else 0
        self.labels = random.integers(0, 3, (rows, width))
        if self.by_label:
            self.labels[:, 0] += self.labels.sum(axis=1) == 0
        self.weights = self.labels.sum(axis=1) if self.by_label else random.integers(1, 4, rows)
        self.all = int(self.weights.sum())
        self.k = int(random.integers(1, 7))
        self.limit = int(random.choice([0, 0, self.all // 4, self.all, 2**62]))
        self.places = [(a, p) for a, size in enumerate(sizes) for p in range(1, size)]

    def made(self, kernel, **changes):
        names = ("positions", "weights", "sizes", "labels", "k", "limit", "by_label")
        return kernel(**{name: changes.get(name, getattr(self, name)) for name in names})

    def cost(self, chosen):
        """Return cost, people suppressed and classes kept, by definition."""
        splits = [place for place, flag in zip(self.places, chosen, strict=True) if flag]
        classes = {}
        for row, weight, labels in zip(self.positions.tolist(), self.weights, self.labels, strict=True):
            own = classes.setdefault(tuple(row[a] >= p for a, p in splits), [0, np.zeros(len(labels), int)])
            own[0] += int(weight)
            own[1] = own[1] + labels
        small = sum(people for people, _ in classes.values() if people < self.k)
        kept = [(people, labels) for people, labels in classes.values() if people >= self.k]
        if self.by_label:
            cost = small + sum(people - int(labels.max()) for people, labels in kept)
        else:
            cost = small * self.all + sum(people**2 for people, _ in kept)
        return cost, small, len(kept)

    def best(self):
        """Return rank and flags of the best set, or None if there is none."""
        found = None
        for chosen in itertools.product([False, True], repeat=len(self.places)):
            cost, suppressed, _ = self.cost(chosen)
            splits = [place for place, flag in zip(self.places, chosen, strict=True) if flag]
            rank = (cost, len(splits), splits)
            if suppressed <= self.limit and (found is None or rank < found[0]):
                found = rank, list(chosen)
        return found

    def nothing(self):
        return np.zeros(len(self.places), np.bool_)


seeds = st.integers(0, 2**32 - 1)


@both_kernels
@given(seed=seeds)
def test_costs_are_those_of_the_definition(kernel, seed):
    task = Task(seed)
    sets = task.made(kernel)
    chosen = np.random.default_rng(seed).random(len(task.places)) < 0.5
    assert sets.splits == len(task.places)
    cost = sets.cost(chosen)
    assert cost == task.cost(chosen)
    assert [type(part) for part in cost] == [float, int, int]


@both_kernels
@given(seed=seeds)
def test_neighbours_cost_what_they_cost(kernel, seed):
    task = Task(seed)
    sets = task.made(kernel)
    chosen = np.random.default_rng(seed).random(len(task.places)) < 0.5
    before = chosen.copy()
    costs, suppressed = sets.neighbours(chosen)
    assert (costs.dtype, suppressed.dtype) == (np.float64, np.int64)
    assert (chosen == before).all()
    for split in range(len(task.places)):
        changed = chosen.copy()
        changed[split] ^= True
        assert (costs[split], suppressed[split]) == task.cost(changed)[:2]


@both_kernels
@examples(60)
@given(seed=seeds)
def test_the_best_of_all_sets_is_found_and_ties_have_an_order(kernel, seed):
    task = Task(seed)
    expected = task.best()
    assume(expected is not None)
    (cost, _, _), chosen = expected
    best, found, lower, complete, visited = task.made(kernel).optimize(task.nothing(), math.inf, None)
    assert best.dtype == np.bool_
    assert (best.tolist(), found, lower, complete) == (chosen, cost, cost, True)
    assert visited >= 1


@both_kernels
def test_the_best_set_does_not_depend_on_the_start(kernel):
    for seed in range(30):
        task = Task(seed)
        expected = task.best()
        if expected is None:
            continue
        sets = task.made(kernel)
        everything = ~task.nothing()
        for start in (np.array(expected[1], np.bool_), everything):
            if sets.cost(start)[1] <= task.limit:
                assert sets.optimize(start, math.inf, None)[0].tolist() == expected[1]


@pytest.mark.skipif(kernels.KERNELS != "native", reason="no compiled kernels")
@pytest.mark.parametrize("by_label", [False, True])
def test_twins_agree_on_tables_too_large_to_try_all_sets(by_label):
    for seed in range(4):
        random = np.random.default_rng(seed)
        task = Task(seed, by_label=by_label)
        task.sizes = np.array([4, 5, 3, 6], np.uint32)
        task.positions = np.minimum(random.poisson(1.2, (150, 4)), task.sizes - 1).astype(np.uint32)
        task.labels = random.multinomial(2, [0.7, 0.3], 150) if by_label else np.zeros((150, 0), np.int64)
        task.weights = np.full(150, 2)
        task.k, task.limit = 25, [0, 12][seed % 2]
        native, reference = task.made(kernels.SplitSets), task.made(split_sets_reference.SplitSets)
        start = np.zeros(native.splits, np.bool_)
        found, expected = (sets.optimize(start, math.inf, None) for sets in (native, reference))
        assert found[0].tolist() == expected[0].tolist()
        assert found[1:4] == expected[1:4]


@both_kernels
def test_a_search_out_of_time_gives_a_valid_bound(kernel):
    for seed in range(40):
        task = Task(seed)
        expected = task.best()
        if expected is None:
            continue
        sets = task.made(kernel)
        best, cost, lower, complete, _ = sets.optimize(task.nothing(), 0.0, None)
        optimum = expected[0][0]
        assert lower <= optimum <= cost
        assert sets.cost(best)[0] == cost
        assert sets.cost(best)[1] <= task.limit
        assert not complete or cost == optimum


def large_table(kernel, rows=3000):
    """A table whose search takes longer than any test."""
    random = np.random.default_rng(5)
    positions = random.integers(12, size=(rows, 8)).astype(np.uint32)
    sizes, none = np.full(8, 12, np.uint32), np.zeros((rows, 0), np.int64)
    return kernel(positions, np.ones(rows, np.int64), sizes, none, 5, rows, False)


@both_kernels
def test_the_watch_sees_progress_and_ends_the_search(kernel):
    sets = large_table(kernel)
    seen = []

    def watch(*progress):
        seen.append(progress)
        return len(seen) < 3

    best, cost, lower, complete, visited = sets.optimize(np.zeros(sets.splits, np.bool_), math.inf, watch)
    assert len(seen) == 3
    assert not complete
    assert sets.cost(best)[0] == cost
    assert 0 < lower <= cost
    for (before, dearer, looser), (after, cheaper, tighter) in itertools.pairwise(seen):
        assert before <= after <= visited
        assert dearer >= cheaper >= cost
        assert looser <= tighter <= lower


@both_kernels
def test_the_time_limit_ends_the_search(kernel):
    sets = large_table(kernel)
    assert not sets.optimize(np.zeros(sets.splits, np.bool_), 0.3, lambda *_: None)[3]


@both_kernels
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_of_the_watch_ends_the_search(kernel, error):
    sets = large_table(kernel)

    def watch(*_):
        raise error

    with pytest.raises(error):
        sets.optimize(np.zeros(sets.splits, np.bool_), math.inf, watch)


@both_kernels
def test_one_row_needs_no_split(kernel):
    sets = kernel(
        np.array([[1, 0]], np.uint32),
        np.array([7]),
        np.array([3, 2], np.uint32),
        np.zeros((1, 0), np.int64),
        k=7,
        limit=0,
        by_label=False,
    )
    best, *rest = sets.optimize(np.ones(3, np.bool_), math.inf, None)
    assert (best.tolist(), rest[:3]) == ([False] * 3, [49.0, 49.0, True])


@both_kernels
@pytest.mark.parametrize("attributes", [0, 2])
def test_a_table_without_splits_has_one_class(kernel, attributes):
    positions, sizes = np.zeros((3, attributes), np.uint32), np.ones(attributes, np.uint32)
    sets = kernel(positions, np.array([1, 2, 3]), sizes, np.zeros((3, 0), np.int64), 2, 0, False)
    nothing = np.zeros(0, np.bool_)
    assert sets.splits == 0
    assert sets.cost(nothing) == (36.0, 0, 1)
    assert [len(part) for part in sets.neighbours(nothing)] == [0, 0]
    best, *rest = sets.optimize(nothing, math.inf, None)
    assert (len(best), rest[:3]) == (0, [36.0, 36.0, True])


@both_kernels
def test_values_that_nobody_has_do_not_matter(kernel):
    positions = np.array([[1], [1], [5], [5]], np.uint32)
    sets = kernel(positions, np.ones(4, np.int64), np.array([8], np.uint32), np.zeros((4, 0), np.int64), 2, 0, False)
    best, cost, *_ = sets.optimize(np.zeros(7, np.bool_), math.inf, None)
    assert (np.flatnonzero(best).tolist(), cost) == ([1], 8.0)  # the first of four splits that do the same


@both_kernels
def test_a_wide_table_has_classes_too(kernel):
    positions = np.random.default_rng(1).integers(1000, size=(20, 30)).astype(np.uint32)
    positions[10:] = positions[:10]
    sizes = np.full(30, 1000, np.uint32)
    sets = kernel(positions, np.ones(20, np.int64), sizes, np.zeros((20, 0), np.int64), 2, 0, False)
    assert sets.cost(np.ones(sets.splits, np.bool_)) == (40.0, 0, 10)


SOUND = {
    "positions": np.array([[0, 1], [1, 0]], np.uint32),
    "weights": np.array([2, 3]),
    "sizes": np.array([2, 2], np.uint32),
    "labels": np.array([[1, 1], [3, 0]]),
    "k": 3,
    "limit": 0,
    "by_label": True,
}


@both_kernels
@pytest.mark.parametrize(
    "changes",
    [
        {"positions": np.array([[0, 1], [2, 0]], np.uint32)},
        {"positions": np.array([[0, 1]], np.uint32)},
        {"positions": np.array([[0], [1]], np.uint32)},
        {"sizes": np.array([2], np.uint32)},
        {"sizes": np.array([2, 0], np.uint32)},
        {"weights": np.array([2])},
        {"weights": np.array([2, 0])},
        {"weights": np.array([2, 2**61])},
        {"labels": np.array([[1, 1]])},
        {"labels": np.array([[1, 1], [3, 1]])},
        {"labels": np.array([[1, 1], [4, -1]])},
        {"labels": np.zeros((2, 0), np.int64)},
        {"weights": np.array([2, 94_906_265]), "by_label": False},
        {"k": 0},
        {"limit": -1},
        {
            "positions": np.zeros((0, 2), np.uint32),
            "weights": np.zeros(0, np.int64),
            "labels": np.zeros((0, 2), np.int64),
        },
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(kernel, changes):
    kernel(**SOUND)
    with pytest.raises(ValueError, match=r"\w"):
        kernel(**{**SOUND, **changes})


@both_kernels
def test_flags_of_another_length_are_refused(kernel):
    sets = kernel(**SOUND)
    for flags in (np.zeros(1, np.bool_), np.zeros(3, np.bool_)):
        for call in (sets.cost, sets.neighbours, lambda start: sets.optimize(start, 1.0, None)):
            with pytest.raises(ValueError, match="not one flag per split"):
                call(flags)


@both_kernels
def test_a_start_that_suppresses_too_many_is_refused(kernel):
    with pytest.raises(ValueError, match="suppresses too many"):
        kernel(**SOUND).optimize(np.ones(2, np.bool_), 1.0, None)


@both_kernels
@pytest.mark.parametrize("seconds", [-1.0, math.nan])
def test_a_time_that_is_none_is_refused(kernel, seconds):
    with pytest.raises(ValueError, match="no such time"):
        kernel(**SOUND).optimize(np.zeros(2, np.bool_), seconds, None)
