"""The compiled kernels and their NumPy twins give the same answers."""

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.kernels import csv_scan_reference, reference
from kohorte.kernels.csv_scan_reference import CsvScan

native = pytest.importorskip("kohorte.kernels._native", reason="no compiled kernels")


@st.composite
def grouping_tasks(draw):
    """Draw maps, codes, levels and weights; the numbers come from a seed, so that tables may be large."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    attributes = draw(st.integers(1, 8))
    rows = draw(st.one_of(st.integers(0, 3), st.integers(4, 60), st.integers(500, 1500)))
    domain_sizes = [draw(st.sampled_from([1, 2, 3, 5, 17, 300, 5000])) for _ in range(attributes)]
    maps = [make_maps(random, size, levels=draw(st.integers(1, 3))) for size in domain_sizes]
    levels = np.array([random.integers(len(own)) for own in maps], dtype=np.uint32)
    return maps, random_codes(random, maps, rows), levels, random.integers(1, 2**40, rows)


def make_maps(random, size, levels):
    """Level 0 tells all codes apart, each further level fewer."""
    maps = [np.arange(size, dtype=np.uint32)]
    for _ in range(1, levels):
        groups = int(random.integers(1, int(maps[-1].max()) + 2))
        maps.append(random.integers(groups, size=int(maps[-1].max()) + 1).astype(np.uint32)[maps[-1]])
    return maps


def random_codes(random, maps, rows):
    """Some rows repeat others, so that there are classes of several rows even in large key spaces."""
    columns = [random.integers(len(own[0]), size=rows) for own in maps]
    codes = np.stack(columns, axis=1).astype(np.uint32)
    repeated = random.random(rows) < 0.5
    codes[repeated] = codes[random.integers(max(1, rows), size=int(repeated.sum()))]
    return codes


def both(maps):
    return native.Grouper(maps), reference.Grouper(maps)


def obvious(maps, codes, levels, weights):
    """Group with a dictionary."""
    ids, first, sizes, numbers = [], [], [], {}
    for row, (cells, weight) in enumerate(zip(codes.tolist(), weights.tolist(), strict=True)):
        key = tuple(int(own[level][cell]) for own, level, cell in zip(maps, levels, cells, strict=True))
        number = numbers.setdefault(key, len(numbers))
        if number == len(first):
            first.append(row)
            sizes.append(0)
        ids.append(number)
        sizes[number] += weight
    return ids, first, sizes


def answers(grouper, rows, weights, levels):
    ids, first, sizes = grouper.group(rows, weights, levels, True)
    assert (ids.dtype, first.dtype, sizes.dtype) == (np.uint32, np.uint32, np.int64)
    return ids.tolist(), first.tolist(), sizes.tolist()


@given(grouping_tasks())
def test_groupers_agree_with_each_other_and_with_a_dictionary(task):
    maps, codes, levels, weights = task
    wanted = obvious(maps, codes, levels, weights)
    for grouper in both(maps):
        assert answers(grouper, grouper.pack(codes), weights, levels) == wanted


@given(grouping_tasks())
def test_groupers_give_the_same_groups_without_ids(task):
    maps, codes, levels, weights = task
    _, first, sizes = obvious(maps, codes, levels, weights)
    for grouper in both(maps):
        nothing, got_first, got_sizes = grouper.group(grouper.pack(codes), weights, levels, False)
        assert (len(nothing), got_first.tolist(), got_sizes.tolist()) == (0, first, sizes)


@given(grouping_tasks(), st.data())
def test_taken_rows_are_grouped_like_those_rows_alone(task, data):
    maps, codes, levels, weights = task
    places = st.integers(0, len(codes) - 1)
    taken = data.draw(st.lists(places, max_size=20)) if len(codes) else []
    selected = np.array(taken, dtype=np.uint32)
    wanted = obvious(maps, codes[selected], levels, weights[selected])
    for grouper in both(maps):
        rows = grouper.pack(codes).take(selected)
        assert len(rows) == len(selected)
        assert answers(grouper, rows, weights[selected], levels) == wanted


@given(grouping_tasks())
def test_packed_codes_come_back_unchanged(task):
    maps, codes, _, _ = task
    for grouper in both(maps):
        rows = grouper.pack(codes)
        unpacked = grouper.unpack(rows)
        assert len(rows) == len(codes)
        assert unpacked.dtype == np.uint32
        assert unpacked.shape == codes.shape
        assert np.array_equal(unpacked, codes)


def test_key_spaces_above_64_bits_are_grouped_exactly():
    random = np.random.default_rng(7)
    maps = [[np.arange(70_000, dtype=np.uint32)] for _ in range(9)]  # 9 * 16.1 bits
    codes = random_codes(random, maps, 3000)
    one_off = codes[:100].copy()  # rows that differ from others in a single attribute
    one_off[np.arange(100), np.arange(100) % 9] ^= 1
    codes = np.concatenate([codes, one_off])
    weights, levels = np.ones(len(codes), dtype=np.int64), np.zeros(9, dtype=np.uint32)
    wanted = obvious(maps, codes, levels, weights)
    assert 1000 < len(wanted[1]) < 3000
    for grouper in both(maps):
        assert answers(grouper, grouper.pack(codes), weights, levels) == wanted


def test_a_grouper_answers_alike_whatever_it_was_asked_before():
    random = np.random.default_rng(11)
    maps = [make_maps(random, size, levels=3) for size in (3, 5000, 17, 300, 2, 5000, 5000, 300)]
    codes = random_codes(random, maps, 2000)
    weights = random.integers(1, 100, len(codes))
    grouper, twin = both(maps)
    rows, twin_rows = grouper.pack(codes), twin.pack(codes)
    for _ in range(40):  # small and large key spaces in turn, in the same scratch memory
        levels = random.integers(3, size=len(maps)).astype(np.uint32)
        assert answers(grouper, rows, weights, levels) == answers(twin, twin_rows, weights, levels)


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "reference"])
def test_four_threads_get_the_answers_of_one(kernels):
    random = np.random.default_rng(3)
    maps = [make_maps(random, size, levels=3) for size in (40, 5000, 17, 300, 2, 60)]
    codes = random_codes(random, maps, 4000)
    weights = random.integers(1, 100, len(codes))
    grouper = kernels.Grouper(maps)
    rows = grouper.pack(codes)
    tasks = [random.integers(3, size=len(maps)).astype(np.uint32) for _ in range(24)] * 4

    def ask(levels):
        return answers(grouper, rows, weights, levels)

    alone = [ask(levels) for levels in tasks]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, tasks)) == alone


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "reference"])
class TestBadInput:
    maps = (
        [np.arange(4, dtype=np.uint32), np.zeros(4, dtype=np.uint32)],
        [np.arange(3, dtype=np.uint32)],
    )
    codes = np.array([[0, 0], [3, 2]], dtype=np.uint32)
    ones = np.ones(2, dtype=np.int64)
    bottom = np.zeros(2, dtype=np.uint32)

    def test_maps_of_one_attribute_that_differ_in_length_are_refused(self, kernels):
        with pytest.raises(ValueError, match="maps of unequal length"):
            kernels.Grouper([[np.arange(3, dtype=np.uint32), np.zeros(2, dtype=np.uint32)]])

    @pytest.mark.parametrize("cell", [(0, 0, 4), (1, 1, 3), (0, 1, 2**32 - 1)])
    def test_a_code_that_no_map_knows_is_refused(self, kernels, cell):
        row, attribute, code = cell
        codes = self.codes.copy()
        codes[row, attribute] = code
        with pytest.raises(ValueError, match="a code without a map"):
            kernels.Grouper(self.maps).pack(codes)

    @pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
    def test_rows_with_too_many_or_too_few_codes_are_refused(self, kernels, shape):
        with pytest.raises(ValueError, match="not whole rows"):
            kernels.Grouper(self.maps).pack(np.zeros(shape, dtype=np.uint32))

    @pytest.mark.parametrize("levels", [[2, 0], [0, 1], [0], [0, 0, 0]])
    def test_levels_that_do_not_exist_are_refused(self, kernels, levels):
        grouper = kernels.Grouper(self.maps)
        rows = grouper.pack(self.codes)
        with pytest.raises((ValueError, IndexError)):
            grouper.group(rows, self.ones, np.array(levels, dtype=np.uint32), False)

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_other_than_one_weight_per_row_is_refused(self, kernels, count):
        grouper = kernels.Grouper(self.maps)
        with pytest.raises(ValueError, match=r"weights"):
            grouper.group(grouper.pack(self.codes), np.ones(count, dtype=np.int64), self.bottom, False)

    def test_rows_that_do_not_exist_cannot_be_taken(self, kernels):
        rows = kernels.Grouper(self.maps).pack(self.codes)
        with pytest.raises((ValueError, IndexError)):
            rows.take(np.array([0, 2], dtype=np.uint32))


@st.composite
def covers(draw):
    """Draw a lattice of up to 5 attributes with flags and scores for all its nodes."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    middle = len(shape) // 2
    left, right = int(np.prod(shape[:middle])), int(np.prod(shape[middle:]))
    scale = draw(st.sampled_from([0.1, 1.0, 10.0, 1e9]))
    draw_scores = draw(st.sampled_from([random.standard_normal, lambda n: random.integers(-1, 2, n) * 1.0]))
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    opened = (random.random(left * right) < share).astype(np.uint8)
    barred = (random.random(left * right) < draw(st.sampled_from([0.0, 0.5, 1.0]))).astype(np.uint8)
    return shape, opened, barred, draw_scores(left) * scale, draw_scores(right) * scale


