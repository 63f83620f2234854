"""What holds for the groups of every table, whatever was asked before."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kohorte.engines import LocalEngine
from kohorte.sources import FrameSource, Missing
from support import oracle
from support.examples import examples
from support.strategies import tables
from support.tables import SmallTable


def classes_of(engine, table, node):
    """Return the classes of a node in their order: generalized codes and size of each."""
    groups = engine.groups(node)
    codes = groups.codes(np.ones(len(groups), dtype=bool))
    return list(zip(*codes.T.tolist(), groups.sizes.tolist(), strict=True))


def a_larger_table(seed, *, rows=3000):
    random = np.random.default_rng(seed)
    levels = []
    for size in (40, 25, 12, 6):
        values = tuple(str(value) for value in range(size))
        halves = [tuple(f"{step}-{value // step}" for value in range(size)) for step in (2, 4, 8)]
        levels.append((values, *halves, ("*",) * size))
    cells = [[str(int(value)) for value in random.integers(len(own[0]), size=rows)] for own in levels]
    return SmallTable(tuple(levels), tuple(zip(*cells, strict=True)))


@given(st.data())
def test_groups_are_the_same_whatever_was_asked_before(data):
    table = data.draw(tables(weighted=False))
    nodes = list(table.lattice.nodes())
    asked = data.draw(st.lists(st.sampled_from(nodes), max_size=15))
    engine = table.engine()
    for node in asked:
        engine.groups(node)
    for node in data.draw(st.permutations(nodes))[:8]:
        assert classes_of(engine, table, node) == classes_of(table.engine(), table, node)


def test_roll_up_and_history_never_change_an_answer_on_a_larger_table():
    table = a_larger_table(1)
    random = np.random.default_rng(2)
    engine = table.engine()
    for index in random.permutation(table.lattice.size)[:400]:  # far more than are remembered
        engine.groups(table.lattice.node(int(index)))
    assert engine.rolled_up > 0
    for index in random.permutation(table.lattice.size)[:60]:
        node = table.lattice.node(int(index))
        assert classes_of(engine, table, node) == classes_of(table.engine(), table, node)


def test_four_threads_get_the_groups_of_one():
    table = a_larger_table(3)
    random = np.random.default_rng(4)
    nodes = [table.lattice.node(int(index)) for index in random.integers(table.lattice.size, size=200)]
    engine, alone = table.engine(), table.engine()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda node: classes_of(engine, table, node), nodes))
    assert together == [classes_of(alone, table, node) for node in nodes]


@given(tables(weighted=False))
def test_class_sizes_and_excluded_rows_add_up_to_all_rows(table):
    engine = table.engine()
    for node in table.lattice.nodes():
        groups = engine.groups(node)
        assert int(groups.sizes.sum()) + groups.excluded == groups.rows == len(table.rows)
        assert (groups.sizes > 0).all()


@given(tables(weighted=False))
def test_classes_are_those_of_the_oracle(table):
    engine = table.engine()
    for node in table.lattice.nodes():
        wanted = oracle.judge(table, node, lambda size: True, 1).sizes
        assert sorted(engine.groups(node).sizes.tolist()) == sorted(wanted.values())


@given(tables(weighted=False))
def test_every_included_row_knows_its_class(table):
    engine = table.engine()
    included = [row for row, inside in zip(table.rows, table.encoded.included, strict=True) if inside]
    for node in table.lattice.nodes():
        ids, groups = engine.classes(node)
        assert len(ids) == len(included)
        assert np.bincount(ids, minlength=len(groups)).tolist() == groups.sizes.tolist()
        shown = [oracle.generalize(table, row, node) for row in included]
        assert len(set(zip(shown, ids.tolist(), strict=True))) == len(set(shown)) == len(groups)


@given(tables(weighted=False))
def test_distinct_rows_are_counted_without_the_excluded_ones(table):
    included = [row for row, inside in zip(table.rows, table.encoded.included, strict=True) if inside]
    assert table.engine().distinct_rows == len(set(included))


@given(st.data())
def test_the_applied_table_has_the_classes_of_the_node(data):
    table = data.draw(tables(weighted=False))
    node = data.draw(st.sampled_from(list(table.lattice.nodes())))
    least = data.draw(st.integers(1, 3))
    engine = table.engine()
    ids, groups = engine.classes(node)
    kept = np.zeros(len(table.rows), dtype=bool)
    kept[table.encoded.included] = (groups.sizes >= least)[ids]
    source = FrameSource(table.frame, merged=False)
    shown = table.encoded.shown(node, kept)
    applied = source.released(source.distinct(table.names), shown, shuffled=False).in_memory("a test")
    assert applied.columns == list(table.names)
    assert applied.height == len(table.rows)
    shown = Counter(row for row, keeps in zip(applied.rows(), kept, strict=True) if keeps)
    assert sorted(shown.values()) == sorted(size for size in groups.sizes.tolist() if size >= least)
    assert all(set(row) == {"*"} for row, keeps in zip(applied.rows(), kept, strict=True) if not keeps)
    wanted = [oracle.generalize(table, row, node) for row in table.rows]
    assert all(got == want for got, want, keeps in zip(applied.rows(), wanted, kept, strict=True) if keeps)


@examples(20)
@given(tables(weighted=False, missing=()))
def test_a_table_of_excluded_rows_alone_has_no_classes(table):
    empty = SmallTable(table.levels, ((None,) * len(table.levels),) * 3, missing=Missing.SUPPRESS)
    engine = LocalEngine(empty.encoded)
    for node in empty.lattice.nodes():
        groups = engine.groups(node)
        assert (len(groups), groups.excluded, groups.rows) == (0, 3, 3)
        ids, _ = engine.classes(node)
        assert len(ids) == 0
