import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import Redaction


def build(values, **options):
    return Redaction(**options).build(values, attribute="zip")


def columns(hierarchy, value):
    place = hierarchy.values.index(value)
    return [labels[groups[place]] for labels, groups in zip(hierarchy.labels, hierarchy.groups, strict=True)]


def test_a_postal_code_is_masked_from_the_right():
    hierarchy = build(["81667", "81675"])
    assert columns(hierarchy, "81667") == ["81667", "8166*", "816**", "81***", "8****", "*"]
    assert columns(hierarchy, "81675")[2] == "816**"


def test_a_postal_code_is_masked_from_the_left():
    assert columns(build(["81667"], order="left_to_right"), "81667")[1:3] == ["*1667", "**667"]


def test_the_mask_can_be_another_character_but_the_top_is_a_star():
    assert columns(build(["123"], mask="#"), "123") == ["123", "12#", "1##", "*"]


def test_shorter_values_are_padded_where_masking_starts():
    assert columns(build(["1", "123"], padding="_"), "1") == ["1", "1_*", "1**", "*"]
    assert columns(build(["1", "123"], padding="_", order="left_to_right"), "1") == ["1", "*_1", "**1", "*"]
    assert columns(build(["1", "123"]), "1")[1] == "1 *"


def test_values_that_differ_by_padding_alone_fall_together_at_the_first_level():
    assert len(build(["1", "1_", "12"], padding="_", length=3).labels[1]) == 2


def test_one_character_leaves_only_the_value_and_the_star():
    assert build(["m", "w"]).labels == (("m", "w"), ("*",))
    assert build(["m"], length=1).top == 1


def test_the_length_decides_the_levels_and_longer_values_are_unknown():
    hierarchy = build(["1", "12345"], length=3)
    assert hierarchy.values == ("1",)
    assert hierarchy.top == 3
    assert hierarchy.notes == ()


def test_without_a_length_a_note_says_that_the_data_decided():
    assert "depends on the data" in build(["123"]).notes[0]


def test_labels_do_not_depend_on_the_other_values_when_the_length_is_given():
    few, many = build(["12"], length=4), build(["12", "1234", "9"], length=4)
    assert columns(few, "12") == columns(many, "12")


def test_a_star_or_an_empty_cell_in_the_data_has_no_place():
    assert build(["", "*", "12"]).values == ("12",)


def test_no_values_make_an_empty_hierarchy_with_a_top():
    assert build([]).labels == ((), ("*",))
    assert build([], length=3).top == 3


def test_characters_count_not_bytes():
    assert columns(build(["äöü"]), "äöü") == ["äöü", "äö*", "ä**", "*"]


def test_free_text_is_refused_before_it_fills_the_memory():
    with pytest.raises(InputError) as caught:
        build(["secret" * 20])
    assert caught.value.code == "redaction-too-long"
    assert "secret" not in caught.value.message
    assert build(["secret" * 20, "a"], length=5).values == ("a",)


@pytest.mark.parametrize(
    "options",
    [
        {"order": "sideways"},
        {"order": 3},
        {"mask": ""},
        {"mask": "**"},
        {"mask": None},
        {"padding": "  "},
        {"padding": 0},
        {"length": 0},
        {"length": True},
        {"length": 2.5},
        {"length": 101},
    ],
)
def test_bad_options_are_refused_by_name(options):
    with pytest.raises(InputError, match=next(iter(options))) as caught:
        Redaction(**options)
    assert caught.value.code == "hierarchy-option-invalid"