@given(covers(), st.booleans(), st.integers(0, 4))
def test_best_covers_twins_agree(task, upward, most):
    found = native.best_covers(*task, upward, most)
    twins = reference.best_covers(*task, upward, most)
    assert [index for index, _ in found] == [index for index, _ in twins]
    assert [gain for _, gain in found] == pytest.approx([gain for _, gain in twins], rel=1e-12)
    assert len(found) <= most


@given(covers(), st.booleans())
def test_the_best_cover_is_the_first_node_of_the_largest_gain(task, upward):
    shape, opened, barred, left, right = task
    gains = np.array(obvious_gains(shape, opened, barred, np.add.outer(left, right).ravel(), upward))
    found = reference.best_covers(*task, upward, 1)
    assert [index for index, _ in found] == ([] if gains.max() == 0 else [int(gains.argmax())])
    assert [gain for _, gain in found] == pytest.approx([gains.max()] * len(found), rel=1e-12)


@given(covers(), st.booleans())
def test_the_second_best_cover_is_the_best_for_what_the_first_leaves(task, upward):
    shape, opened, barred, left, right = task
    (first, _), *others = reference.best_covers(*task, upward, 2) or [(-1, 0.0)]
    if first < 0:
        return
    scores = np.add.outer(left, right).ravel()
    covered = tuple(np.unravel_index(first, shape))
    left_over = obvious_gains(shape, opened, barred, scores, upward, but=covered)
    assert [index for index, _ in others] == ([] if max(left_over) == 0 else [int(np.argmax(left_over))])


