import json

import polars as pl
import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import CsvFile, Hierarchy, Intervals, Redaction, Tree, check_hierarchy

AGES = Intervals(lower=0, upper=100, widths=[5, 10])


def check(source, cells):
    return check_hierarchy(source, pl.Series(cells, dtype=pl.String), attribute="age")


def from_csv(folder, content):
    (folder / "h.csv").write_text(content)
    return CsvFile("h.csv", folder=folder)


def test_a_hierarchy_that_fits_is_ok():
    found = check(AGES, ["39", "12", "39"])
    assert found.ok
    assert (found.levels, found.values, found.groups_per_level) == (4, 2, (2, 2, 2, 1))
    assert (found.missed_values, found.missed_rows, found.unused_values, found.collisions) == (0, 0, 0, 0)
    assert "fits the data" in found.text()


def test_missed_values_are_counted_and_their_rows_numbered_from_one():
    found = check(AGES, ["39", "Zoe", None, "", "120", "Zoe"])
    assert not found.ok
    assert (found.missed_values, found.missed_rows, found.missed_row_numbers) == (2, 3, (2, 5, 6))
    assert "rows 2, 5, 6" in found.text()
    assert "Zoe" not in found.text() + repr(found) + json.dumps(found.to_dict())


def test_only_the_first_ten_row_numbers_are_given():
    found = check(AGES, ["x"] * 30)
    assert found.missed_row_numbers == tuple(range(1, 11))
    assert found.missed_rows == 30
    assert "10, ..." in found.text()


def test_missing_cells_are_not_missed():
    assert check(AGES, [None, "", "5"]).ok
    assert check(AGES, [None, ""]).ok
    assert check(AGES, []).ok


def test_values_of_a_file_that_are_not_in_the_data_are_unused(tmp_path):
    builder = from_csv(tmp_path, "a;*\nb;*\n;*\n")
    assert check(builder, ["a"]).unused_values == 2
    assert check(builder, ["a", None]).unused_values == 1


def test_levels_that_are_not_monotone_are_reported(tmp_path):
    found = check(from_csv(tmp_path, "a;x;1;*\nb;x;2;*\nc;y;2;*\n"), ["a", "b", "c"])
    assert not found.monotone
    assert not found.ok
    assert found.groups_per_level == (3, 2, 2, 1)
    assert "not monotone: level 2 splits 1 of the 2 groups of level 1" in found.text()


def test_what_is_no_hierarchy_at_all_is_still_an_error(tmp_path):
    with pytest.raises(InputError):
        check(from_csv(tmp_path, "a;*\na;*\n"), ["a"])


@pytest.mark.parametrize(
    ("columns", "collisions"),
    [
        ([["a", "b", "c"], ["x", "x", "y"], ["x", "x", "y"]], 0),
        ([["a", "b", "c"], ["x", "x", "y"], ["x", "x", "x"]], 1),
        ([["a", "b", "c"], ["a", "a", "c"]], 0),
        ([["a", "b", "c"], ["c", "c", "d"]], 1),
        ([["a", "b", "c"], ["b", "d", "c"]], 1),
        ([["a", "b"], ["*", "*"], ["*", "*"]], 0),
    ],
)
def test_labels_with_two_meanings_are_collisions(columns, collisions):
    found = check(Hierarchy.from_columns(columns, attribute="age"), ["a"])
    assert found.collisions == collisions
    assert found.ok == (collisions == 0)


def test_a_category_named_like_one_of_its_values_is_no_collision():
    assert check(Tree({"flu": ["flu", "swine flu"]}), ["flu"]).collisions == 0


def test_notes_of_the_hierarchy_are_passed_on():
    assert "depends on the data" in check(Redaction(), ["12"]).text()


def test_the_findings_go_to_json():
    found = json.loads(json.dumps(check(AGES, ["39", "x"]).to_dict()))
    assert found["ok"] is False
    assert found["missed_row_numbers"] == [2]
    assert found["groups_per_level"] == [1, 1, 1, 1]
