from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import InputError
from kohorte.parties.study import Study
from kohorte.parties.suitability import refuse_unsuited
from support.joint_studies import written_study

PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "id": {"role": "identifying"},
        "age": {"role": "quasi-identifying"},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}
VERTICAL: dict[str, Any] = {
    "distribution": "vertical",
    "identifier": "id",
    "parties": {"clinic-a": {"columns": ["age"]}, "clinic-b": {"columns": ["sex", "diagnosis"]}},
}


def test_a_study_knows_who_brings_what_and_who_opens_the_release(tmp_path: Path) -> None:
    study = written_study(tmp_path, PLAN, **VERTICAL, result="clinic-b")
    assert study.columns_of("clinic-b") == ("sex", "diagnosis")
    assert (study.finisher, study.receivers) == ("clinic-b", ("clinic-b",))
    assert list(study.members) == ["clinic-a", "clinic-b", "helper"]


def test_the_hash_of_a_study_changes_with_whatever_was_agreed(tmp_path: Path) -> None:
    first = written_study(tmp_path / "a", PLAN).fingerprint()
    assert written_study(tmp_path / "b", PLAN).fingerprint() == first
    other_plan = {**PLAN, "models": [{"model": "k-anonymity", "k": 3}]}
    other = [
        written_study(tmp_path / "c", other_plan),
        written_study(tmp_path / "d", PLAN, result="clinic-a"),
        written_study(tmp_path / "e", PLAN, parties={"clinic-a": {}, "clinic-b": {}}),
    ]
    assert len({first, *(study.fingerprint() for study in other)}) == 4


def test_the_hash_of_a_study_changes_with_the_content_of_a_hierarchy_file(tmp_path: Path) -> None:
    plan = {
        **PLAN,
        "attributes": {**PLAN["attributes"], "sex": {"role": "quasi-identifying", "hierarchy": {"csv": "s.csv"}}},
    }
    found = []
    for labels in ("m;*\nf;*\n", "m;*\nf;*\nd;*\n"):
        (tmp_path / "s.csv").write_text(labels, encoding="utf-8")
        found.append(written_study(tmp_path, plan).fingerprint())
    assert found[0] != found[1]


def test_the_hash_of_a_study_changes_with_the_order_of_parties_and_of_attributes(tmp_path: Path) -> None:
    first = written_study(tmp_path / "a", PLAN)
    parties = {"clinic-b": {}, "clinic-a": {}, "clinic-c": {}}
    attributes = dict(reversed(PLAN["attributes"].items()))
    other = [
        written_study(tmp_path / "b", PLAN, parties=parties),
        written_study(tmp_path / "c", {**PLAN, "attributes": attributes}),
    ]
    assert (other[0].finisher, other[1].columns) == ("clinic-b", first.columns[::-1])  # what the order decides
    assert len({first.fingerprint(), *(study.fingerprint() for study in other)}) == 3


