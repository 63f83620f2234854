"""The rule on columns: refused before the search, found in a release, and a plan that needs neither."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.errors import InputError
from kohorte.hierarchies import Redaction, SafeHarbor
from kohorte.identifiers.detection import Form
from kohorte.models import KAnonymity, KMap, SafeHarborRule
from kohorte.plans.safe_harbor_proposal import safe_harbor_profile
from kohorte.release.preparation import encode_problem
from kohorte.release.safe_harbor import problems, refuse_unsafe
from kohorte.sources import FrameSource
from support.examples import examples

QUASI = "quasi-identifying"


def plan(attributes: dict[str, object], *, allow: tuple[str, ...] = (), **options: object) -> ko.Plan:
    entries = {name: {"role": entry} if isinstance(entry, str) else entry for name, entry in attributes.items()}
    return ko.Plan(attributes=entries, models=[SafeHarborRule(allow=allow)], **options)


def check(frame: pl.DataFrame, chosen: ko.Plan) -> None:
    source = FrameSource(frame)
    plain = ko.Plan.from_dict({**chosen.to_dict(), "models": [{"model": "k-anonymity", "k": 1}]})
    refuse_unsafe(source, chosen, encode_problem(source, plain).table)


def refused(frame: pl.DataFrame, chosen: ko.Plan) -> InputError:
    with pytest.raises(InputError) as caught:
        check(frame, chosen)
    return caught.value


# Before the search


def test_a_table_without_identifiers_passes() -> None:
    check(pl.DataFrame({"sex": ["f", "m"], "icd": ["I10", "E11"]}), plan({"sex": QUASI, "icd": "sensitive"}))


def test_a_plan_without_the_model_is_not_looked_at() -> None:
    frame = pl.DataFrame({"ssn": ["900-12-3456"]})
    chosen = ko.Plan(attributes={"ssn": ko.Attribute(QUASI)}, models=[KAnonymity(1)])
    check(frame, chosen)
    refuse_unsafe(FrameSource(frame), chosen, encode_problem(FrameSource(frame), chosen).table)
    assert problems(FrameSource(frame), chosen) == []


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_column_that_is_released_as_it_is_is_refused_by_name_and_class(role: str) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"], "note": ["x", "mail to p7@example.org"]})
    error = refused(frame, plan({"sex": QUASI, "note": role}))
    assert error.code == "safe-harbor-unsafe"
    assert (
        "'note' (e-mail addresses (class 6): contains e-mail addresses in 1 row): make it identifying" in error.message
    )
    assert "p7" not in error.message
    check(frame, plan({"sex": QUASI, "note": role}, allow=("note",)))
    check(frame, plan({"sex": QUASI, "note": "identifying"}))


@pytest.mark.parametrize(
    ("name", "values", "hierarchy", "safe"),
    [
        ("zip", ["94501", "94502"], {"redaction": {}}, 5),
        ("zip", ["94501", "94502"], {"safe_harbor": {"kind": "zip"}}, 1),
        ("admitted_on", ["2024-02-17", "2023-02-17"], {"dates": {}}, 3),
        ("admission_date", ["2024-02-17", "2023-02-17"], {"safe_harbor": {"kind": "date"}}, 1),
        ("age", ["91", "17"], {"intervals": {"lower": 0, "upper": 120, "widths": [10, 30], "integer": True}}, 3),
        ("age", ["91", "17"], {"safe_harbor": {"kind": "age"}}, 1),
        ("ssn", ["900-12-3456", "900-12-3457"], None, 1),
    ],
)
def test_the_lowest_safe_level_is_named_and_suffices(
    name: str, values: list[str], hierarchy: dict[str, object] | None, safe: int
) -> None:
    frame = pl.DataFrame({name: values})
    entry: dict[str, object] = {"role": QUASI} | ({} if hierarchy is None else {"hierarchy": hierarchy})
    error = refused(frame, plan({name: entry}))
    assert f"{name!r} at level 0 (" in error.message
    assert f"set minimum_level: {safe}" in error.message
    assert not any(value in error.message for value in values)
    check(frame, plan({name: entry | {"minimum_level": safe}}))


def test_allow_does_not_reach_a_column_that_the_plan_itself_makes_safe() -> None:
    frame = pl.DataFrame({"age": ["91", "17"]})
    entry = {"role": QUASI, "hierarchy": {"safe_harbor": {"kind": "age"}}}
    assert "set minimum_level: 1" in refused(frame, plan({"age": entry}, allow=("age",))).message


def test_the_flag_of_a_subset_is_not_released_and_not_looked_at() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"], "patient": ["1", "1"]})
    chosen = ko.Plan(
        attributes={"sex": ko.Attribute(QUASI), "patient": ko.Attribute("insensitive")},
        models=[SafeHarborRule(), KMap(1, subset="patient")],
    )
    refuse_unsafe(FrameSource(frame), chosen, encode_problem(FrameSource(frame), chosen).table)


@pytest.mark.parametrize("call", [check, lambda frame, chosen: problems(FrameSource(frame), chosen)])
def test_allow_names_attributes_of_the_plan(call: object) -> None:
    with pytest.raises(InputError, match="did you mean 'center'") as caught:
        call(pl.DataFrame({"center": ["1"]}), plan({"center": QUASI}, allow=("centre",)))
    assert caught.value.code == "safe-harbor-allow"


# In a release


def test_a_release_is_judged_column_by_column() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"], "contact": ["p@example.org", "*"], "ssn": ["*", "*"]})
    chosen = plan({"sex": QUASI, "contact": "insensitive", "ssn": QUASI})
    assert problems(FrameSource(frame), chosen) == [
        "column 'contact': e-mail addresses (class 6): contains e-mail addresses"
    ]
    verdict = ko.verify(frame, chosen)
    assert not verdict.satisfied
    assert not verdict.models[0].satisfied
    assert verdict.models[0].reached is None
    assert verdict.problems == tuple(problems(FrameSource(frame), chosen))
    assert ko.verify(frame.drop("contact"), chosen).satisfied


def test_a_hierarchy_is_of_no_use_to_a_column_that_is_released_as_it_is() -> None:
    chosen = plan({"sex": QUASI, "age": {"role": "sensitive", "hierarchy": {"safe_harbor": {"kind": "age"}}}})
    assert problems(FrameSource(pl.DataFrame({"sex": ["f"], "age": ["91"]})), chosen)


CELLS = st.sampled_from(
    [
        *("p@example.org", "900-12-3456", "2024-02-17", "2024-02", "17.02.24", "089/1234567", "M-AB 1234"),
        *("94501-1234", "91", "17", "1925", "I10", "", "x"),
    ]
)


@examples(20)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=25),
    name=st.sampled_from(["x", "age", "zip", "birth_year", "visit_date"]),
    limit=st.sampled_from([0.0, 0.5]),
    k=st.integers(1, 3),
)
def test_what_is_not_refused_before_the_search_passes_in_the_end(
    rows: list[tuple[str, str]], name: str, limit: float, k: int
) -> None:
    frame = pl.DataFrame(rows, schema=[name, "other"], orient="row")
    attributes = {name: ko.Attribute(QUASI, Redaction()), "other": ko.Attribute("insensitive")}
    chosen = ko.Plan(attributes=attributes, models=[SafeHarborRule()], suppression_limit=limit)
    try:
        check(frame, chosen)
    except InputError:
        return
    anonymous = ko.Plan(attributes=attributes, models=[KAnonymity(k)], suppression_limit=limit)
    try:
        release = ko.anonymize(frame, anonymous).data
    except ko.KohorteError:
        return
    assert problems(FrameSource(release), chosen) == []


# The ready plan


def test_the_ready_plan_of_the_cohort_works() -> None:
    frame = ko.cohort(500, missing=0.02)
    chosen = ko.safe_harbor_plan(frame, as_of="2026-01-01")
    assert [type(model) for model in chosen.models] == [SafeHarborRule]
    assert chosen.attributes["zip"].minimum_level == 2
    release = ko.anonymize(frame, chosen)
    assert ko.verify(release.data, chosen).satisfied
    assert ko.Plan.from_dict(chosen.to_dict()) == chosen


@pytest.mark.parametrize(
    ("name", "values", "role", "kind"),
    [
        ("zip", ["94501", "94612-1234"], QUASI, "zip"),
        ("zip", ["94501", "4612"], "identifying", None),
        ("dob", ["17.02.1924", "18.02.2001"], QUASI, "date"),
        ("birth_year", ["1924", "2001"], QUASI, "date"),
        ("dob", ["1924-02-17", "unknown"], QUASI, "date"),
        ("dob", ["1924-02-17", "in spring"], "identifying", None),
        ("seen", ["2024-02-17 10:30:00", "2024-02-18 11:00:00"], QUASI, "date"),
        ("seen", ["on 2024-02-17", "later"], "identifying", None),
        ("age", ["17", "88"], QUASI, "age"),
        ("age_group", ["10-19", "80-89"], QUASI, None),
        ("age_group", ["90-94", "80-89"], "identifying", None),
        ("city", ["A", "B"], "identifying", None),
        ("state", ["CA", "NH"], QUASI, None),
        ("diagnosis", ["I10", "E11"], "sensitive", None),
        ("diagnosis_date", ["2024-02-17", "2024-03-17"], QUASI, "date"),
    ],
)
def test_what_becomes_of_a_column(name: str, values: list[str], role: str, kind: str | None) -> None:
    [column] = safe_harbor_profile(pl.DataFrame({name: values}), as_of="2026-01-01")
    assert str(column.role) == role
    assert (column.hierarchy.kind if isinstance(column.hierarchy, SafeHarbor) else None) == kind
    assert (column.minimum_level > 0) == (kind is not None)
    assert not any(value in column.why for value in values if len(value) > 3)


def test_populations_are_relative_to_the_folder_of_the_plan(tmp_path: Path) -> None:
    (tmp_path / "zip3.csv").write_text("945,900000\n")
    frame = pl.DataFrame({"zip": ["94501", "03601"]})
    chosen = ko.safe_harbor_plan(frame, zip_populations="zip3.csv", folder=tmp_path)
    assert chosen.files() == (tmp_path / "zip3.csv",)
    assert sorted(ko.anonymize(frame, chosen).data["zip"]) == ["000", "945"]


def test_pandas_tables_are_welcome() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"], "name": ["a", "b"]}).to_pandas()
    assert ko.safe_harbor_plan(frame).quasi_identifiers == ("sex",)


def test_every_form_has_an_end() -> None:
    """What is suspected is removed or made vaguer, whatever it is."""
    from kohorte.plans.safe_harbor_proposal import GONE, VAGUER

    assert {*GONE, *VAGUER, Form.UNIQUE, Form.FREE_TEXT} == set(Form)


def test_an_algorithm_that_recodes_single_rows_is_refused() -> None:
    """The ends of its intervals are values of the data: [1-91] tells an age over 89."""
    recoders = pytest.importorskip("kohorte.recoding").RECODERS
    frame = pl.DataFrame({"age": ["91", "17"]})
    entry = {"role": QUASI, "hierarchy": {"safe_harbor": {"kind": "age"}}, "minimum_level": 1}
    for recoder in recoders:
        with pytest.raises(InputError) as caught:
            refuse_unsafe(frame, plan({"age": entry}, search=recoder.name), ())
        assert caught.value.code == "safe-harbor-algorithm"
