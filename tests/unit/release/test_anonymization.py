"""From a table to a release, in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohorte as ko
from kohorte.errors import InputError, InternalError
from kohorte.hierarchies import Dates, Intervals, Redaction
from kohorte.metrics import PLAIN_METRICS, Discernibility, Loss, NonUniformEntropy
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.search import Progress

MakePlan = Callable[..., ko.Plan]


def true_label(column: str, value: object, level: int) -> str:
    """The generalized value, worked out by hand and without the package."""
    text = str(value)
    if column == "zip":
        return (text, text[:4] + "*", text[:3] + "**", text[:2] + "***", text[:1] + "****", "*")[level]
    if column == "age":
        low20, low40 = int(text) // 20 * 20, int(text) // 40 * 40
        return (text, f"{low20}-{low20 + 19}", f"{low40}-{min(low40 + 39, 99)}", "*")[level]
    return (text, "*")[level]


@pytest.mark.parametrize("metric", PLAIN_METRICS, ids=lambda metric: metric.name)
def test_every_value_of_a_release_is_true_for_its_row(
    metric: type, patients: pl.DataFrame, make_plan: MakePlan, patient_plan: ko.Plan
) -> None:
    plan = make_plan(
        "zip age sex",
        identifying="name",
        sensitive="diagnosis",
        insensitive="visits",
        hierarchies={name: item.hierarchy for name, item in patient_plan.attributes.items()},
        suppression_limit=0.1,
        order="input",
        metric=metric(),
    )
    release = ko.anonymize(patients, plan)
    suppressed = 0
    for original, shown in zip(patients.iter_rows(named=True), release.data.iter_rows(named=True), strict=True):
        assert shown["visits"] == original["visits"]
        assert shown["diagnosis"] == original["diagnosis"]
        quasi = [str(shown[name]) for name in plan.quasi_identifiers]
        expected = [true_label(name, original[name], release.levels[name]) for name in plan.quasi_identifiers]
        if quasi != expected:
            assert quasi == ["*", "*", "*"]
            suppressed += 1
    assert suppressed == release.suppressed <= 1
    sizes = Counter(release.data.select("zip", "age", "sex").cast(pl.String).iter_rows())
    assert min(size for row, size in sizes.items() if set(row) != {"*"}) == release.smallest_class >= 2


def test_identifying_columns_never_reach_the_output(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    release = ko.anonymize(patients, patient_plan)
    assert release.data.columns == ["zip", "age", "sex", "diagnosis", "visits"]
    assert "person" not in release.data.write_csv()


def test_polars_pandas_and_arrow_come_back_as_what_they_were(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    expected = ko.anonymize(patients, patient_plan)
    pandas, arrow = patients.to_pandas(), patients.to_arrow()
    kinds = {pl.DataFrame: patients, pd.DataFrame: pandas, pa.Table: arrow, pa.RecordBatch: arrow.to_batches()[0]}
    for kind, frame in kinds.items():
        release = ko.anonymize(frame, patient_plan)
        assert type(release.data) is kind
        assert release.levels == expected.levels
        back = pl.from_arrow(release.data) if kind in (pa.Table, pa.RecordBatch) else pl.DataFrame(release.data)
        assert back.equals(expected.data)
        assert type(release.transform(frame)) is kind
    assert isinstance(ko.anonymize(patients.lazy(), patient_plan).data, pl.DataFrame)


def test_the_table_of_the_caller_is_not_changed(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    before, pandas = patients.clone(), patients.to_pandas()
    pandas_before = pandas.copy(deep=True)
    ko.anonymize(patients, patient_plan)
    ko.anonymize(pandas, patient_plan)
    assert patients.equals(before)
    assert patients.schema == before.schema
    pd.testing.assert_frame_equal(pandas, pandas_before)


def test_shuffled_rows_come_in_another_order_each_time_and_are_the_same_rows(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 100, "number": range(200)})
    plan = make_plan("sex", insensitive="number")
    first, second = (ko.anonymize(frame, plan).data for _ in range(2))
    assert first["number"].to_list() != second["number"].to_list() != list(range(200))
    assert first.sort("number").equals(frame)
    assert second.sort("number").equals(frame)


def test_shuffled_is_what_a_plan_does_that_does_not_say(make_plan: MakePlan) -> None:
    assert make_plan("sex").order == "shuffled"


def test_untouched_columns_keep_their_types(make_plan: MakePlan) -> None:
    untouched = pl.DataFrame(
        {
            "whole": pl.Series([1, 2, None, 4], dtype=pl.Int16),
            "decimal": [0.5, None, 1.5, 2.5],
            "truth": [True, None, False, True],
            "day": pl.Series([1, 2, 3, None], dtype=pl.Int32).cast(pl.Date),
            "moment": pl.Series([1, 2, 3, None], dtype=pl.Int64).cast(pl.Datetime("ms")),
        }
    )
    frame = untouched.with_columns(sex=pl.Series(["f", "f", "m", "m"]))
    plan = make_plan("sex", insensitive="whole decimal truth day moment", order="input")
    assert ko.anonymize(frame, plan).data.drop("sex").equals(untouched)
    assert ko.anonymize(frame, plan).data.drop("sex").schema == untouched.schema


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.Date, pl.Boolean, pl.String])
def test_a_column_at_level_0_keeps_its_type_when_nothing_is_suppressed(
    make_plan: MakePlan, dtype: type[pl.DataType]
) -> None:
    frame = pl.DataFrame({"q": pl.Series([0, 0, 1, 1]).cast(pl.Int32).cast(dtype)})
    release = ko.anonymize(frame, make_plan("q", order="input"))
    assert release.levels == {"q": 0}
    assert release.data.equals(frame)
    assert release.data.schema == frame.schema


def test_weights_say_which_column_is_spared(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    spare_a = make_plan("a b", weights={"b": 0.1}, metric=Loss())
    spare_b = make_plan("a b", weights={"a": 0.1}, metric=Loss())
    assert ko.anonymize(frame, spare_a).levels == {"a": 0, "b": 1}
    assert ko.anonymize(frame, spare_b).levels == {"a": 1, "b": 0}


def test_a_column_of_weight_0_costs_nothing_but_is_still_protected(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "2", "3", "4"]})
    release = ko.anonymize(frame, make_plan("a b", weights={"b": 0.0}, metric=Loss()))
    assert release.levels == {"a": 0, "b": 1}
    assert release.cost == 0


def test_when_all_weights_are_0_the_plan_is_refused(make_plan: MakePlan) -> None:
    with pytest.raises(InputError) as caught:
        ko.anonymize(pl.DataFrame({"a": ["x", "x"]}), make_plan("a", weights={"a": 0}, metric=Loss()))
    assert caught.value.code == "weights-zero"


def test_values_that_a_hierarchy_does_not_know_are_refused_by_row_numbers_and_counts(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"age": ["5", "secret", "7", "hidden", "secret", None]})
    plan = make_plan("age", hierarchies={"age": Intervals(lower=0, upper=10, widths=[5])})
    with pytest.raises(InputError) as caught:
        ko.anonymize(frame, plan)
    assert caught.value.code == "value-not-in-hierarchy"
    assert "'age'" in caught.value.message
    assert "2 of 4 distinct values, in 3 rows (2, 4, 5)" in caught.value.message
    assert "secret" not in caught.value.message


def test_a_star_in_the_data_cannot_pass_for_a_suppressed_cell(make_plan: MakePlan) -> None:
    for plan in (make_plan("q"), make_plan("q", hierarchies={"q": Redaction()})):
        with pytest.raises(InputError) as caught:
            ko.anonymize(pl.DataFrame({"q": ["*", "*", "a", "a"]}), plan)
        assert caught.value.code == "value-is-star"


@pytest.mark.parametrize("builder", [None, {"ordering": {}}])
def test_a_star_in_a_sensitive_column_does_not_make_a_class_diverse(builder: object) -> None:
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "d": ["flu", "*"] * 2 + ["flu", "cold"] * 2})
    attributes = {"q": {"role": "quasi-identifying"}, "d": {"role": "sensitive", "hierarchy": builder}}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(2), DistinctLDiversity("d", l=2)])
    with pytest.raises(InputError, match=r"column 'd' shows \* in 2 rows \(2, 4\)") as caught:
        ko.anonymize(frame, plan)
    assert caught.value.code == "value-is-star"


def test_a_missing_sensitive_value_is_no_star_beside_suppressed_rows_and_a_population(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("q\n" + "a\n" * 5)
    frame = pl.DataFrame({"q": ["a"] * 4 + [None], "d": ["flu", None, "cold", "flu", "flu"]})
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"q": {"role": "quasi-identifying"}, "d": {"role": "sensitive"}},
            "models": [
                {"model": "l-diversity_distinct", "attribute": "d", "l": 2},
                {"model": "k-map", "k": 2, "population": "people.csv"},
            ],
            "missing": "suppress",
            "suppression_limit": 0.2,
        },
        folder=tmp_path,
    )
    assert sorted(ko.anonymize(frame, plan).data["q"]) == ["*", "a", "a", "a", "a"]


def test_more_rows_in_a_class_than_in_the_table_are_refused(make_plan: MakePlan) -> None:
    with pytest.raises(InputError, match="4 rows, but the table has only 3") as caught:
        ko.anonymize(pl.DataFrame({"q": ["a", "b", "c"]}), make_plan("q", k=4))
    assert caught.value.code == "model-beyond-rows"


def test_as_many_rows_in_a_class_as_in_the_table_make_one_class(make_plan: MakePlan) -> None:
    release = ko.anonymize(pl.DataFrame({"q": ["a", "b", "c"]}), make_plan("q", k=3))
    assert (release.levels, release.classes, release.smallest_class) == ({"q": 1}, 1, 3)
    assert release.data["q"].to_list() == ["*"] * 3


def test_one_row_in_one_column_can_be_released_where_k_is_1(make_plan: MakePlan) -> None:
    release = ko.anonymize(pl.DataFrame({"q": [7]}), make_plan("q", k=1))
    assert release.data.equals(pl.DataFrame({"q": [7]}))
    assert (release.rows, release.classes, release.suppressed, release.levels) == (1, 1, 0, {"q": 0})


@pytest.mark.parametrize("metric", PLAIN_METRICS, ids=lambda metric: metric.name)
def test_identical_rows_need_no_generalization(make_plan: MakePlan, metric: type) -> None:
    frame = pl.DataFrame({"a": ["x"] * 5, "b": [1] * 5})
    release = ko.anonymize(frame, make_plan("a b", k=5, metric=metric()))
    assert release.levels == {"a": 0, "b": 0}
    assert release.data.equals(frame)


def test_a_table_without_rows_is_refused_everywhere(make_plan: MakePlan) -> None:
    empty = pl.DataFrame(schema={"q": pl.String})
    plan = make_plan("q")
    release = ko.anonymize(pl.DataFrame({"q": ["a", "a"]}), plan)
    for ask in (ko.anonymize, ko.verify, ko.solution_space, lambda frame, _: release.transform(frame)):
        with pytest.raises(InputError, match="no rows") as caught:
            ask(empty, plan)
        assert caught.value.code == "table-no-rows"


@pytest.mark.parametrize(
    "name", ["values", "0", "1", "top", "text", "len", "count", "size", "kept", "literal", "column_0", "", "a b", "{}"]
)
@pytest.mark.parametrize("role", ["quasi", "identifying", "insensitive"])
def test_columns_may_be_named_like_the_helpers_within(role: str, name: str) -> None:
    name = name or "index"
    others = {"quasi": ["identifying", "insensitive"], "identifying": ["quasi", "insensitive"]}
    frame = pl.DataFrame({name: ["x", "x", "y", "z"], "B": ["x", "x", "y", "z"], "C": ["x", "x", "y", "z"]})
    roles = dict(zip([role, *others.get(role, ["quasi", "identifying"])], [name, "B", "C"], strict=True))
    plan = ko.Plan(
        attributes={
            roles["quasi"]: ko.Attribute("quasi-identifying"),
            roles["identifying"]: ko.Attribute("identifying"),
            roles["insensitive"]: ko.Attribute("insensitive"),
        },
        models=[KAnonymity(k=2)],
        suppression_limit=0.5,
        order="input",
    )
    release = ko.anonymize(frame, plan)
    assert release.data[roles["quasi"]].to_list() == ["x", "x", "*", "*"]
    assert release.data[roles["insensitive"]].to_list() == ["x", "x", "y", "z"]
    assert roles["identifying"] not in release.data.columns
    assert release.transform(frame).equals(release.data)
    assert ko.verify(release.data, plan).satisfied


@pytest.mark.parametrize("name", ["*", "^.*$", "^q.*$", "^$", "\0size", "\0kept"])
def test_a_column_name_that_stands_for_other_columns_is_refused(make_plan: MakePlan, name: str) -> None:
    frame = pl.DataFrame({"q": ["x", "x"], name: ["1", "2"]})
    roles = {"quasi-identifying": "q", "identifying": name}
    plan = ko.Plan(attributes={column: ko.Attribute(role) for role, column in roles.items()}, models=[KAnonymity(k=2)])
    for ask in (ko.anonymize, ko.verify, ko.solution_space):
        with pytest.raises(InputError) as caught:
            ask(frame, plan)
        assert caught.value.code == "columns-name"
        assert repr(name) in caught.value.message


def test_a_column_that_the_plan_does_not_name_is_refused_by_name(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    with pytest.raises(InputError, match="'room'") as caught:
        ko.anonymize(patients.with_columns(room=pl.lit(1)), patient_plan)
    assert caught.value.code == "columns-unnamed"


def test_a_column_that_the_table_lacks_is_named_with_the_nearest(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    with pytest.raises(InputError, match=r"'age' \(did you mean 'ages'\?\)") as caught:
        ko.anonymize(patients.rename({"age": "ages"}), patient_plan)
    assert caught.value.code == "columns-missing"


def test_when_no_column_fits_the_header_is_not_shown(patient_plan: ko.Plan) -> None:
    with pytest.raises(InputError) as caught:
        ko.anonymize(pl.DataFrame({"Miller": ["Smith"], "81667": ["80331"]}), patient_plan)
    assert caught.value.code == "columns-none-fit"
    assert "Miller" not in caught.value.message
    assert "81667" not in caught.value.message


def test_all_algorithms_find_the_same_release(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    found = {
        name: ko.anonymize(
            patients, ko.Plan.from_dict(patient_plan.to_dict() | {"search": {"algorithm": name}}, folder=Path())
        )
        for name in ("optimal", "exhaustive")
    }
    assert found["optimal"].cost == found["exhaustive"].cost
    assert found["optimal"].levels == found["exhaustive"].levels
    assert found["optimal"].data.equals(found["exhaustive"].data)
    assert found["optimal"].checked <= found["exhaustive"].checked == found["optimal"].lattice


def test_a_tiny_time_limit_gives_a_valid_release_that_does_not_claim_to_be_optimal(make_plan: MakePlan) -> None:
    frame = ko.cohort(500).select("zip", "birth_date", "sex")
    hierarchies = {"zip": Redaction(), "birth_date": Dates()}
    for metric in (Loss(), NonUniformEntropy(), Discernibility()):
        best = ko.anonymize(frame, make_plan("zip birth_date sex", hierarchies=hierarchies, k=5, metric=metric))
        hurried = make_plan(
            "zip birth_date sex",
            hierarchies=hierarchies,
            k=5,
            metric=metric,
            search=ko.SearchOptions(time_limit=1e-9),
        )
        release = ko.anonymize(frame, hurried)
        assert release.optimal is False
        assert release.result.lower_bound <= best.cost <= release.cost
        assert ko.verify(release.data, hurried).satisfied
        assert best.optimal is True


def test_progress_is_told_and_the_bounds_hold_the_optimum(make_plan: MakePlan) -> None:
    frame = ko.cohort(500).select("zip", "birth_date", "sex")
    plan = make_plan("zip birth_date sex", hierarchies={"zip": Redaction(), "birth_date": Dates()}, k=5)
    told: list[Progress] = []
    release = ko.anonymize(frame, plan, progress=told.append)
    searched = [progress for progress in told if progress.unit]
    assert searched
    for progress in searched:
        assert progress.lower_bound <= release.cost
        assert progress.best_cost is None or progress.best_cost >= release.cost
        assert 0 <= progress.settled <= progress.nodes == release.lattice
    assert release.optimal


def test_progress_that_returns_false_stops_the_search(make_plan: MakePlan) -> None:
    frame = ko.cohort(500).select("zip", "birth_date", "sex")
    plan = make_plan("zip birth_date sex", hierarchies={"zip": Redaction(), "birth_date": Dates()}, k=5)
    release = ko.anonymize(frame, plan, progress=lambda _: False)
    assert release.optimal is False
    assert ko.verify(release.data, plan).satisfied


def test_an_error_in_the_progress_callback_reaches_the_caller(make_plan: MakePlan) -> None:
    def broken(_: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ko.anonymize(pl.DataFrame({"q": ["a", "b"]}), make_plan("q"), progress=broken)


def test_a_release_that_is_not_what_the_search_counted_is_withheld(
    patients: pl.DataFrame, patient_plan: ko.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kohorte.release import preparation
    from kohorte.sources import FrameSource

    true_released = preparation.EncodedProblem.released

    def careless(encoded: preparation.EncodedProblem, shown: pl.DataFrame) -> FrameSource:
        data = true_released(encoded, shown, shuffled=False).in_memory("a test")
        return FrameSource(data.with_columns(zip=patients["zip"].cast(pl.String)))

    def short(encoded: preparation.EncodedProblem, shown: pl.DataFrame) -> FrameSource:
        return FrameSource(true_released(encoded, shown).in_memory("a test").head(5))

    for wrong in (careless, short):
        monkeypatch.setattr(preparation.EncodedProblem, "released", wrong)
        with pytest.raises(InternalError) as caught:
            ko.anonymize(patients, patient_plan)
        assert caught.value.code == "not-verified"


def test_the_representation_of_a_release_shows_no_rows(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    shown = repr(ko.anonymize(patients, patient_plan))
    assert "levels=" in shown
    assert "81667" not in shown
    assert "D1" not in shown