def test_the_hash_of_a_study_does_not_change_with_the_order_of_its_other_keys(tmp_path: Path) -> None:
    first = written_study(tmp_path, PLAN, result="clinic-a").fingerprint()
    lines = (tmp_path / "study.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "study: heart"
    (tmp_path / "study.yaml").write_text("\n".join([*lines[1:], lines[0]]), encoding="utf-8")
    assert Study.from_yaml(tmp_path / "study.yaml").fingerprint() == first


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"protocol": "D"}, "study-option"),
        ({"parties": {"clinic-a": {}}}, "study-parties"),
        ({"parties": {"clinic-a": {}, "helper": {}}}, "study-name"),
        ({"parties": {"clinic-a": {}, "../b": {}}}, "study-name"),
        ({"parties": {"clinic-a": {"port": 1}, "clinic-b": {}}}, "study-unknown-key"),
        ({"parties": {"clinic-a": {"address": "a"}, "clinic-b": {}}}, "study-address"),
        ({"parties": {"clinic-a": {"certificate": "sha256:1"}, "clinic-b": {}}}, "study-certificate"),
        ({"protocol": "A", "helper": {}}, "study-helper"),
        ({"result": "clinic-x"}, "study-result"),
        ({"dummies": 0.5}, "study-dummies"),
        ({"dummies": -1, "protocol": "C"}, "study-dummies"),
        ({"identifier": "id"}, "study-columns"),
        ({**VERTICAL, "identifier": None}, "study-identifier"),
        ({**VERTICAL, "identifier": "age"}, "study-identifier"),
        (
            {**VERTICAL, "parties": {"clinic-a": {"columns": ["age"]}, "clinic-b": {"columns": ["sex"]}}},
            "study-columns",
        ),
        (
            {**VERTICAL, "parties": {"a": {"columns": ["age", "sex"]}, "b": {"columns": ["sex", "diagnosis"]}}},
            "study-columns",
        ),
        ({"pregeneralize": "no"}, "study-option"),
        ({"protocol": "A", "counters": "paillier"}, "study-option"),
        ({"plans": "plan.yaml"}, "study-unknown-key"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused(change: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        written_study(tmp_path, PLAN, **change)
    assert refused.value.code == code


def test_a_study_whose_hierarchy_file_is_missing_is_refused(tmp_path: Path) -> None:
    attributes = {**PLAN["attributes"], "sex": {"role": "quasi-identifying", "hierarchy": {"csv": "nowhere.csv"}}}
    with pytest.raises(InputError, match="this file of the plan cannot be read"):
        written_study(tmp_path, {**PLAN, "attributes": attributes})


def test_a_study_without_a_helper_is_refused_unless_the_protocol_is_a(tmp_path: Path) -> None:
    written_study(tmp_path, PLAN)
    text = (tmp_path / "study.yaml").read_text(encoding="utf-8").replace("helper: {}\n", "")
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="needs a helper"):
        Study.from_yaml(tmp_path / "study.yaml")


FLAGGED: dict[str, Any] = {
    "attributes": {**PLAN["attributes"], "in_study": {"role": "insensitive"}},
    "models": [{"model": "delta-presence", "minimum": 0, "maximum": 0.5, "subset": "in_study"}],
}


@pytest.mark.parametrize(
    ("change", "study", "words"),
    [
        ({"models": [{"model": "t-closeness_ordered", "attribute": "diagnosis", "t": 0.2}]}, {}, "order of the values"),
        (
            {"models": [{"model": "delta-presence", "minimum": 0, "maximum": 0.5, "population": "p.csv"}]},
            {},
            "a file of people",
        ),
        (FLAGGED, {"protocol": "C"}, "counts people who are not released"),
        (FLAGGED, {"protocol": "A", "dummies": 0.2}, "counts people who are not released"),
        (
            {**FLAGGED, "attributes": {**FLAGGED["attributes"], "in_study": {"role": "identifying"}}},
            {},
            "must be insensitive",
        ),
        ({"search": {"algorithm": "mondrian"}}, {}, "each row in its own way"),
        ({"search": {"levels": dict.fromkeys(("age", "sex"), 1)}}, {}, "leave levels out"),
        ({"person": "id"}, {}, "one row per person"),
        (
            {
                "person": "none",
                "attributes": {**PLAN["attributes"], "id": {"role": "identifying", "pseudonym": "study"}},
            },
            {},
            "no key in common",
        ),
        (
            {"search": {"algorithm": "datafly"}, "suppression_limit": 0.1},
            {"protocol": "C"},
            "how rare their labels are",
        ),
        (
            {"metric": {"metric": "non_uniform_entropy_suppression"}, "suppression_limit": 0.1},
            {"protocol": "C"},
            "suppressed rows",
        ),
        (
            {"models": [{"model": "n-t-closeness", "attribute": "diagnosis", "n": 3, "t": 0.2}]},
            {"protocol": "C"},
            "neighbours",
        ),
        (
            {"models": [{"model": "n-t-closeness", "attribute": "diagnosis", "n": 3, "t": 0.2}]},
            {"protocol": "A", "dummies": 0.2},
            "neighbours",
        ),
        (
            {
                "attributes": {
                    **PLAN["attributes"],
                    "age": {"role": "quasi-identifying", "hierarchy": {"ordering": {"fanouts": [2]}}},
                }
            },
            {},
            "values of all parties",
        ),
    ],
)
def test_a_plan_that_needs_values_is_refused_with_the_reason(
    change: dict[str, Any], study: dict[str, Any], words: str, tmp_path: Path
) -> None:
    (tmp_path / "p.csv").write_text("age,sex\n1,m\n", encoding="utf-8")
    written = written_study(tmp_path, {**PLAN, **change}, **study)
    with pytest.raises(InputError, match=words) as refused:
        refuse_unsuited(written)
    assert refused.value.code == "study-unsuited"


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [({"redaction": {}}, "state its length, as in redaction: {length: 5}"), ({"ordering": {"fanouts": [2]}}, "list")],
)
@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_a_hierarchy_that_values_of_people_who_are_left_out_would_change_is_refused(
    protocol: str, hierarchy: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """A postal code of somebody whom the other party lacks had six digits: the release was at level 6 instead of 1."""
    zip_code = {"role": "quasi-identifying", "hierarchy": hierarchy}
    plan = {**PLAN, "attributes": {**PLAN["attributes"], "age": zip_code}}
    with pytest.raises(InputError, match=re.escape(words)) as refused:
        refuse_unsuited(written_study(tmp_path, plan, protocol=protocol, **VERTICAL))
    assert refused.value.code == "study-unsuited"
    assert "age" in refused.value.message
    assert "all_people: true" in refused.value.message
    refuse_unsuited(written_study(tmp_path, plan, protocol=protocol, **VERTICAL, all_people=True))
    fixed = {"redaction": {"length": 5}} if "redaction" in hierarchy else {"ordering": {"values": ["1", "2"]}}
    plan["attributes"]["age"] = {**zip_code, "hierarchy": fixed}
    refuse_unsuited(written_study(tmp_path, plan, protocol=protocol, **VERTICAL))


def test_the_same_plan_is_accepted_where_it_can_be_computed(tmp_path: Path) -> None:
    ordering = {"role": "quasi-identifying", "hierarchy": {"ordering": {"fanouts": [2]}}}
    plan = {**PLAN, "attributes": {**PLAN["attributes"], "age": ordering}}
    refuse_unsuited(written_study(tmp_path, plan, **VERTICAL, all_people=True))  # one party alone has all values
    closeness = {**PLAN, "models": [{"model": "n-t-closeness", "attribute": "diagnosis", "n": 3, "t": 0.2}]}
    refuse_unsuited(written_study(tmp_path, closeness))


def test_the_hash_of_a_study_ties_the_content_of_a_file_to_its_column(tmp_path: Path) -> None:
    files = {"age": "a.csv", "sex": "s.csv"}
    attributes = {name: {"role": "quasi-identifying", "hierarchy": {"csv": file}} for name, file in files.items()}
    found = []
    for contents in (("1;*\n", "2;*\n"), ("2;*\n", "1;*\n")):
        for file, content in zip(files.values(), contents, strict=True):
            (tmp_path / file).write_text(content, encoding="utf-8")
        found.append(
            written_study(tmp_path, {**PLAN, "attributes": {**PLAN["attributes"], **attributes}}).fingerprint()
        )
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("metric", "hierarchy", "options", "fits"),
    [
        ("loss", {"redaction": {"length": 3}}, {"protocol": "C"}, False),
        ("loss", {"redaction": {"length": 3}}, {"pregeneralize": True}, True),
        ("loss", {"redaction": {"length": 3}}, {"protocol": "C", "pregeneralize": True}, True),
        ("entropy", {"redaction": {"length": 3}}, {"protocol": "C"}, False),
        ("entropy", {"redaction": {"length": 3}}, {"protocol": "C", "pregeneralize": True}, True),
        ("loss", {"redaction": {"length": 3}}, {}, True),
        ("precision", {"redaction": {"length": 3}}, {"protocol": "C", "pregeneralize": True}, True),
        ("loss", {"tree": {"young": ["1", "2"], "old": ["3"]}}, {"protocol": "C", "pregeneralize": True}, True),
    ],
)
def test_a_metric_of_values_that_nobody_knows_is_refused_before_a_run(
    tmp_path: Path, metric: str, hierarchy: dict[str, object], options: dict[str, object], fits: bool
) -> None:
    age = {"role": "quasi-identifying", "hierarchy": hierarchy, "minimum_level": 1}
    plan = {**PLAN, "metric": metric, "attributes": {**PLAN["attributes"], "age": age}}
    study = written_study(tmp_path, plan, **options)
    if fits:
        refuse_unsuited(study)
    else:
        with pytest.raises(InputError, match="minimum_level") as caught:
            refuse_unsuited(study)
        assert caught.value.code == "study-unsuited"


@pytest.mark.parametrize(
    ("algorithm", "limit", "metric", "fits"),
    [
        ("ola", 0.05, "loss", False),
        ("ola", 0.0, "loss", True),
        ("samarati", 0.0, "loss", False),
        ("samarati", 0.0, "height", True),
        ("flash", 0.05, "discernibility_monotone", True),
        ("optimal", 0.05, "loss", True),
    ],
)
def test_a_search_that_cannot_solve_the_plan_is_refused_before_a_run(
    algorithm: str, limit: float, metric: str, fits: bool, tmp_path: Path
) -> None:
    """The same is refused for a table at one place (docs/search), but there it is known how many rows there are."""
    plan = {**PLAN, "metric": metric, "suppression_limit": limit, "search": {"algorithm": algorithm}}
    study = written_study(tmp_path, plan)
    if fits:
        refuse_unsuited(study)
        return
    with pytest.raises(InputError, match=r"cannot solve this plan: .*; these can: optimal") as caught:
        refuse_unsuited(study)
    assert caught.value.code == "algorithm-unfit"
