from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.errors import InputError
from kohorte.hierarchies import CsvFile, Rows, check_hierarchy, to_csv
from kohorte.models import KAnonymity


def refused(rows: object) -> InputError:
    with pytest.raises(InputError) as caught:
        Rows(rows).build([], attribute="country")
    return caught.value


def test_the_rows_decide_which_values_there_are():
    hierarchy = Rows([["a", "x", "*"], ["b", "x", "*"]]).build(["Zoe"], attribute="country")
    assert hierarchy.labels == (("a", "b"), ("x",), ("*",))
    assert hierarchy.encode(["Zoe", "b"]).tolist() == [-1, 1]


def test_an_empty_first_field_is_the_row_for_missing_values():
    assert Rows([["a", "*"], ["", "*"]]).build([], attribute="x").values == ("a", "")


def test_a_last_level_of_stars_gets_the_star_on_top():
    hierarchy = Rows([["81667", "8166*", "*****"], ["81668", "8166*", "*****"]]).build([], attribute="zip")
    assert hierarchy.labels[1:] == (("8166*",), ("*****",), ("*",))
    assert hierarchy.notes


def test_whole_numbers_are_taken_as_text():
    assert Rows([[13, "young", "*"]]) == Rows([["13", "young", "*"]])


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([["Zoe", "x", "*"], ["b", "*"]], "hierarchy-ragged-levels"),
        ([["Zoe", "x"], ["Zoe", "x"]], "hierarchy-duplicate-values"),
        ([["a", "Zoe", "1", "*"], ["b", "Zoe", "2", "*"]], "hierarchy-not-monotone"),
        ([["Zoe", ""]], "hierarchy-empty-label"),
        ([["*", "x"]], "hierarchy-star-value"),
        ([["a", "Zoe", "*"], ["b", "*", "*"]], "hierarchy-star-label"),
        ([["Zoe", 1.5]], "hierarchy-option-invalid"),
        ([["Zoe", True]], "hierarchy-option-invalid"),
        ([["Zoe", None]], "hierarchy-option-invalid"),
        ([["Zoe"], "Zoe"], "hierarchy-option-invalid"),
        ([["Zoe"], []], "hierarchy-option-invalid"),
        ([["Zoe\ud800", "*"]], "hierarchy-not-text"),
        ([], "hierarchy-option-invalid"),
        ("Zoe", "hierarchy-option-invalid"),
    ],
)
def test_what_is_no_hierarchy_is_refused_without_its_values(rows, code):
    error = refused(rows)
    assert error.code == code
    assert "Zoe" not in error.message
    assert error.__cause__ is None


def test_a_ragged_row_is_named_by_its_number():
    assert "row 2 has 2 fields, the first row has 3" in refused([["a", "x", "*"], ["b", "*"]]).message


def test_a_plan_carries_the_rows_without_a_file():
    rows = [["81667", "8166*", "*****"], ["81668", "8166*", "*****"]]
    attributes = {"zip": {"role": "quasi-identifying", "hierarchy": {"rows": rows}}}
    plan = ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 2}]})
    assert plan.attributes["zip"].hierarchy == Rows(rows)
    assert ko.Plan.from_dict(plan.to_dict()) == plan
    assert plan.to_dict()["attributes"]["zip"]["hierarchy"] == {"rows": rows}


def test_a_plan_in_yaml_carries_the_rows(tmp_path):
    plan = ko.Plan(
        attributes={"zip": ko.Attribute(ko.Role.QUASI_IDENTIFYING, Rows([["no", "*"], ["0123", "*"]]))},
        models=[KAnonymity(2)],
    )
    path = tmp_path / "plan.yaml"
    path.write_text(plan.to_yaml(), encoding="utf-8")
    assert ko.Plan.from_yaml(path) == plan


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(lambda text: text != "*")


@given(values=st.lists(TEXTS, unique=True, min_size=1, max_size=20), step=st.integers(1, 5))
def test_rows_and_a_csv_file_of_the_same_labels_are_the_same_hierarchy(tmp_path_factory, values, step):
    rows = [[value, f"group {place // step}", "*"] for place, value in enumerate(values)]
    built = Rows(rows).build([], attribute="x")
    folder: Path = tmp_path_factory.mktemp("rows")
    (folder / "h.csv").write_text(to_csv(built), encoding="utf-8", newline="")
    assert CsvFile("h.csv", folder=folder).build([], attribute="x").fingerprint() == built.fingerprint()


def test_text_in_the_format_of_arx_gives_the_rows():
    text = '"a;1";x;*\r\n\r\nb;x;*\r\n'
    assert Rows.from_csv(text) == Rows([["a;1", "x", "*"], ["b", "x", "*"]])
    assert Rows.from_csv("a\t*\n", separator="\t") == Rows([["a", "*"]])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('a;"Zoe', "hierarchy-file-malformed"),
        ("Zoe;x;*\nb;*\n", "hierarchy-ragged-levels"),
        ("\n", "hierarchy-option-invalid"),
    ],
)
def test_text_that_is_no_hierarchy_is_refused_without_its_content(text, code):
    with pytest.raises(InputError) as caught:
        Rows.from_csv(text)
    assert caught.value.code == code
    assert "Zoe" not in caught.value.message


def test_unknown_values_are_counted_and_not_placed():
    import polars as pl

    check = check_hierarchy(Rows([["a", "*"]]), pl.Series(["a", "Zoe", "Zoe", None]), attribute="x")
    assert (check.missed_values, check.missed_rows, check.missed_row_numbers) == (1, 2, (2, 3))
