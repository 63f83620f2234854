from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import CsvFile, Hierarchy
from support.work import counted_calls

ZIP = Path(__file__).parents[4] / "shared" / "data" / "hierarchies" / "cup_hierarchy_ZIP.csv"
COLUMNS = [["a", "b", "c", "d"], ["x", "x", "y", "y"], ["*", "*", "*", "*"]]


def make(*columns: list[str], **options) -> Hierarchy:
    return Hierarchy.from_columns(list(columns), attribute="ward", **options)


def refused(*columns: list[str], **options) -> InputError:
    with pytest.raises(InputError) as caught:
        make(*columns, **options)
    return caught.value


def test_columns_become_dense_groups_with_labels():
    hierarchy = make(*COLUMNS)
    assert hierarchy.values == ("a", "b", "c", "d")
    assert [list(groups) for groups in hierarchy.groups] == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert hierarchy.labels == (("a", "b", "c", "d"), ("x", "y"), ("*",))
    assert all(groups.dtype == np.uint32 for groups in hierarchy.groups)
    assert all(shares.dtype == np.float64 for shares in hierarchy.shares)
    assert hierarchy.top == 2
    assert hierarchy.notes == ()
    assert hierarchy.column(1) == ["x", "x", "y", "y"]


def test_shares_count_the_values_that_a_group_no_longer_tells_apart():
    shares = make(["a", "b", "c"], ["x", "x", "c"], ["*"] * 3).shares
    assert [list(level) for level in shares] == [[0, 0, 0], [0.5, 0], [1]]


def test_a_single_value_has_share_zero_at_every_level():
    assert [list(level) for level in make(["a"], ["x"], ["*"]).shares] == [[0], [0], [0]]


def test_given_shares_are_taken_over_per_group():
    hierarchy = make(*COLUMNS, shares=[[0] * 4, [0.25, 0.25, 0.5, 0.5]])
    assert list(hierarchy.shares[1]) == [0.25, 0.5]
    assert list(hierarchy.shares[2]) == [1]


@pytest.mark.parametrize("shares", [[[0] * 4], [[0] * 4, [2] * 4], [[0] * 4, [0] * 3], [[0] * 4, [np.nan] * 4]])
def test_shares_that_do_not_fit_are_refused(shares):
    assert refused(*COLUMNS, shares=shares).code == "hierarchy-bad-shares"


def test_a_frame_of_text_is_taken_as_it_is():
    frame = pl.DataFrame({"v": ["a", "b"], "one": ["x", "x"]})
    assert Hierarchy.from_columns(frame, attribute="ward").labels == (("a", "b"), ("x",), ("*",))


def test_a_missing_top_level_is_added_with_a_note():
    hierarchy = make(["a", "b", "c"], ["x", "x", "y"])
    assert hierarchy.labels[-1] == ("*",)
    assert hierarchy.top == 2
    assert "level 2 (*) was added" in hierarchy.notes[-1]


def test_values_alone_get_the_top_level():
    assert make(["a", "b"]).labels == (("a", "b"), ("*",))


def test_levels_of_stars_are_kept_so_that_level_numbers_stay():
    assert make(["a", "b"], ["*", "*"], ["*", "*"]).top == 2


def test_a_hierarchy_may_be_empty():
    hierarchy = make([], [], [])
    assert hierarchy.values == ()
    assert hierarchy.labels == ((), (), ("*",))
    assert hierarchy.encode(["a"]).tolist() == [-1]
    assert hierarchy.table().shape == (0, 3)


def test_levels_that_are_not_monotone_are_refused_with_level_and_counts_only():
    error = refused(["Zoe", "Yan", "Xu"], ["Pia", "Pia", "Quy"], ["Rio", "Sue", "Sue"])
    assert error.code == "hierarchy-not-monotone"
    assert "ward" in error.message
    assert "level 2 splits 1 of the 2 groups of level 1" in error.message
    assert not any(word in error.message for word in ("Zoe", "Yan", "Xu", "Pia", "Quy", "Rio", "Sue"))


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ([["a", "a", "b"], ["*"] * 3], "hierarchy-duplicate-values"),
        ([["a", "b"], ["x", ""]], "hierarchy-empty-label"),
        ([["a", "b"], ["x", None]], "hierarchy-empty-label"),
        ([["a", "*"], ["*", "*"]], "hierarchy-star-value"),
        ([["a", None], ["*", "*"]], "hierarchy-star-value"),
        ([["a", "b"], ["x", "*"], ["*", "*"]], "hierarchy-star-label"),
        ([["a", "b"], ["x", "*"]], "hierarchy-star-label"),
        ([], "hierarchy-empty"),
        ([["a", "b"], ["*"]], "hierarchy-ragged-levels"),
        ([["a", 5], ["*", "*"]], "hierarchy-not-text"),
    ],
)
def test_labels_that_make_no_hierarchy_are_refused(columns, code):
    assert refused(*columns).code == code


def test_a_frame_of_numbers_is_refused():
    with pytest.raises(InputError) as caught:
        Hierarchy.from_columns(pl.DataFrame({"v": [1, 2]}), attribute="ward")
    assert caught.value.code == "hierarchy-not-text"


def test_an_empty_value_stands_for_missing_cells():
    assert make(["a", ""], ["x", "missing"]).encode(["", "a", None]).tolist() == [1, 0, -1]


def test_encode_finds_values_and_marks_unknown_ones():
    hierarchy = make(*COLUMNS)
    assert hierarchy.encode(["d", "a", "nobody", "a"]).tolist() == [3, 0, -1, 0]
    assert hierarchy.encode(pl.Series(["c", None])).tolist() == [2, -1]
    assert hierarchy.encode(["a"]).dtype == np.int64
    assert hierarchy.encode([]).tolist() == []


def test_the_fingerprint_depends_on_every_label_but_not_on_the_order_of_values():
    one = make(["a", "b"], ["x", "x"]).fingerprint()
    assert len(one) == 64
    assert one == make(["b", "a"], ["x", "x"]).fingerprint()
    assert one != make(["a", "b"], ["y", "y"]).fingerprint()
    assert one != make(["a", "b"]).fingerprint()


@pytest.mark.skipif(not ZIP.exists(), reason="the public benchmark hierarchies are not here")
def test_a_hundred_thousand_values_are_grouped_without_a_step_in_python_for_each():
    table = CsvFile(str(ZIP)).label([], attribute="zip").columns
    hierarchy, calls = counted_calls(lambda: Hierarchy.from_columns(table, attribute="zip"))
    assert [len(labels) for labels in hierarchy.labels] == [100_000, 10_000, 1_000, 100, 10, 1]
    assert calls < 50_000, calls
