import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import Tree, builder_from_dict

DIAGNOSES = {"Infectious": {"Viral": ["flu", "measles"], "Bacterial": ["tb"]}}


def from_file(folder, content: str):
    (folder / "t.yaml").write_text(content, encoding="utf-8")
    return Tree(path="t.yaml", folder=folder).build([], attribute="diagnosis")


def columns(hierarchy):
    return [tuple(hierarchy.column(level)) for level in range(hierarchy.top + 1)]


def test_categories_become_levels():
    assert columns(Tree(DIAGNOSES).build(["cough"], attribute="d")) == [
        ("flu", "measles", "tb"),
        ("Viral", "Viral", "Bacterial"),
        ("Infectious",) * 3,
        ("*",) * 3,
    ]


def test_values_that_stand_less_deep_stay_themselves_until_their_category():
    tree = {**DIAGNOSES, "Metabolic": ["gout"], "healthy": None}
    hierarchy = Tree(tree).build([], attribute="d")
    place = hierarchy.values.index("gout")
    assert [column[place] for column in columns(hierarchy)] == ["gout", "gout", "Metabolic", "*"]
    place = hierarchy.values.index("healthy")
    assert [column[place] for column in columns(hierarchy)] == ["healthy", "healthy", "healthy", "*"]


def test_lists_may_mix_values_and_categories():
    hierarchy = Tree({"A": ["x", {"B": ["y", "z"]}]}).build([], attribute="d")
    assert columns(hierarchy)[1:3] == [("x", "B", "B"), ("A", "A", "A")]


def test_a_file_is_read_as_text_throughout(tmp_path):
    hierarchy = from_file(tmp_path, "Yes and no: [no, yes, 0123, 1.50, 2024-01-01, ~]\nEmpty:\n")
    assert hierarchy.values == ("no", "yes", "0123", "1.50", "2024-01-01", "~", "Empty")


def test_a_flat_list_of_values_has_only_the_star_above_it():
    assert columns(Tree(["a", "b"]).build([], attribute="d")) == [("a", "b"), ("*", "*")]


def test_a_tree_that_is_named_as_such_is_no_category_of_all_its_values(tmp_path):
    assert builder_from_dict({"tree": {"tree": DIAGNOSES}}, folder=tmp_path) == Tree(DIAGNOSES)


def test_equal_trees_make_equal_builders(tmp_path):
    assert Tree(DIAGNOSES) == Tree({"Infectious": {"Bacterial": ("tb",), "Viral": ("flu", "measles")}})
    assert Tree(DIAGNOSES) == Tree(dict(DIAGNOSES), folder=tmp_path)
    assert hash(Tree(DIAGNOSES)) == hash(Tree(dict(DIAGNOSES)))
    assert eval(repr(Tree(DIAGNOSES))) == Tree(DIAGNOSES)


def test_the_same_category_name_in_two_places_is_not_monotone():
    with pytest.raises(InputError) as caught:
        Tree({"A": {"Other": ["x"]}, "B": {"Other": ["y"]}}).build([], attribute="d")
    assert caught.value.code == "hierarchy-not-monotone"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("A: [Zoe, Zoe]", "tree-duplicate-values"),
        ("A: [Zoe]\nB: {C: Zoe}", "tree-duplicate-values"),
        ("Zoe: [a]\nZoe: [b]", "tree-duplicate-key"),
        ("A: {Zoe: [a], Zoe: [b]}", "tree-duplicate-key"),
        ("A: [Zoe\nB: x", "tree-malformed"),
        ("A: &Zoe [a]\nB: *Zoe", "tree-malformed"),
        ("!!python/object:Zoe.x {}", "tree-empty"),
        ("{[Zoe]: a}", "tree-malformed"),
        ("", "hierarchy-option-invalid"),
        ("[]", "tree-empty"),
        ("A: [Zoe, '*']", "hierarchy-option-invalid"),
        ("A: [Zoe, '']", "hierarchy-option-invalid"),
        ("[" * 60 + "Zoe" + "]" * 60, "tree-too-deep"),
        ("[" * 5000 + "Zoe" + "]" * 5000, "tree-too-deep"),
    ],
)
def test_a_file_that_is_no_tree_is_refused_without_its_content(tmp_path, content, code):
    with pytest.raises(InputError) as caught:
        from_file(tmp_path, content)
    assert caught.value.code == code
    assert "Zoe" not in caught.value.message


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml") as caught:
        Tree(path="nowhere.yaml", folder=tmp_path).build([], attribute="d")
    assert caught.value.code == "hierarchy-file-missing"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "hierarchy-option-missing"),
        ({"tree": ["a"], "path": "t.yaml"}, "hierarchy-option-missing"),
        ({"path": ""}, "hierarchy-option-invalid"),
        ({"tree": {}}, "tree-empty"),
        ({"tree": ["a", "a"]}, "tree-duplicate-values"),
        ({"tree": {"A": [False]}}, "hierarchy-option-invalid"),
        ({"tree": {True: ["a"]}}, "hierarchy-option-invalid"),
        ({"tree": {"A": ["*"]}}, "hierarchy-option-invalid"),
        ({"tree": {"*": ["a"]}}, "hierarchy-option-invalid"),
    ],
)
def test_bad_options_are_refused(options, code):
    with pytest.raises(InputError) as caught:
        Tree(**options)
    assert caught.value.code == code


def test_a_file_may_be_named_as_path_like_that_of_a_csv_hierarchy(tmp_path):
    (tmp_path / "diagnosis.yaml").write_text("Infectious: [flu, tb]\n", encoding="utf-8")
    written, short = ({"tree": {"path": "diagnosis.yaml"}}, {"tree": "diagnosis.yaml"})
    builder = builder_from_dict(written, folder=tmp_path)
    assert builder == builder_from_dict(short, folder=tmp_path)
    assert builder.build([], attribute="d").values == ("flu", "tb")
    inline = builder_from_dict({"tree": {"path": ["x", "y"]}}, folder=tmp_path)
    assert inline.build([], attribute="d").values == ("x", "y")  # a category of this name
