"""What every engine promises for the tables of every source, against a plain count of the rows."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.engines import ENGINES, Engine, LocalEngine, PersonSetsEngine
from kohorte.errors import InputError
from kohorte.groups import Groups
from kohorte.hierarchies import Hierarchy
from kohorte.models import DistinctLDiversity, KMap
from kohorte.sources import (
    COUNT,
    SOURCES,
    DuckDbSource,
    EncodedTable,
    FrameSource,
    Missing,
    PersonColumns,
    TableSource,
    Tuples,
    encode,
)
from support import oracle
from support.examples import examples
from support.strategies import DIAGNOSIS, INCOME, guarded_tables, tables
from support.tables import SUBSET, Row, SmallTable, flat_levels

MODELS = (
    DistinctLDiversity(l=2, attribute=DIAGNOSIS),
    DistinctLDiversity(l=2, attribute=INCOME),
    KMap(k=2, subset=SUBSET),
)

every_source = pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: kind.name)
every_pair = pytest.mark.parametrize(
    ("engine", "kind"), [(engine, kind) for engine in ENGINES for kind in SOURCES], ids=lambda one: one.name
)


@contextmanager
def opened(kind: type[TableSource], frame: pl.DataFrame) -> Iterator[TableSource]:
    """A table in a source of each kind."""
    if kind is FrameSource:
        yield FrameSource(frame)
        return
    with tempfile.TemporaryDirectory() as folder:
        frame.write_parquet(Path(folder) / "table.parquet")
        yield DuckDbSource(Path(folder) / "table.parquet")


PERSON = "person"


def numbered(frame: pl.DataFrame, first: int = 0) -> pl.DataFrame:
    """Make every row another person."""
    return frame.with_columns(pl.Series(PERSON, [f"{first + row}" for row in range(frame.height)], dtype=pl.String))


def encoded(source: TableSource, table: SmallTable) -> tuple[Tuples, EncodedTable]:
    names = [name for name, _ in table.secrets]
    person = [PERSON] if PERSON in source.columns else []
    tuples = source.distinct([*table.names, *names, *person])
    levels = zip(table.names, table.levels, strict=True)
    hierarchies = {name: Hierarchy.from_columns(own, attribute=name) for name, own in levels}
    sensitive = {name: own.builder(name) for name, own in table.secrets}
    populations = {
        key: replace(people, frame=numbered(people.frame, len(table.rows)), names_people=True) if person else people
        for key, people in table.populations.items()
    }
    options = {"missing": table.missing, "sensitive": sensitive, "populations": populations}
    if person:
        options["person"] = PersonColumns((PERSON,))
    return tuples, encode(source, tuples, hierarchies, **options)


def shown_by(columns: EncodedTable, groups: Groups) -> list[Row]:
    codes = groups.codes(np.ones(len(groups), dtype=bool))
    parts = zip(columns.columns, groups.node, codes.T, strict=True)
    return list(zip(*(column.labelled(level, own).to_list() for column, level, own in parts), strict=True))


def check_groups(table: SmallTable, own: EncodedTable, groups: Groups) -> None:
    """Compare the classes of a node with a count of the rows one by one."""
    judged = oracle.judge(table, groups.node, lambda size: True, 1)
    classes = shown_by(own, groups)
    assert Counter(dict(zip(classes, groups.sizes.tolist(), strict=True))) == judged.sizes
    assert len(set(classes)) == len(groups)
    assert groups.excluded == judged.included.count(False)
    assert groups.rows == len(table.rows)
    for name, secret in table.secrets:
        rows = zip(judged.shown, judged.included, secret.values, strict=True)
        wanted = Counter(shown for shown, _ in {(row, value) for row, included, value in rows if included})
        assert Counter(dict(zip(classes, groups.histograms[name].distinct.tolist(), strict=True))) == wanted
        assert groups.histograms[name].sizes.tolist() == groups.sizes.tolist()
    for key, people in table.populations.items():
        rows = [*people.frame.rows(), *(filter(table.takes_part, table.rows) if people.includes_table else ())]
        everybody = Counter(oracle.generalize(table, row, groups.node) for row in rows)
        assert groups.populations[key].counts.tolist() == [everybody[shown] for shown in classes]
        assert groups.populations[key].empty_classes == len(everybody.keys() - set(classes))


def check_engine(make: Callable[[EncodedTable], Engine], table: SmallTable, tuples: Tuples, own: EncodedTable) -> None:
    """The contract: the same classes whether a node is counted, begun, screened, or asked for class by class."""
    engine = make(own)
    assert isinstance(engine, Engine)
    engine.use_threads(2)
    begun = {node: engine.begin(node) for node in list(table.lattice.nodes())[:4]}
    for node, finish in begun.items():
        groups = finish()
        assert groups.node == node
        check_groups(table, own, groups)
    engine.use_threads(0)
    for node in table.lattice.nodes():
        groups = engine.groups(node)
        check_groups(table, own, groups)
        check_groups(table, own, replace(groups, sizes=groups.judged.sizes))  # every row is another person
        screened = engine.sizes(node)
        assert screened is None or sorted(screened.sizes.tolist()) == sorted(groups.sizes.tolist())
        class_of, classes = engine.classes(node)
        weights = own.weights[own.included]
        assert len(class_of) == len(weights)
        assert np.bincount(class_of, weights, minlength=len(classes)).tolist() == classes.sizes.tolist()
    together = engine.all_rows(table.lattice.top)
    assert together.sizes.tolist() == [len(table.rows)]
    assert engine.distinct_rows >= len(engine.groups(table.lattice.bottom))
    assert engine.rolled_up >= 0


@every_pair
@examples(12)
@given(table=st.one_of(tables(weighted=False, most_attributes=2), guarded_tables(*MODELS)))
def test_an_engine_counts_the_tuples_of_a_source_as_one_counts_rows(engine, kind, table):
    if engine is PersonSetsEngine:
        table = replace(table, others=None)
    with opened(kind, table.frame if engine is LocalEngine else numbered(table.frame)) as source:
        check_engine(engine, table, *encoded(source, table))


@every_source
@examples(12)
@given(table=guarded_tables(*MODELS))
def test_a_source_counts_its_tuples_in_two_ways(kind, table):
    columns = list(table.frame.columns)
    wanted = Counter(table.frame.rows())
    with opened(kind, table.frame) as source:
        assert source.columns == tuple(columns)
        assert source.rows == len(table.rows)
        tuples = source.distinct(columns)
        texts = zip(*(tuples.text(name).to_list() for name in columns), strict=True)
        assert dict(zip(texts, tuples.counts.tolist(), strict=True)) == wanted
        counted = source.count_shown(columns)
        shown = counted.select(columns).rows()
        assert dict(zip(shown, counted[COUNT].to_list(), strict=True)) == wanted


@every_source
@examples(8)
@given(data=st.data())
def test_a_source_writes_what_each_tuple_shows(kind, data):
    table = data.draw(tables(weighted=False))
    node = data.draw(st.sampled_from(list(table.lattice.nodes())))
    frame = table.frame.with_columns(pl.Series("other", [float(number) for number in range(len(table.rows))]))
    with opened(kind, frame.with_columns(name=pl.lit("secret"))) as source, tempfile.TemporaryDirectory() as folder:
        tuples, own = encoded(source, table)
        kept = own.included.copy()
        kept[0] = data.draw(st.booleans()) and kept[0]
        released = source.released(tuples, own.shown(node, kept), without=["name"], shuffled=data.draw(st.booleans()))
        target = Path(folder) / "released.parquet"
        released.write(target, target, separator=",")
        written = released.reread(target, target, separator=",")
        found = pl.read_parquet(target)
    first = [tuples.text(name)[0] for name in table.names]
    wanted = []
    for row, (*_, other) in zip(table.rows, frame.rows(), strict=True):
        keeps = table.takes_part(row) and (bool(kept[0]) or list(row) != first)
        wanted.append((*(oracle.generalize(table, row, node) if keeps else ("*",) * len(row)), other))
    assert Counter(found.rows()) == Counter(wanted)
    assert written.table.columns == (*table.names, "other")
    assert len(written.sha256) == 64


@every_source
def test_the_policy_for_missing_values_is_that_of_every_source(kind):
    table = SmallTable((flat_levels("a", "b"),), (("a",), (None,), ("b",), (None,)), missing=Missing.REFUSE)
    with opened(kind, table.frame) as source:
        with pytest.raises(InputError, match=r"'column 0' has 2 rows") as caught:
            encoded(source, table)
        assert caught.value.code == "missing-refused"
        _, suppressed = encoded(source, replace(table, missing=Missing.SUPPRESS))
        assert (suppressed.rows, suppressed.excluded) == (4, 2)


class LevelZero(LocalEngine):
    """A stranger that gives away the codes of the finest level."""

    def groups(self, node):
        groups = super().groups(node)
        finest = super().groups((0,) * len(node))
        return replace(groups, codes=lambda which: finest.codes(np.ones(len(finest), dtype=bool))[: int(which.sum())])


class Forgetful(LocalEngine):
    """A stranger that loses a row."""

    def groups(self, node):
        groups = super().groups(node)
        return replace(groups, sizes=groups.sizes - (np.arange(len(groups)) == 0))


@pytest.mark.parametrize("stranger", [LevelZero, Forgetful])
def test_a_stranger_that_breaks_the_contract_is_refused(stranger):
    levels = (("a", "b", "c"), ("x", "x", "y"), ("*",) * 3)
    table = SmallTable((levels,), (("b",), ("a",), ("c",), ("c",)))
    tuples, own = encoded(FrameSource(table.frame), table)
    check_engine(LocalEngine, table, tuples, own)
    with pytest.raises((AssertionError, IndexError, pl.exceptions.PolarsError)):
        check_engine(stranger, table, tuples, own)


def test_something_without_all_methods_is_no_engine():
    class Half:
        name = "half"

        def groups(self, node):
            raise NotImplementedError

    assert not isinstance(Half(), Engine)


def test_the_names_of_a_family_differ():
    for family in (ENGINES, SOURCES):
        assert len({member.name for member in family}) == len(family)
