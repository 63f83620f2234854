"""What cells stand for: values, labels, masks, intervals and sets, raw or recoded."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.attacks import linkage_attack, unsorted_matching_attack
from kohorte.cohorts import hierarchy_files, plan_text
from kohorte.hierarchies import Dates, Intervals, Redaction, Tree
from kohorte.risks.shown.meaning import overlap

AGES = Intervals(lower=0, upper=100, widths=[10, 50], integer=True)
ZIPS = Redaction()
DATES = Dates(format="%Y-%m-%d")


def fits(left, right, builder=None, **options):
    return bool(overlap((left,), (right,), builder, attribute="a", **options).matrix[0, 0])


@pytest.mark.parametrize(
    ("left", "right", "builder", "expected"),
    [
        ("x", "x", None, True),
        ("x", "y", None, False),
        ("*", "y", None, True),
        ("y", "*", None, True),
        (None, None, None, True),
        (None, "x", None, False),
        (None, "*", None, True),
        ("8166*", "81667", ZIPS, True),
        ("816**", "8166*", ZIPS, True),
        ("8167*", "81667", ZIPS, False),
        ("**.**.198*", "**.**.1981", None, True),
        ("**.**.198*", "30.03.1981", None, True),
        ("**.**.198*", "30.03.1991", None, False),
        ("**.**.198*", "30.3.1981", None, False),
        ("[25-28]", "27", AGES, True),
        ("[25-28]", "29", AGES, False),
        ("[25-28]", "[28-40]", AGES, True),
        ("[25-28]", "[29-40]", AGES, False),
        ("[2020-01-05 – 2020-03-01]", "2020-02-29", DATES, True),
        ("[2020-01-05 – 2020-03-01]", "2020-03-02", DATES, False),
        ("[-5 – -1]", "-3", None, True),
        ("[25-28] or missing", "27", AGES, True),
        ("[25-28] or missing", None, AGES, True),
        ("[25-28] or missing", "29", AGES, False),
        ("[25-28] or missing", "[30-40] or missing", AGES, True),
        ("{red, green}", "green", None, True),
        ("{red, green}", "{green, blue}", None, True),
        ("{red, green}", "blue", None, False),
        ('{"red, dark", green}', "red, dark", None, True),
        ('{"red, dark", green}', "red", None, False),
        ('{" red", green}', " red", None, True),
        ('{" red", green}', "red", None, False),
        ('{"say ""hi""", green}', 'say "hi"', None, True),
        ("{red or missing, green}", None, None, False),
        ("{red} or missing", None, None, True),
        ("{red} or missing", "red", None, True),
        ("{[1-3], green}", "2", None, False),
    ],
)
def test_cells_that_can_belong_to_one_person_overlap(left, right, builder, expected):
    assert fits(left, right, builder) is expected
    assert fits(right, left, builder) is expected


def test_a_label_of_which_no_value_is_known_excludes_nothing():
    assert fits("2020-Q1", "2021-Q1", DATES)
    assert not fits("2020-Q1", "2021-05-05", DATES, right_are_values=True)


def test_a_value_that_the_hierarchy_does_not_know_stands_for_itself():
    tree = Tree({"warm": ["red"], "cold": ["blue"]})
    assert fits("warm", "red", tree, right_are_values=True)
    assert not fits("warm", "green", tree, right_are_values=True)
    assert fits("green", "green", tree, right_are_values=True)


@given(st.sets(st.integers(0, 99), min_size=1, max_size=20), st.integers(0, 3))
def test_at_a_level_of_the_hierarchy_every_value_goes_with_its_own_label_alone(ages, level):
    values = [str(age) for age in sorted(ages)]
    hierarchy = AGES.build(values, attribute="age")
    labels = dict(zip(hierarchy.values, hierarchy.column(level), strict=True))
    shown = tuple(dict.fromkeys(labels[value] for value in values))
    function = overlap(shown, tuple(values), AGES, attribute="age", right_are_values=True).function
    assert [shown[place] for place in function] == [labels[value] for value in values]


@given(st.data())
def test_pairs_and_matrix_say_the_same(data):
    texts = st.lists(st.sampled_from(["81667", "8166*", "816**", "10115", "*", None]), unique=True, min_size=1)
    left, right = tuple(data.draw(texts)), tuple(data.draw(texts))
    found = overlap(left, right, ZIPS, attribute="zip")
    rows, columns = np.indices(found.matrix.shape)
    pairs = found.contains(rows.ravel().astype(np.uint32), columns.ravel().astype(np.uint32))
    assert pairs.tolist() == found.matrix.ravel().tolist()
    if found.function is not None:
        assert (found.matrix.sum(axis=0) <= 1).all()
    for one, own in enumerate(left):
        for other, their in enumerate(right):
            assert found.matrix[one, other] == fits(own, their, ZIPS)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("algorithm", ["mondrian", "local_recoding", "cell_suppression", "hill_climbing"])
def test_every_person_fits_the_recoded_row_that_was_made_of_it(tmp_path, algorithm, missing):
    """Cells as recodings write them: intervals, sets, groups, and those with missing values."""
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    plan = replace(
        ko.Plan.from_yaml(tmp_path / "plan.yaml"),
        search=ko.SearchOptions(algorithm=algorithm),
        order="input",
        suppression_limit=0.2,
    )
    people = ko.cohort(300, missing=missing, seed=3)
    release = ko.anonymize(people, plan).data
    assert unsorted_matching_attack(people, plan, release).facts["same_order"]
    linked = linkage_attack(release, plan, people)
    assert linked.facts["rows_that_fit_somebody"] == linked.rows_tried
    assert linked.hurt == 0
