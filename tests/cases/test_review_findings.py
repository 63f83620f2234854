"""What reviewers found, so that it stays mended."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.drawing import style


def plan_of(models, **options):
    attributes = {"region": ko.Attribute("quasi-identifying"), "d": ko.Attribute("sensitive")}
    return ko.Plan(attributes=attributes, models=models, **options)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase"])
def test_n_t_closeness_is_judged_among_the_classes_that_other_models_keep(algorithm):
    table = pl.DataFrame({"region": list("AAAABBBC"), "d": list("xyyyxxyx")})
    models = [ko.KAnonymity(k=2), ko.NTCloseness("d", n=6, t=0.2)]
    release = ko.anonymize(table, plan_of(models, suppression_limit=0.4, search=algorithm))
    assert (release.levels, release.suppressed) == ({"region": 0}, 1)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase", "flash_depth_first"])
@pytest.mark.parametrize("metric", ["entropy", "height"])
def test_nothing_but_stars_is_no_solution_where_excluded_rows_spoil_it(algorithm, metric):
    """Four rows without a region are suppressed; among stars nobody can tell them from the others."""
    values = [f"{number:02}" for number in range(42) for _ in "xy"] + [None] * 4
    table = pl.DataFrame({"region": values, "d": list("xy") * 42 + ["x"] * 4})
    plan = plan_of(
        [ko.AlphaKAnonymity("d", alpha=0.5, k=4)],
        suppression_limit=0.1,
        missing="suppress",
        metric=metric,
        search=algorithm,
    )
    thirds = ko.Attribute("quasi-identifying", ko.Intervals(lower=0, upper=42, widths=[3], integer=True))
    plan = replace(plan, attributes={**plan.attributes, "region": thirds})
    release = ko.anonymize(table, plan)
    assert release.levels == {"region": 1}
    assert ko.verify(release.data, plan).satisfied
    assert not ko.solution_space(table, plan).at((2,)).solution


def test_equal_numbers_are_one_value_also_where_others_are_missing():
    plan = plan_of([ko.DistinctLDiversity("d", l=2)])
    table = pl.DataFrame({"region": list("AABBCC"), "d": ["1", "1.0", "1", "2", None, "3"]})
    assert not ko.verify(table, plan).satisfied


@pytest.mark.parametrize(
    "model",
    [
        ko.EqualTCloseness("d", t=1),
        ko.DistinctLDiversity("d", l=1),
        ko.RecursiveLDiversity("d", c=2, l=1),
        ko.AlphaKAnonymity("d", alpha=1, k=2),
        ko.NTCloseness("d", n=1, t=0.2),
    ],
    ids=repr,
)
def test_a_model_that_promises_nothing_does_not_silence_the_warning(model):
    table = pl.DataFrame({"region": list("AABB"), "d": list("xxyy")})
    plan = plan_of([ko.KAnonymity(k=2), model])
    warnings = ko.certify(ko.anonymize(table, plan)).facts["warnings"]
    assert any("no model" in warning for warning in warnings)


def test_entropy_diversity_a_rounding_error_above_a_whole_number_is_searched_as_it_is_judged():
    table = pl.DataFrame({"region": list("AAABBB"), "d": list("xyzxyz")})
    plan = plan_of([ko.EntropyLDiversity("d", l=1.1 * 3 - 0.3)])
    assert ko.anonymize(table, plan).levels == {"region": 0}


def test_a_raw_table_is_no_release_of_its_subset():
    table = pl.DataFrame({"region": list("111122"), "in": [1, 0, 0, 1, 0, 0], "d": list("xyxyxy")})
    attributes = {"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")}
    plan = ko.Plan(attributes={**attributes, "d": ko.Attribute("insensitive")}, models=[ko.KMap(k=2, subset="in")])
    verdict = ko.verify(table, plan, population=table)
    assert not verdict.satisfied
    assert len(verdict.problems) == 2


def test_one_suppressed_row_excuses_no_empty_class_of_a_subset():
    people = pl.DataFrame({"region": list("A" * 10 + "B" * 10 + "C" * 100), "in": ([1] * 5 + [0] * 5) * 2 + [0] * 100})
    plan = ko.Plan(
        attributes={"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")},
        models=[ko.DeltaPresence(minimum=0.1, maximum=0.6, subset="in")],
        suppression_limit=0.1,
    )
    (verdict,) = ko.verify(pl.DataFrame({"region": [*"AAAAABBBB", "*"]}), plan, population=people).models
    assert not verdict.satisfied
    assert verdict.reached == (0.0, 0.5)


@pytest.mark.parametrize(
    "page", ["release/picture/page.css", "release/comparison/page.css", "drawing/page.css", "report/page.css"]
)
def test_the_style_of_a_page_closes_what_it_opens_in_light_and_in_dark(page):
    """A rule of several lines lost its end in the dark half, and swallowed the rules after it."""
    rules = (Path(ko.__file__).parent / page).read_text(encoding="utf-8")
    filled = style.css(rules)
    dark = filled.split("prefers-color-scheme:dark)", 1)[1]
    assert filled.count("{") == filled.count("}")
    assert all(line.count("{") == line.count("}") for line in dark.strip().removeprefix("{").splitlines()[1:-1])


def recode(table, attributes, algorithm, *, k, limit=0.0, metric="loss", **options):
    plan = ko.Plan(
        attributes=attributes,
        models=[ko.KAnonymity(k=k)],
        suppression_limit=limit,
        metric=metric,
        search=algorithm,
        order="input",
        **options,
    )
    return ko.anonymize(table, plan)


QUASI = {"role": "quasi-identifying"}


def test_k_optimize_proves_nothing_false_where_values_are_missing():
    """Classes with missing values all showed *, and were suppressed after the search had counted them as kept."""
    table = pl.DataFrame({"q": ["1"] * 3 + ["2"] * 3 + [None] * 2})
    release = recode(table, {"q": QUASI}, "k_optimize", k=3, limit=0.7, metric="discernibility")
    assert (release.cost, release.result.lower_bound, release.optimal) == (34, 34, True)
    assert release.data["q"].to_list() == ["1"] * 3 + ["2 or missing"] * 5


@pytest.mark.parametrize("algorithm", ["k_optimize", "local_recoding", "optimal"])
def test_a_class_of_everybody_that_shows_nothing_costs_the_same_for_all_algorithms(algorithm):
    table = pl.DataFrame({"q": list("abc"), "y": ["u"] * 3})
    tree = ko.Attribute("quasi-identifying", ko.Tree({"G": ["a", "b"], "H": ["c"]}))
    attributes = {"q": tree, "y": ko.Attribute("sensitive")}
    assert recode(table, attributes, algorithm, k=3, limit=1.0, metric=ko.Classification("y")).cost == 0


def test_missing_values_in_the_middle_of_a_line_are_named(tmp_path):
    """A hierarchy file with a line for missing values put the word None into cells."""
    (tmp_path / "h.csv").write_text("a;G1;*\nb;G2;*\n;G2;*\nc;G3;*\nd;G3;*\n", encoding="utf-8")
    table = pl.DataFrame({"q": ["a", "a", "a", "b", None, "c", "d", "d", "d"]})
    attributes = {"q": ko.Attribute("quasi-identifying", ko.CsvFile("h.csv", folder=tmp_path))}
    release = recode(table, attributes, "k_optimize", k=2, metric="discernibility")
    assert not any("None" in str(cell) for cell in release.data["q"])
    assert sum("or missing" in str(cell) for cell in release.data["q"]) == 3


@pytest.mark.parametrize(
    "moments",
    [
        ["2020-01-01 10:00:00", "2020-01-01 11:00:00", "2020-01-01T09:00:00"],
        ["2020-01-01T09:30:00+00:00", "2020-01-01T10:00:00+02:00", "2020-01-01T11:00:00+05:00"],
    ],
)
def test_moments_that_do_not_sort_as_text_are_no_line(moments):
    table = pl.DataFrame({"q": moments})
    with pytest.raises(ko.InputError, match="neither an order nor a hierarchy"):
        recode(table, {"q": QUASI}, "mondrian", k=3)
    zone = ko.Attribute("quasi-identifying", ko.Dates(format="%Y-%m-%dT%H:%M:%S%z", levels=["day"]))
    if "+" in moments[0]:
        shown = recode(table, {"q": zone}, "mondrian", k=3).data["q"].to_list()
        assert shown == ["2020-01-01"] * 3


def test_the_loss_of_intervals_of_groups_does_not_depend_on_which_values_the_data_have():
    groups = {f"{n}~{n + 1}": [str(n), str(n + 1)] for n in range(0, 14, 2)}
    attributes = {"q": ko.Attribute("quasi-identifying", ko.Tree(groups), minimum_level=1)}
    for values in (["0", "5", "12", "12"], ["1", "4", "12", "12"]):
        release = recode(pl.DataFrame({"q": values}), attributes, "mondrian", k=2)
        assert release.data["q"].to_list() == ["[0~1-4~5]"] * 2 + ["12~13"] * 2
        assert release.cost == pytest.approx((2 * 5 / 13 + 2 * 1 / 13) / 4)


@pytest.mark.parametrize("algorithm", ["local_recoding", "cell_suppression", "mu_argus_complete", "optimal"])
def test_everybody_as_stars_is_a_release_also_where_rows_lack_a_value(algorithm):
    table = pl.DataFrame({"q": ["1", None, "2", "2", "3", None, "4"]})
    release = recode(table, {"q": QUASI}, algorithm, k=2, limit=0.3, missing="suppress")
    assert release.data["q"].to_list() == ["*"] * 7


def test_labels_made_of_values_or_with_two_meanings_are_told_in_the_warnings(tmp_path):
    table = pl.DataFrame({"q": [str(n) for n in (1, 1, 1, 5, 6, 9, 12, 13, 17, 20)]})
    neighbours = {"q": ko.Attribute("quasi-identifying", ko.Ordering(by="number", fanouts=[3, 3]))}
    for algorithm in ("local_recoding", "mu_argus_complete"):
        text = ko.certify(recode(table, neighbours, algorithm, k=2)).to_text()
        assert "made of values that occur in the data" in text
    lines = "".join(f"{age};{age // 10 * 10};*\n" for age in range(30, 50))
    (tmp_path / "age.csv").write_text(lines, encoding="utf-8")
    ages = {"q": ko.Attribute("quasi-identifying", ko.CsvFile("age.csv", folder=tmp_path))}
    release = recode(pl.DataFrame({"q": ["30", "30", "37", "38", "41", "41"]}), ages, "local_recoding", k=2)
    if "30" in release.data["q"].to_list()[2:]:
        assert "stands for different things" in ko.certify(release).to_text()


def test_k_optimize_refuses_more_split_points_than_it_has_memory_for():
    table = pl.DataFrame({"q": [str(n) for n in range(5_000)]})
    with pytest.raises(ko.InputError, match="4,999 possible split points are too many") as caught:
        recode(table, {"q": QUASI}, "k_optimize", k=2, metric="discernibility")
    assert caught.value.code == "algorithm-unfit"


def test_local_recoding_without_time_still_releases_what_is_sure():
    table = pl.DataFrame({"q": [str(n % 7) for n in range(100)], "r": [str(n % 11) for n in range(100)]})
    release = recode(table, {"q": QUASI, "r": QUASI}, {"algorithm": "local_recoding", "time_limit": 1e-9}, k=5)
    assert release.smallest_class >= 5


def test_a_comparison_does_not_list_as_releases_what_anonymize_refuses():
    table = pl.DataFrame({"age": [str(n % 50 + 20) for n in range(60)], "sex": ["f", "m"] * 30})
    plan = ko.Plan(attributes={"age": QUASI, "sex": QUASI}, models=[ko.SafeHarborRule()])
    comparison = ko.compare_algorithms(table, plan, algorithms=["optimal", "mondrian"], queries=10)
    assert {one.algorithm: one.released for one in comparison.outcomes} == {"optimal": True, "mondrian": False}


def test_a_star_that_stands_for_one_value_and_missing_ones_counts_as_a_star():
    table = pl.DataFrame({"q": ["x", "x", None]})
    attributes = {"q": ko.Attribute("quasi-identifying", ko.Ordering(values=["x", "y"]))}
    release = recode(table, attributes, "k_optimize", k=3, metric="loss")
    assert (release.data["q"].to_list(), release.cost) == (["*"] * 3, 1.0)
