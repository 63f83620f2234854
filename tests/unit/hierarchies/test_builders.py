from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import (
    BUILDERS,
    CsvFile,
    Dates,
    Intervals,
    Ordering,
    Redaction,
    Rows,
    SafeHarbor,
    Tree,
    builder_from_dict,
    builder_to_dict,
)

HERE = Path()
ENTRIES = [
    ({"redaction": {}}, Redaction()),
    ({"redaction": {"order": "left_to_right", "length": 5}}, Redaction(order="left_to_right", length=5)),
    (
        {"intervals": {"lower": 0, "upper": 100, "widths": [5, 10]}},
        Intervals(lower=0, upper=100, widths=[5, 10]),
    ),
    ({"intervals": {"lower": 0, "upper": 1, "widths": [0.1]}}, Intervals(lower=0, upper=1, widths=["0.10"])),
    (
        {"intervals": {"levels": [{"bounds": [0, 0.5, 1], "labels": ["low", "high"]}], "integer": False}},
        Intervals(levels=[{"bounds": [0, 0.5, 1], "labels": ["low", "high"]}]),
    ),
    ({"ordering": {"values": ["a", "b"], "fanouts": [2]}}, Ordering(values=["a", "b"], fanouts=[2])),
    ({"dates": {}}, Dates()),
    ({"dates": {"format": "%d.%m.%Y", "levels": ["year"]}}, Dates(format="%d.%m.%Y", levels=["year"])),
    ({"csv": "country.csv"}, CsvFile("country.csv")),
    ({"csv": {"path": "country.csv", "separator": ","}}, CsvFile("country.csv", separator=",")),
    ({"rows": [["a", "x", "*"], ["b", "x", "*"]]}, Rows([["a", "x", "*"], ["b", "x", "*"]])),
    ({"tree": "diagnosis.yaml"}, Tree(path="diagnosis.yaml")),
    ({"tree": {"A": {"B": ["x", "y"]}}}, Tree({"A": {"B": ["x", "y"]}})),
    ({"safe_harbor": {"kind": "zip", "populations": "zip3.csv"}}, SafeHarbor("zip", populations="zip3.csv")),
    (
        {"safe_harbor": {"kind": "date", "of": "birth", "as_of": "2026-01-01"}},
        SafeHarbor("date", of="birth", as_of="2026-01-01"),
    ),
]


@pytest.mark.parametrize(("entry", "builder"), ENTRIES)
def test_a_plan_entry_and_its_builder_mean_the_same(entry, builder):
    assert builder_from_dict(entry, folder=HERE) == builder
    assert builder_from_dict(builder_to_dict(builder), folder=HERE) == builder


@pytest.mark.parametrize(("entry", "builder"), ENTRIES)
def test_the_repr_is_code(entry, builder):
    from decimal import Decimal  # noqa: F401 - for eval

    from kohorte.hierarchies import Bounds  # noqa: F401 - for eval

    assert eval(repr(builder)) == builder


def test_every_builder_has_an_entry():
    assert {type(builder) for _, builder in ENTRIES} == set(BUILDERS)


def test_only_options_that_differ_from_the_defaults_are_written():
    assert builder_to_dict(Redaction(mask="*", length=5)) == {"redaction": {"length": 5}}
    assert builder_to_dict(Intervals(lower=0, upper=1, widths=["0.10"])) == {
        "intervals": {"lower": 0, "upper": 1, "widths": [0.1]}
    }
    assert builder_to_dict(Dates()) == {"dates": {}}


def test_an_empty_entry_means_the_defaults():
    assert builder_from_dict({"redaction": None}, folder=HERE) == Redaction()


@pytest.mark.parametrize("entry", [{}, "redaction", None, {"redaction": {}, "dates": {}}])
def test_an_entry_must_name_one_builder(entry):
    with pytest.raises(InputError) as caught:
        builder_from_dict(entry, folder=HERE)
    assert caught.value.code == "hierarchy-entry-invalid"


@pytest.mark.parametrize("entry", [{"redacton": {}}, {5: {}}])
def test_an_unknown_builder_is_refused(entry):
    with pytest.raises(InputError) as caught:
        builder_from_dict(entry, folder=HERE)
    assert caught.value.code == "hierarchy-builder-unknown"


def test_a_misspelt_builder_gets_a_hint():
    with pytest.raises(InputError, match="did you mean 'redaction'"):
        builder_from_dict({"redacton": {}}, folder=HERE)


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ({"redaction": {"ordr": "x"}}, "order"),
        ({"intervals": {"width": [5]}}, "widths"),
        ({"ordering": {"fanout": [3]}}, "fanouts"),
        ({"dates": {"level": ["year"]}}, "levels"),
        ({"csv": {"path": "a.csv", "seperator": ","}}, "separator"),
    ],
)
def test_unknown_options_are_refused_with_the_nearest_known(entry, hint):
    with pytest.raises(InputError, match=f"did you mean '{hint}'") as caught:
        builder_from_dict(entry, folder=HERE)
    assert caught.value.code == "hierarchy-option-unknown"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"redaction": "x"}, "hierarchy-option-invalid"),
        ({"dates": ["year"]}, "hierarchy-option-invalid"),
        ({"csv": ["a.csv"]}, "hierarchy-option-missing"),
        ({"rows": "a;x;*"}, "hierarchy-option-invalid"),
        ({"rows": {"a": "x"}}, "hierarchy-option-invalid"),
        ({"rows": []}, "hierarchy-option-invalid"),
        ({"csv": {"separator": ","}}, "hierarchy-option-missing"),
        ({"csv": {"path": "a.csv", "folder": "x"}}, "hierarchy-option-unknown"),
    ],
)
def test_options_of_the_wrong_shape_are_refused(entry, code):
    with pytest.raises(InputError) as caught:
        builder_from_dict(entry, folder=HERE)
    assert caught.value.code == code


def test_file_names_refer_to_the_folder_of_the_plan(tmp_path):
    (tmp_path / "c.csv").write_text("a;*\n")
    (tmp_path / "t.yaml").write_text("A: [a]\n")
    assert builder_from_dict({"csv": "c.csv"}, folder=tmp_path).build([], attribute="x").values == ("a",)
    assert builder_from_dict({"tree": "t.yaml"}, folder=tmp_path).build([], attribute="x").values == ("a",)