def obvious_gains(shape, opened, barred, scores, upward, but=None):
    nodes = list(np.ndindex(*shape))
    is_open = {node for node, flag in zip(nodes, opened, strict=True) if flag}
    step = -1 if upward else 1
    extreme = [
        node
        for node in is_open
        if not any((*node[:a], node[a] + step, *node[a + 1 :]) in is_open for a in range(len(node)))
    ]

    def covers(node, other):
        return all(a <= b if upward else a >= b for a, b in zip(node, other, strict=True))

    extreme = [node for node in extreme if but is None or not covers(but, node)]
    return [
        0.0
        if bar
        else sum(covers(node, other) for other in extreme) * (0.5 * (1.0 + score / np.sqrt(1.0 + score * score)))
        for node, bar, score in zip(nodes, barred, scores, strict=True)
    ]


@given(covers(), st.integers(0, 2**32 - 1))
def test_least_likely_twins_agree(task, seed):
    _, opened, sure, left, right = task
    random = np.random.default_rng(seed)
    values = random.integers(-3, 3, len(opened)) * 1.0
    values[random.random(len(values)) < 0.1] = np.inf
    index = native.least_likely(values, opened, sure, left, right)
    assert index == reference.least_likely(values, opened, sure, left, right)
    scores = np.add.outer(left, right).ravel()
    likely = [i for i in range(len(values)) if opened[i] and (sure[i] or scores[i] < 0) and values[i] < np.inf]
    assert index == min(likely, key=values.__getitem__, default=-1)


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("broken", [1, 2, 3, 4])
def test_arrays_that_do_not_fit_the_shape_are_refused(kernels, broken):
    task = [[2, 3], np.ones(6, np.uint8), np.zeros(6, np.uint8), np.zeros(2), np.zeros(3)]
    assert kernels.best_covers(*task, True, 1)
    task[broken] = task[broken][:-1].copy()
    with pytest.raises((ValueError, IndexError)):
        kernels.best_covers(*task, True, 1)


