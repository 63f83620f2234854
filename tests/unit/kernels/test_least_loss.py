"""Groups that cost least: the compiled kernel and its NumPy twin agree to the last row."""

import numpy as np
import pytest

from kohorte.kernels import least_loss_reference as reference
from kohorte.kernels.least_loss_reference import NONE
from kohorte.kernels.pools_reference import MIX, SET, SPAN, TREE

try:
    from kohorte.kernels import _native as native
except ImportError:  # the reference has to be right by itself
    native = None

KERNELS = [reference] + ([native] if native else [])
NOTHING = np.empty((0, 0), dtype=np.uint32), np.empty((0, 0), dtype=np.int64)
FREE = np.empty(0, dtype=np.uint32)


def random_axis(random, rows):
    kind, length = int(random.integers(4)), int(random.integers(1, 7))
    missing = length - int(kind in (SPAN, SET) and random.integers(2))
    none = np.zeros(length, dtype=np.int64)
    if kind == SPAN:
        ends = np.cumsum(random.integers(0, 4, length))
        return kind, missing, np.concatenate([[0], ends[:-1]]), ends, *NOTHING
    if kind == SET:
        return kind, missing, none + 2, random.integers(2, 5, length), *NOTHING
    if kind == MIX:
        return kind, missing, none, np.arange(rows + 2) ** 2, *NOTHING
    levels = np.stack([np.arange(length) // 2, none]).astype(np.uint32)
    return kind, missing, none, none, levels, np.stack([none + 1, none + int(random.integers(1, 5))])


class Task:
    """Rows, what cells of them cost, and groups to begin with."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        rows = int(random.integers(8, 40))
        self.axes = [random_axis(random, rows) for _ in range(int(random.integers(1, 4)))]
        self.places = np.stack([random.integers(0, len(axis[2]), rows) for axis in self.axes], axis=1).astype(np.uint32)
        self.least = int(random.integers(1, 4))
        self.marks = [(random.integers(0, 4, rows).astype(np.uint32), 2)] if random.integers(2) else []
        self.fixed = random.integers(0, 2, rows).astype(np.uint32) if random.integers(3) == 0 else FREE
        self.start = self._groups(rows)

    def _groups(self, rows):
        """Groups of neighbours that have what they must have; the last takes the rest."""
        group_of, group, since = np.zeros(rows, dtype=np.uint32), 0, 0
        for row in range(rows):
            group_of[row] = group
            if self._enough(range(since, row + 1)) and self._enough(range(row + 1, rows)):
                group, since = group + 1, row + 1
        return group_of

    def _enough(self, rows):
        rows = list(rows)
        return len(rows) >= self.least and all(len(set(mark[rows].tolist())) >= need for mark, need in self.marks)

    def regrouper(self, kernel):
        return kernel.Regrouper(self.places, self.axes, self.least, self.marks, self.fixed, 9)


def total(regrouper, group_of):
    return int(regrouper.costs(group_of).sum()) + 9 * int((group_of == NONE).sum())


@pytest.mark.parametrize("seed", range(40))
def test_both_kernels_find_the_same_groups(seed):
    task = Task(seed)
    group_of, ours = task.start, [task.regrouper(kernel) for kernel in KERNELS]
    costs = [total(ours[0], group_of)]
    for number in range(3):
        found = [one.round(group_of, 4, 20, number, 17 * seed + number, 2, 1e9) for one in ours]
        assert all((other == found[0]).all() for other in found[1:])
        group_of = found[0]
        assert {total(one, group_of) for one in ours} == {total(ours[0], group_of)}
        costs.append(total(ours[0], group_of))
    assert costs == sorted(costs, reverse=True)
    for group in set(group_of.tolist()) - {NONE}:
        assert task._enough(np.flatnonzero(group_of == group))
    assert (group_of == NONE).sum() <= 3


def test_many_neighbourhoods_are_the_same_in_both_kernels(monkeypatch):
    """The compiled kernel divides beyond 512 groups; with 1,100 small ones, both divide twice."""
    random = np.random.default_rng(0)
    ends = np.arange(40, dtype=np.int64)
    axes = [(SPAN, 40, ends, ends, *NOTHING)] * 2
    places = random.integers(0, 40, (1100, 2)).astype(np.uint32)
    start = np.arange(1100, dtype=np.uint32)
    monkeypatch.setattr(reference._Block, "run", lambda self, *_: self.groups)  # the order shows the neighbourhoods
    ours = reference.Regrouper(places, axes, 1, [], FREE, 0).round(start, 5, 32, 0, 3, 1, 1e9)
    for kernel in KERNELS[1:]:
        theirs = kernel.Regrouper(places, axes, 1, [], FREE, 0).round(start, 5, 32, 0, 3, 2, 1e9)
        assert (theirs == ours).all()  # single rows cost nothing, so no pool is improved


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_both_kernels_propose_the_same_cuts(seed, relaxed):
    task = Task(seed)
    cutters = [kernel.LossCutter(task.places, task.axes, task.least, relaxed) for kernel in KERNELS]
    begins, ends = np.array([0]), np.array([len(task.places)])
    for attempt in range(8):
        cuts = [cutter.propose(begins, ends, np.array([attempt])) for cutter in cutters]
        assert all([part.tolist() for part in cut] == [part.tolist() for part in cuts[0]] for cut in cuts)
    cut = cutters[0].propose(begins, ends, np.array([0]))
    if cut[0][0] < 0:
        return
    for cutter in cutters:
        cutter.split(begins, ends, *cut)
    assert all((cutter.ids() == cutters[0].ids()).all() for cutter in cutters)


def test_a_cut_is_where_the_parts_cost_least_not_where_the_median_is():
    ends = np.array([0, 1, 2, 100])
    places = np.array([[0], [1], [2], [3], [3]], dtype=np.uint32)
    for kernel in KERNELS:
        cutter = kernel.LossCutter(places, [(SPAN, 4, ends, ends, *NOTHING)], 1, False)
        assert [part.tolist() for part in cutter.propose(np.array([0]), np.array([5]), np.array([0]))] == [
            [0],
            [3],
            [3],
        ]


def test_a_row_that_costs_the_others_much_is_left_out_if_that_is_allowed():
    ends = np.array([0, 1, 2, 100])
    places = np.array([[0], [1], [2], [3], [0], [1]], dtype=np.uint32)
    for kernel in KERNELS:
        regrouper = kernel.Regrouper(places, [(SPAN, 4, ends, ends, *NOTHING)], 4, [], FREE, 50)
        stays, leaves = np.zeros(6, dtype=np.uint32), np.array([0, 0, 0, NONE, 0, 0], dtype=np.uint32)
        for seed in range(5):
            stays = regrouper.round(stays, 2, 32, 0, seed, 1, 1e9)
        assert NONE not in stays
        assert regrouper.costs(leaves).tolist() == [5 * 2]
        assert regrouper.round(np.zeros(6, dtype=np.uint32), 2, 32, 1, 0, 1, 1e9).tolist() == leaves.tolist()


@pytest.mark.parametrize("kernel", KERNELS)
def test_wrong_use_is_refused(kernel):
    ends = np.array([0, 1])
    places = np.array([[0], [1]], dtype=np.uint32)
    axis = (SPAN, 2, ends, ends, *NOTHING)
    wrong = [
        (places + 1, [axis], 1, [], FREE),
        (places, [axis, axis], 1, [], FREE),
        (places, [axis], 0, [], FREE),
        (places, [(TREE, 2, ends, ends, *NOTHING)], 1, [], FREE),
        (places, [(7, 2, ends, ends, *NOTHING)], 1, [], FREE),
        (places, [(MIX, 2, ends, ends, *NOTHING)], 1, [], FREE),
        (places, [axis], 1, [(FREE, 1)], FREE),
        (places, [axis], 1, [], np.zeros(3, dtype=np.uint32)),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError, match=r"."):
            kernel.Regrouper(*arguments, 0)
    sound = kernel.Regrouper(places, [axis], 1, [], FREE, 0)
    for groups in ([0], [1, 1]):
        with pytest.raises(ValueError, match=r"."):
            sound.costs(np.array(groups, dtype=np.uint32))
    with pytest.raises(ValueError, match=r"."):
        sound.round(np.zeros(2, dtype=np.uint32), 1, 32, 0, 0, 1, 1.0)
