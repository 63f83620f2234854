import numpy as np
import polars as pl
import pytest

from kohorte.engines import LocalEngine
from kohorte.errors import InputError
from kohorte.hierarchies import Hierarchy, Redaction, Tree
from kohorte.sources import FrameSource, Missing, encode, encode_rows

TREE = Tree({"x": ["a", "b"], "y": ["c", "d"]})
SHOWN = "a canary value"


def encode_column(values, hierarchy=TREE, *, missing=Missing.CATEGORY):
    return encode_rows(pl.DataFrame({"ward": values}), {"ward": hierarchy}, missing=missing)


def shown(table, level):
    return table.columns[0].generalized(level).to_list()


def test_every_level_shows_the_labels_of_the_hierarchy():
    table = encode_column(["d", "a", "b", "a"])
    assert table.shape == (3,)
    assert [shown(table, level) for level in range(3)] == [
        ["d", "a", "b", "a"],
        ["y", "x", "x", "x"],
        ["*"] * 4,
    ]


def test_generalized_codes_are_dense_and_follow_only_values_that_occur():
    column = encode_column(["d", "a", "a"]).columns[0]
    assert [sorted(set(own.tolist())) for own in column.maps] == [[0, 1], [0, 1], [0]]
    assert [len(labels) for labels in column.labels] == [2, 2, 1]


def test_shares_count_all_values_of_the_hierarchy_not_those_of_the_data():
    column = encode_column(["a", "c"]).columns[0]
    assert [list(shares) for shares in column.shares] == [[0, 0], [1 / 3, 1 / 3], [1]]


def test_numbers_meet_their_hierarchy_as_text():
    table = encode_rows(pl.DataFrame({"zip": [81667, 81925]}), {"zip": Redaction(length=5)}, missing=Missing.REFUSE)
    assert table.columns[0].generalized(3).to_list() == ["81***", "81***"]


@pytest.mark.parametrize("absent", [None, ""])
def test_a_missing_value_is_a_category_of_its_own_below_the_top(absent):
    table = encode_column(["a", absent, "c"])
    assert [shown(table, level) for level in range(3)] == [["a", None, "c"], ["x", None, "y"], ["*"] * 3]
    assert table.included.all()


def test_nan_is_missing_too():
    values = pl.Series([1.0, float("nan"), 2.0])
    table = encode_column(values, Tree(["1", "2"]))
    assert shown(table, 0) == ["1", None, "2"]


def test_a_hierarchy_may_say_what_becomes_of_missing_values():
    hierarchy = Hierarchy.from_columns([["a", "b", ""], ["x", "x", "none"], ["*"] * 3], attribute="ward")
    table = encode_column(["a", None, "b"], hierarchy)
    assert shown(table, 1) == ["x", "none", "x"]


def test_a_missing_value_may_share_a_label_with_others():
    hierarchy = Hierarchy.from_columns([["a", "b", ""], ["x", "y", "x"], ["*"] * 3], attribute="ward")
    groups = LocalEngine(encode_column(["a", None, "b"], hierarchy)).groups((1,))
    assert groups.sizes.tolist() == [2, 1]


def test_rows_with_a_missing_value_in_any_column_are_excluded():
    frame = pl.DataFrame({"ward": ["a", None, "b", "c"], "sex": ["m", "m", None, "f"]})
    table = encode_rows(frame, {"ward": TREE, "sex": Tree(["m", "f"])}, missing=Missing.SUPPRESS)
    assert table.included.tolist() == [True, False, False, True]
    marginals = table.marginals({})
    assert [int(column.counts.sum()) for column in marginals.columns] == [2, 2]
    assert marginals.rows == 4


def test_missing_values_are_refused_with_column_count_and_rows():
    with pytest.raises(InputError, match=r"'ward' has 2 rows \(2, 4\)") as caught:
        encode_column(["a", None, "b", None], missing=Missing.REFUSE)
    assert caught.value.code == "missing-refused"


def test_values_that_the_hierarchy_does_not_know_are_refused_without_naming_them():
    with pytest.raises(InputError, match=r"'ward'.* 1 of 2 distinct values, in 2 rows \(2, 3\)") as caught:
        encode_column(["a", SHOWN, SHOWN, None])
    assert caught.value.code == "value-not-in-hierarchy"
    assert SHOWN not in str(caught.value)


def test_a_long_list_of_rows_is_cut_off():
    with pytest.raises(InputError, match=r"12 rows \(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\.\)"):
        encode_column([SHOWN] * 12)


def test_weights_reach_the_marginals_by_name():
    frame = pl.DataFrame({"ward": ["a"], "sex": ["m"]})
    table = encode_rows(frame, {"ward": TREE, "sex": Tree(["m", "f"])}, missing=Missing.REFUSE)
    assert table.marginals({"sex": 0.25}).weights.tolist() == [1.0, 0.25]


def test_a_column_at_level_0_keeps_its_type_when_nothing_is_suppressed():
    frame = pl.DataFrame({"age": [3, 4]})
    source = FrameSource(frame)
    tuples = source.distinct(["age"])
    table = encode(source, tuples, {"age": Tree(["3", "4"])}, missing=Missing.REFUSE)
    whole, part = (table.shown((0,), np.array(kept)) for kept in ([True, True], [True, False]))
    assert source.released(tuples, whole, shuffled=False).in_memory("a test").equals(frame)
    assert source.released(tuples, part, shuffled=False).in_memory("a test").rows() == [("3",), ("*",)]