@given(st.lists(st.sampled_from(b'a,"\r\n'), max_size=40).map(bytes), st.integers(0, 3))
def test_csv_scan_twins_agree(text, fields):
    data = np.frombuffer(text, np.uint8)
    scan = CsvScan(*native.csv_scan(data, ord(","), fields))
    assert scan == csv_scan_reference.csv_scan(data, ord(","), fields)


@given(st.lists(st.sampled_from(['a,"b,c"\r\n', "x,y\n", "\n", '"p\n""q",', "r\r\n", '"', ","])).map("".join))
def test_csv_scan_twins_agree_on_files_that_are_nearly_sound(text):
    data = np.frombuffer(text.encode(), np.uint8)
    scan = CsvScan(*native.csv_scan(data, ord(","), 0))
    assert scan == csv_scan_reference.csv_scan(data, ord(","), 0)


@st.composite
def lessons(draw):
    """Draw the shape of a lattice, a first guess, and what was seen at some nodes."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = sum(shape) + 1
    node = st.tuples(*[st.integers(0, length - 1) for length in shape]).map(list)
    seen = draw(st.lists(st.tuples(node, st.floats(-20, 20), st.floats(0.05, 100)), max_size=10))
    return shape, random.standard_normal(count) * 3, random.random(count) + 0.01, seen


@given(lessons())
def test_guess_twins_agree_whatever_they_learnt(task):
    shape, mean, deviation, seen = task
    guesses = [kernels.Guess(shape, mean, deviation) for kernels in (native, reference)]
    for node, number, variance in seen:
        for guess in guesses:
            guess.learn(node, number, variance)
    scores = [guess.scores(0.5, 0.7) for guess in guesses]
    for half in (0, 1):
        np.testing.assert_allclose(scores[0][half], scores[1][half], rtol=1e-9, atol=1e-9)
    for node in np.ndindex(*shape):
        assert guesses[0].at(list(node)) == pytest.approx(guesses[1].at(list(node)), rel=1e-9, abs=1e-9)
    total = np.add.outer(*scores[0]).reshape(shape)
    assert total[(0,) * len(shape)] == pytest.approx((guesses[0].at([0] * len(shape)) - 0.5) / 0.7, abs=1e-9)


@pytest.mark.parametrize("kernels", [native, reference], ids=["native", "reference"])
def test_a_guess_moves_towards_what_was_seen(kernels):
    guess = kernels.Guess([2, 3], np.zeros(6), np.ones(6))
    before = guess.at([1, 2])
    guess.learn([1, 2], 4.0, 1e-9)
    assert before == 0.0
    assert guess.at([1, 2]) == pytest.approx(4.0, rel=1e-6)
    assert 0.0 < guess.at([1, 0]) < 4.0


@pytest.mark.parametrize("module", [pytest.param("kohorte.kernels._native", id="native"), "kohorte.kernels.reference"])
def test_rows_of_another_table_or_of_another_width_are_refused(module):
    kernels = pytest.importorskip(module)
    narrow = kernels.Grouper([[np.arange(2, dtype=np.uint32)], [np.arange(2, dtype=np.uint32)]])
    wide = kernels.Grouper([[np.arange(90, dtype=np.uint32)], [np.arange(90, dtype=np.uint32)]])
    rows = wide.pack(np.full((1, 2), 89, dtype=np.uint32))
    with pytest.raises(ValueError, match="another table"):
        narrow.group(rows, np.ones(1, dtype=np.int64), np.zeros(2, dtype=np.uint32), True)
    with pytest.raises(ValueError, match="whole rows"):
        narrow.pack(np.zeros((2, 3), dtype=np.uint32))


@given(grouping_tasks(), st.data())
def test_cells_are_the_groups_of_classes_and_values(task, data):
    maps, codes, levels, weights = task
    attribute = data.draw(st.integers(0, len(maps) - 1))
    maps[attribute] = [maps[attribute][0], np.zeros_like(maps[attribute][0])]
    levels = levels.copy()
    levels[attribute] = 1
    found = []
    for grouper in both(maps):
        cells = grouper.cells(grouper.pack(codes), weights, levels, attribute)
        assert [array.dtype for array in cells] == [np.uint32, np.int64, np.int64, np.uint32, np.int64, np.uint32]
        found.append([array.tolist() for array in cells])
    assert found[0] == found[1]
    first, sizes, starts, values, counts, first_of_cell = found[0]
    ids, expected_first, expected_sizes = obvious(maps, codes, levels, weights)
    assert (first, sizes) == (expected_first, expected_sizes)
    expected = {}
    for row, (klass, weight) in enumerate(zip(ids, weights.tolist(), strict=True)):
        cell = expected.setdefault((klass, int(codes[row, attribute])), [0, row])
        cell[0] += weight
    classes = [klass for klass in range(len(sizes)) for _ in range(starts[klass], starts[klass + 1])]
    cells = zip(classes, values, counts, first_of_cell, strict=True)
    assert {(klass, value): [count, row] for klass, value, count, row in cells} == expected


def test_cells_of_an_attribute_that_is_not_there_are_refused():
    for grouper in both([[np.arange(2, dtype=np.uint32)]]):
        rows = grouper.pack(np.zeros((1, 1), dtype=np.uint32))
        with pytest.raises(ValueError, match="no such attribute"):
            grouper.cells(rows, np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.uint32), 1)


class TestWorkers:
    maps: ClassVar = [[np.arange(50, dtype=np.uint32), np.zeros(50, dtype=np.uint32)] for _ in range(3)]

    def task(self, seed):
        random = np.random.default_rng(seed)
        return random_codes(random, self.maps, 2000), random.integers(1, 100, 2000)

    @pytest.mark.parametrize("kernels", [native, reference])
    @pytest.mark.parametrize("count", [1, 2, 5])
    def test_what_is_begun_is_finished_whatever_the_order(self, kernels, count):
        grouper, workers = kernels.Grouper(self.maps), kernels.Workers(count)
        levels = [np.array(own, dtype=np.uint32) for own in ((0, 0, 0), (0, 1, 0), (1, 1, 1), (0, 0, 1))]
        jobs = []
        for seed in range(12):
            codes, weights = self.task(seed)
            rows = grouper.pack(codes)
            jobs.append((workers.group(grouper, rows, weights, levels[seed % 4]), rows, weights, levels[seed % 4]))
            jobs.append((workers.cells(grouper, rows, weights, levels[3], 2), rows, weights, None))
        for job, rows, weights, own in reversed(jobs):
            if own is None:
                expected = grouper.cells(rows, weights, levels[3], 2)
            else:
                expected = grouper.group(rows, weights, own, False)
            for one, other in zip(job.result(), expected, strict=True):
                assert np.array_equal(one, other)

    def test_jobs_that_nobody_asks_for_do_no_harm(self):
        """The arrays live as long as the job, and the job until it is done, also when nobody waits for it."""
        for _ in range(50):
            grouper, workers = native.Grouper(self.maps), native.Workers(2)
            codes, weights = self.task(1)
            jobs = [workers.group(grouper, grouper.pack(codes), weights.copy(), np.zeros(3, dtype=np.uint32))]
            jobs.append(workers.cells(grouper, grouper.pack(codes), weights, np.array([0, 0, 1], dtype=np.uint32), 2))
            del grouper, codes, weights, workers
            del jobs

    def test_an_error_comes_with_the_result(self):
        grouper, workers = native.Grouper(self.maps), native.Workers(1)
        rows = grouper.pack(np.zeros((1, 3), dtype=np.uint32))
        job = workers.group(grouper, rows, np.ones(1, dtype=np.int64), np.array([0, 0, 9], dtype=np.uint32))
        with pytest.raises(ValueError, match="no such level"):
            job.result()

    def test_a_result_is_given_once(self):
        grouper, workers = native.Grouper(self.maps), native.Workers(1)
        rows = grouper.pack(np.zeros((1, 3), dtype=np.uint32))
        job = workers.group(grouper, rows, np.ones(1, dtype=np.int64), np.zeros(3, dtype=np.uint32))
        job.result()
        with pytest.raises(ValueError, match="once"):
            job.result()


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), max_size=30), st.integers(0, 20))
def test_sizes_are_summarized(classes, least):
    sizes = np.array([size for size, _ in classes], dtype=np.int64)
    kept = np.array([stays for _, stays in classes], dtype=bool)
    stay = [size for size, stays in classes if stays]
    expected = (sum(stay), len(stay), min(stay, default=0), sum(size for size, _ in classes if size < least))
    assert native.summarize(sizes, kept, least) == reference.summarize(sizes, kept, least) == expected
