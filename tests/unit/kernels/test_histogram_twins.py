"""The kernels for histograms and their NumPy twins give the same answers, and those of the definitions."""

import importlib
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import accumulate, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte.kernels as chosen
from kohorte.kernels import histogram_reference as reference

try:
    native = importlib.import_module("kohorte.kernels._native")
except ImportError:
    native = None

EACH = [
    pytest.param(native, id="native", marks=pytest.mark.skipif(native is None, reason="no compiled kernels")),
    pytest.param(reference, id="reference"),
]
ALL = [kernels for kernels in (native, reference) if kernels is not None]


def uints(numbers):
    return np.array(numbers, dtype=np.uint32)


def ints(numbers):
    return np.array(numbers, dtype=np.int64)


def make_maps(random, size, height):
    """Draw a hierarchy; its group numbers are any numbers, and the top may have several groups."""
    maps = [random.permutation(size).astype(np.uint32)]
    groups = np.arange(size)
    for _ in range(height):
        groups = random.integers(random.integers(1, size + 1), size=size)[groups]
        maps.append((groups * 40_000_003 % 2**32).astype(np.uint32))
    return maps


@st.composite
def histograms(draw):
    """Draw the histograms of some classes, of all the table or of a part; the numbers come from a seed."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    known = draw(st.one_of(st.integers(1, 8), st.sampled_from([33, 70, 140])))
    most = draw(st.sampled_from([1, 3, 100, 10**6, 10**9, 10**11]))
    sizes = [
        int(random.integers(1, 1 + min(known, draw(st.sampled_from([1, 3, 300])))))
        for _ in range(draw(st.integers(0, 6)))
    ]
    values = [random.choice(known, size, replace=False) for size in sizes]
    task = SimpleNamespace(
        starts=ints(np.cumsum([0, *sizes])),
        values=uints(np.concatenate([[], *values])),
        counts=random.integers(1, most + 1, sum(sizes)),
        overall=random.integers(0, 2, known) * random.integers(0, most + 1, known),
        maps=make_maps(random, known, draw(st.integers(0, 4))),
    )
    np.add.at(task.overall, task.values, task.counts * draw(st.integers(0, 1)))
    task.overall[random.integers(known)] += 1
    return task


def classes(task):
    """Give each class as a dictionary of its counts."""
    return [
        dict(zip(task.values[a:b].tolist(), task.counts[a:b].tolist(), strict=True))
        for a, b in zip(task.starts[:-1], task.starts[1:], strict=True)
    ]


def differences(task):
    """Give p - q of each class for all values."""
    table = int(task.overall.sum())
    return [
        [Fraction(own.get(v, 0), sum(own.values())) - Fraction(q, table) for v, q in enumerate(task.overall.tolist())]
        for own in classes(task)
    ]


def equal_by_definition(extras):
    return sum(map(abs, extras)) / 2


def ordered_by_definition(extras):
    steps = len(extras) - 1
    return sum(map(abs, list(accumulate(extras))[:-1])) / steps if steps else 0


def hierarchical_by_definition(extras, maps):
    """Add h / H * min(pos, neg) over all inner nodes; several groups at the top are joined at cost 1."""
    height, total = len(maps) - 1, Fraction(0)
    if height == 0:
        return total
    maps = [level.tolist() for level in maps]
    below = dict(zip(maps[0], extras, strict=True))
    for level in range(1, height + 1):
        parent = dict(zip(maps[level - 1], maps[level], strict=True))
        nodes = {group: [] for group in maps[level]}
        for child, extra in below.items():
            nodes[parent[child]].append(extra)
        total += sum((Fraction(level, height) * moved(children) for children in nodes.values()), Fraction(0))
        below = {group: sum(children) for group, children in nodes.items()}
    return total + moved(below.values())


def moved(extras):
    return min(sum(e for e in extras if e > 0), -sum(e for e in extras if e < 0))


def equal(kernels, task):
    return kernels.equal_distance(task.starts, task.values, task.counts, task.overall)


def ordered(kernels, task):
    return kernels.ordered_distance(task.starts, task.values, task.counts, task.overall)


def hierarchical(kernels, task):
    return kernels.Tree(task.maps, task.overall).distances(task.starts, task.values, task.counts)


DISTANCES = [equal, ordered, hierarchical]


@given(st.lists(st.integers(0, 6), max_size=50), st.integers(7, 9))
def test_sorting_cells_by_class_keeps_their_order_within_a_class(class_of, count):
    wanted = sorted(range(len(class_of)), key=class_of.__getitem__)
    for kernels in ALL:
        starts, order = kernels.sort_cells(uints(class_of), count)
        assert (starts.dtype, order.dtype) == (np.int64, np.uint32)
        assert order.tolist() == wanted
        assert starts.tolist() == [sum(c < i for c in class_of) for i in range(count + 1)]


@given(histograms(), st.one_of(st.integers(0, 12), st.just(2**40)))
def test_top_counts_are_the_first_of_the_sorted_counts(task, places):
    sorted_counts = [sorted(own.values(), reverse=True) for own in classes(task)]
    for kernels in ALL:
        largest, tops = kernels.top_counts(task.starts, task.counts, places)
        assert (largest.dtype, tops.dtype) == (np.int64, np.int64)
        assert largest.tolist() == [counts[0] for counts in sorted_counts]
        assert tops.tolist() == [sum(counts[:places]) for counts in sorted_counts]


@given(histograms())
def test_entropies_are_those_of_the_shares(task):
    answers = [kernels.entropies(task.starts, task.counts) for kernels in ALL]
    shares = [[count / sum(own.values()) for count in own.values()] for own in classes(task)]
    wanted = [-sum(p * math.log(p) for p in own) for own in shares]
    for answer in answers:
        assert answer.dtype == np.float64
        assert np.array_equal(answer, answers[0])  # to the last bit
        assert np.all(answer >= 0.0)
        assert answer.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(histograms())
def test_distances_are_the_nearest_doubles_to_the_definitions(task):
    extras = differences(task)
    wanted = {
        equal: [float(equal_by_definition(own)) for own in extras],
        ordered: [float(ordered_by_definition(own)) for own in extras],
        hierarchical: [float(hierarchical_by_definition(own, task.maps)) for own in extras],
    }
    for kernels in ALL:
        for distance in DISTANCES:
            answer = distance(kernels, task)
            assert answer.dtype == np.float64
            assert answer.tolist() == wanted[distance]


@given(histograms())
def test_points_have_the_distances_of_classes_of_one_value_also_if_the_table_lacks_it(task):
    known = len(task.overall)
    points = SimpleNamespace(
        starts=np.arange(known + 1),
        values=np.arange(known, dtype=np.uint32),
        counts=np.ones(known, np.int64),
        overall=task.overall,
        maps=task.maps,
    )
    some = range(0, known, max(1, known // 8))  # the definitions are slow
    extras = [differences(example(task.overall, {value: 1}))[0] for value in some]
    for kernels in ALL:
        assert equal(kernels, points)[some].tolist() == [float(equal_by_definition(own)) for own in extras]
        assert ordered(kernels, points)[some].tolist() == [float(ordered_by_definition(own)) for own in extras]
        assert hierarchical(kernels, points)[some].tolist() == [
            float(hierarchical_by_definition(own, task.maps)) for own in extras
        ]


def example(overall, *own, maps=()):
    """Make a task of classes that are given as dictionaries."""
    return SimpleNamespace(
        starts=ints(np.cumsum([0, *map(len, own)])),
        values=uints([value for one in own for value in one]),
        counts=ints([count for one in own for count in one.values()]),
        overall=ints(overall),
        maps=[uints(level) for level in maps],
    )


@pytest.mark.parametrize("kernels", EACH)
class TestKnownValues:
    def test_the_salaries_of_li_et_al_have_their_published_distances(self, kernels):
        task = example([1] * 9, {0: 1, 1: 1, 2: 1}, {8: 1, 3: 1, 5: 1})  # 3k to 11k; 3k 4k 5k and 6k 8k 11k
        assert ordered(kernels, task).tolist() == [0.375, 1 / 6]

    def test_a_distance_of_a_fifth_equals_the_literal(self, kernels):
        for scale in (1, 3, 7, 10**4, 10**9, 10**12 + 39):
            task = example([scale * c for c in (4, 6)], {0: 6 * scale, 1: 4 * scale}, maps=[[0, 1], [0, 0]])
            for distance in DISTANCES:
                assert distance(kernels, task).tolist() == [0.2]

    def test_diseases_of_one_organ_are_nearer_to_each_other(self, kernels):
        maps = [range(4), [0, 0, 1, 1], [0] * 4]
        task = example([1] * 4, {0: 1, 1: 1}, {0: 1, 2: 1}, {3: 1}, maps=maps)
        assert equal(kernels, task).tolist() == [0.5, 0.5, 0.75]
        assert hierarchical(kernels, task).tolist() == [0.5, 0.25, 0.625]

    def test_several_groups_at_the_top_are_as_far_apart_as_can_be(self, kernels):
        task = example([1, 1], {0: 1}, maps=[[0, 1], [0, 1]])
        assert hierarchical(kernels, task).tolist() == [0.5]

    def test_a_hierarchy_of_one_level_or_a_single_rank_knows_no_distance(self, kernels):
        assert hierarchical(kernels, example([1, 1], {0: 1}, maps=[[0, 1]])).tolist() == [0.0]
        assert ordered(kernels, example([3], {0: 1})).tolist() == [0.0]

    def test_counts_around_a_billion_do_not_overflow(self, kernels):
        known, billion = 60, 10**9
        overall = [billion + 7 * v for v in range(known)]
        maps = [range(known), [v // 7 for v in range(known)], [0] * known]
        task = example(overall, {v: overall[v] for v in range(0, known, 2)}, {59: billion, 0: 1}, maps=maps)
        extras = differences(task)
        assert equal(kernels, task).tolist() == [float(equal_by_definition(own)) for own in extras]
        assert ordered(kernels, task).tolist() == [float(ordered_by_definition(own)) for own in extras]
        assert hierarchical(kernels, task).tolist() == [
            float(hierarchical_by_definition(own, task.maps)) for own in extras
        ]

    def test_even_classes_have_the_logarithm_of_their_values_as_entropy(self, kernels):
        task = example([], dict.fromkeys(range(8), 5), {0: 9999}, dict.fromkeys(range(2), 10**9))
        entropy = kernels.entropies(task.starts, task.counts).tolist()
        assert entropy == pytest.approx([math.log(8), 0.0, math.log(2)])
        assert entropy[1] == 0.0

    def test_no_classes_have_no_answers(self, kernels):
        task = example([1, 2], maps=[[0, 1], [0, 0]])
        for distance in DISTANCES:
            assert distance(kernels, task).tolist() == []
        assert kernels.entropies(task.starts, task.counts).tolist() == []
        assert [part.tolist() for part in kernels.top_counts(task.starts, task.counts, 3)] == [[], []]
        assert [part.tolist() for part in kernels.sort_cells(uints([]), 0)] == [[0], []]


@pytest.mark.parametrize("kernels", EACH)
class TestBadInput:
    def sound(self, **changes):
        task = example([3, 2, 1], {0: 1, 2: 1}, {1: 2}, maps=[[0, 1, 2], [0, 0, 1], [0, 0, 0]])
        task.__dict__.update(changes)
        return task

    def refused(self, kernels, task, match):
        for distance in DISTANCES:
            with pytest.raises(ValueError, match=match):
                distance(kernels, task)

    @pytest.mark.parametrize("starts", [[], [0], [0, 2], [0, 2, 4], [1, 2, 3], [-1, 2, 3]])
    def test_starts_that_do_not_fit_the_cells_are_refused(self, kernels, starts):
        task = self.sound(starts=ints(starts))
        self.refused(kernels, task, "starts do not fit")
        with pytest.raises(ValueError, match="starts do not fit"):
            kernels.entropies(task.starts, task.counts)
        with pytest.raises(ValueError, match="starts do not fit"):
            kernels.top_counts(task.starts, task.counts, 2)

    @pytest.mark.parametrize("starts", [[0, 0, 3], [0, 3, 3], [0, 5, 3], [0, -2, 3], [0, 2**62, -(2**62), 3]])
    def test_classes_without_cells_are_refused(self, kernels, starts):
        task = self.sound(starts=ints(starts))
        self.refused(kernels, task, "a class without cells")
        with pytest.raises(ValueError, match="a class without cells"):
            kernels.entropies(task.starts, task.counts)

    @pytest.mark.parametrize(
        "counts", [[0, 1, 2], [1, 2, -1], [2**47, 1, 1], [1, 2**47 - 1, 1], [2**62, 2**62, 1], [-(2**63), 1, 1]]
    )
    def test_counts_that_are_not_positive_or_too_large_are_refused(self, kernels, counts):
        task = self.sound(counts=ints(counts))
        self.refused(kernels, task, "not positive, or too many")
        with pytest.raises(ValueError, match="not positive, or too many"):
            kernels.entropies(task.starts, task.counts)
        with pytest.raises(ValueError, match="not positive, or too many"):
            kernels.top_counts(task.starts, task.counts, 2)

    @pytest.mark.parametrize("value", [3, 2**32 - 1])
    def test_values_that_the_table_does_not_have_are_refused(self, kernels, value):
        self.refused(kernels, self.sound(values=uints([0, value, 1])), "the table does not have")

    def test_a_value_that_a_class_has_twice_is_refused(self, kernels):
        self.refused(kernels, self.sound(values=uints([2, 2, 1])), "twice")

    def test_other_than_one_count_per_value_is_refused(self, kernels):
        self.refused(kernels, self.sound(values=uints([0, 2])), "differ in number")

    @pytest.mark.parametrize(
        ("overall", "match"),
        [
            ([3, -1, 1], "negative"),
            ([2**46, 2**46, 0], "too many rows"),
            ([2**62, 2**62, 2**62], "too many rows"),
            ([0, 0, 0], "a table without rows"),
        ],
    )
    def test_impossible_tables_are_refused(self, kernels, overall, match):
        self.refused(kernels, self.sound(overall=ints(overall)), match)

    @pytest.mark.parametrize(
        ("maps", "match"),
        [
            ([], "no levels"),
            ([[0, 1, 2], [0, 0]], "unequal length"),
            ([[0, 1]], "unequal length"),
            ([[0, 1, 1], [0, 0, 0]], "level 0"),
            ([[0, 1, 2], [0, 0, 1], [0, 1, 1]], "splits a group"),
        ],
    )
    def test_maps_that_are_no_hierarchy_are_refused(self, kernels, maps, match):
        with pytest.raises(ValueError, match=match):
            kernels.Tree([uints(level) for level in maps], ints([3, 2, 1]))

    @pytest.mark.parametrize(("class_of", "count"), [([0, 2], 2), ([0], 0), ([0], -1), ([0], 2**40)])
    def test_classes_that_do_not_exist_cannot_be_sorted(self, kernels, class_of, count):
        with pytest.raises(ValueError, match="no such"):
            kernels.sort_cells(uints(class_of), count)

    def test_a_negative_number_of_places_is_refused(self, kernels):
        with pytest.raises(ValueError, match="negative number of places"):
            kernels.top_counts(ints([0, 1]), ints([1]), -1)


@pytest.mark.parametrize("kernels", EACH)
def test_four_threads_share_a_tree(kernels):
    random = np.random.default_rng(5)
    tree = kernels.Tree(make_maps(random, 50, 3), np.full(50, 20))
    tasks = [
        example([], *({int(v): 1 for v in random.choice(50, 6, replace=False)} for _ in range(40))) for _ in range(20)
    ]

    def ask(task):
        return tree.distances(task.starts, task.values, task.counts).tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, tasks)) == [ask(task) for task in tasks]


def test_the_chosen_kernels_are_exported():
    task = example([1] * 4, {0: 1, 1: 1}, {3: 1}, maps=[range(4), [0, 0, 1, 1], [0] * 4])
    cells = (task.starts, task.values, task.counts)
    assert chosen.Tree(task.maps, task.overall).distances(*cells).tolist() == [0.5, 0.625]
    assert chosen.Tree.__module__.endswith("_native" if chosen.KERNELS == "native" else "histogram_reference")


def fewest_removed(counts, groups_of_levels, overall, most):
    """Try all sub-histograms of a class: the fewest rows that leave it before the rest is within `most`."""
    total, best = sum(counts), sum(counts)
    table = sum(overall)
    for kept in product(*(range(count + 1) for count in counts)):
        rows = sum(kept)
        if not rows or total - rows >= best:
            continue
        distance = Fraction(0)
        for groups in groups_of_levels:
            for group in set(groups):
                own = sum(count for count, other in zip(kept, groups, strict=True) if other == group)
                whole = sum(count for count, other in zip(overall, groups, strict=True) if other == group)
                distance += max(Fraction(own, rows) - Fraction(whole, table), Fraction(0))
        if distance / len(groups_of_levels) <= most:
            best = total - rows
    return best


@given(st.data())
def test_removals_never_exceed_the_fewest_rows_that_have_to_leave(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    known = data.draw(st.integers(1, 4))
    maps = make_maps(random, known, data.draw(st.integers(1, 3)))
    counts = random.integers(0, 6, known)
    if not counts.any():
        counts[0] = 1
    overall = counts + random.integers(0, 8, known)
    most = data.draw(st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)]))
    values = np.flatnonzero(counts)
    cells = (ints([0, len(values)]), uints(values), ints(counts[values]))
    truth = fewest_removed(counts.tolist(), [level.tolist() for level in maps[:-1]], overall.tolist(), most)
    trees = [kernels.Tree(maps, ints(overall)) for kernels in ALL]
    bounds = [tree.removals(*cells, tree.distances(*cells), float(most))[0] for tree in trees]
    assert all(bound <= truth + 1e-9 for bound in bounds)
    assert bounds == pytest.approx([bounds[0]] * len(bounds))
    within = reference.Tree(maps, ints(overall)).distances(*cells)[0] <= float(most)
    assert (bounds[0] <= 1e-9) == within or abs(bounds[0]) <= 1e-6


@given(histograms(), st.floats(0, 1))
def test_both_kernels_bound_removals_alike(task, most):
    cells = (task.starts, task.values, task.counts)
    trees = [kernels.Tree(task.maps, task.overall) for kernels in ALL]
    found = [tree.removals(*cells, tree.distances(*cells), most) for tree in trees]
    for bounds in found:
        assert bounds == pytest.approx(found[0], rel=1e-6, abs=1e-6)
