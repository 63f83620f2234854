import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import Ordering


def build(data, **options):
    return Ordering(**options).build(data, attribute="stage")


def test_neighbours_are_grouped_and_groups_of_groups():
    hierarchy = build(list("abcdefg"), fanouts=[3, 2])
    assert hierarchy.labels == (tuple("abcdefg"), ("a – c", "d – f", "g"), ("a – f", "g"), ("*",))
    assert "depends on the data" in hierarchy.notes[0]


def test_sets_list_what_they_cover():
    assert build(list("abc"), fanouts=[2], labels="set").labels[1] == ("{a, b}", "{c}")


def test_numbers_are_ordered_by_size_and_other_texts_are_unknown():
    hierarchy = build(["10", "9", "100", "old"], by="number", fanouts=[2])
    assert hierarchy.values == ("9", "10", "100")
    assert hierarchy.labels[1] == ("9 – 10", "100")


def test_equal_numbers_stay_in_one_group():
    hierarchy = build(["38", "39", "39.0", "40"], by="number", fanouts=[2])
    assert hierarchy.column(1) == ["38 – 39", "38 – 39", "38 – 39", "40"]


def test_given_values_make_the_hierarchy_independent_of_the_data():
    options = {"values": ["I", "II", "III", "IV"], "fanouts": [2]}
    assert build([], **options).fingerprint() == build(["IV", "V"], **options).fingerprint()
    hierarchy = build(["V"], **options)
    assert hierarchy.values == ("I", "II", "III", "IV")
    assert hierarchy.labels[1] == ("I – II", "III – IV")
    assert hierarchy.notes == ()


def test_given_values_can_be_sorted():
    assert build([], values=["b", "a"], by="text", fanouts=[2]).values == ("a", "b")
    assert build([], values=["10", 9], by="number", fanouts=[2]).values == ("9", "10")
    assert build([], values=["b", "a"], by="given", fanouts=[2]).values == ("b", "a")


def test_values_that_look_like_labels_are_quoted_so_that_groups_stay_apart():
    hierarchy = build(["a", "b", "a – b", 'say "a"'], fanouts=[2])
    assert hierarchy.values == ("a", "a – b", "b", 'say "a"')
    assert hierarchy.labels[1] == ('a – "a – b"', 'b – "say ""a"""')
    sets = build(["a", "b", "a, b"], fanouts=[2], labels="set")
    assert sets.labels[1] == ('{a, "a, b"}', "{b}")


def test_stars_and_empty_cells_have_no_place():
    assert build(["", "*", "a"], fanouts=[2]).values == ("a",)


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        ({"fanouts": [1]}, "hierarchy-option-invalid", "fanouts"),
        ({"fanouts": [2.5]}, "hierarchy-option-invalid", "fanouts"),
        ({"fanouts": 3}, "hierarchy-option-invalid", "fanouts"),
        ({"fanouts": [2], "by": "size"}, "hierarchy-option-invalid", "by"),
        ({"fanouts": [2], "by": "given"}, "hierarchy-option-missing", "values"),
        ({"fanouts": [2], "labels": "short"}, "hierarchy-option-invalid", "labels"),
        ({"fanouts": [2], "values": []}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": "abc"}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": ["a", "a"]}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": ["a", "*"]}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": ["a", ""]}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": ["a", False]}, "hierarchy-option-invalid", "values"),
        ({"fanouts": [2], "values": ["a", 1.50]}, "hierarchy-option-invalid", "quotes"),
        ({"fanouts": [2], "values": ["Zoe"], "by": "number"}, "hierarchy-option-invalid", "1 of the values"),
    ],
)
def test_bad_options_are_refused_by_name(options, code, named):
    with pytest.raises(InputError, match=named) as caught:
        Ordering(**options)
    assert caught.value.code == code
    assert "Zoe" not in caught.value.message


def test_without_fanouts_there_are_two_levels_the_value_and_the_star():
    hierarchy = build(["b", "a"])
    assert hierarchy.top == 1
    assert hierarchy.labels == (("a", "b"), ("*",))
