"""Every protocol gives the release that pooling all rows would give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, NoSolution
from kohorte.parties.counting import counted_table
from support.joint_studies import rows_of, run_study, written_study

PARTIES = ("clinic-a", "clinic-b", "clinic-c")
COLUMNS = {"clinic-a": ["age", "note"], "clinic-b": ["zip", "sex"], "clinic-c": ["town", "diagnosis"]}
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "name": {"role": "identifying"},
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}},
        },
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
        "sex": {"role": "quasi-identifying"},
        "town": {
            "role": "quasi-identifying",
            "hierarchy": {"tree": {"Bayern": ["München", "Würzburg"], "Sachsen": ["Dresden", "Görlitz"]}},
        },
        "diagnosis": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "suppression_limit": 0.1,
}
NAMES = ("age", "zip", "sex", "town", "diagnosis", "note")
TREE = {"tree": {"lung": ["asthma", "COPD"], "heart": ["infarction", "angina"]}}


def patients(rows: int, seed: int) -> pl.DataFrame:
    """Random patients with missing values and umlauts."""
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "name": [f"Patient {number}" for number in range(rows)],
            "age": draw.integers(20, 60, rows).astype(str),
            "zip": draw.choice(["81667", "81675", "8167", "97070", "1067"], rows),
            "sex": draw.choice(["m", "f", "d"], rows, p=[0.5, 0.45, 0.05]),
            "town": draw.choice(["München", "Würzburg", "Dresden", "Görlitz"], rows),
            "diagnosis": draw.choice(["asthma", "COPD", "infarction", "angina"], rows),
            "note": [f"n{number % 7}" for number in range(rows)],
        }
    )
    absent = pl.Series(draw.random(rows) < 0.05)
    return frame.with_columns(pl.when(absent).then(None).otherwise(pl.col("town")).alias("town"))


def divided(frame: pl.DataFrame, distribution: str, columns: dict[str, list[str]] = COLUMNS) -> dict[str, pl.DataFrame]:
    """The tables of three parties."""
    if distribution == "horizontal":
        return {name: frame[number::3] for number, name in enumerate(PARTIES)}
    numbered = frame.with_row_index("TID").with_columns(pl.format("P{}", "TID").alias("TID"))
    return {name: numbered.select("TID", *own).sample(fraction=1, shuffle=True) for name, own in columns.items()}


def study_of(folder: Path, protocol: str, distribution: str, plan: dict[str, Any] = PLAN, **more: Any) -> Any:
    """A study of three parties."""
    columns = more.pop("columns", COLUMNS)
    if distribution == "vertical":
        more |= {"identifier": "TID", "parties": {name: {"columns": own} for name, own in columns.items()}}
    return written_study(folder, plan, protocol=protocol, distribution=distribution, **more)


def assert_as_pooled(folder: Path, protocol: str, distribution: str, plan: dict[str, Any], seed: int) -> None:
    """Compare the release of a study with that of all rows in one table."""
    frame = patients(90, seed)
    study = study_of(folder, protocol, distribution, plan)
    pooled = ko.anonymize(frame, study.plan)
    releases = run_study(study, divided(frame, distribution))
    names = [name for name in frame.columns if name != "name"]
    for party in PARTIES:
        release = releases[party]
        assert release is not None
        figures = release.figures
        assert figures["levels"] == pooled.levels
        assert figures["cost"] == pytest.approx(pooled.cost)
        assert (figures["suppressed"], figures["classes"]) == (pooled.suppressed, pooled.classes)
        assert rows_of(release.frame, names) == rows_of(pooled.data, names)


@pytest.mark.parametrize("distribution", ["horizontal", "vertical"])
@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_the_joint_release_is_that_of_all_rows_in_one_table(protocol: str, distribution: str, tmp_path: Path) -> None:
    for seed in range(2):
        assert_as_pooled(tmp_path / str(seed), protocol, distribution, PLAN, seed)


SLOW_C = pytest.param("C", marks=pytest.mark.slow)


def without_length(plan: dict[str, Any] = PLAN) -> dict[str, Any]:
    """The plan, in which the longest postal code decides how many levels there are."""
    attributes = {**plan["attributes"], "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}}
    return {**plan, "attributes": attributes}


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_parties_agree_on_the_longest_value_that_any_of_them_has(protocol: str, tmp_path: Path) -> None:
    frame = patients(60, 2).with_columns(zip=pl.Series(["81667"] * 20 + ["8167"] * 20 + ["816"] * 20))
    study = study_of(tmp_path, protocol, "horizontal", without_length())
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, {name: frame[20 * n : 20 * n + 20] for n, name in enumerate(PARTIES)})["clinic-c"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)


@pytest.mark.parametrize("protocol", ["A", "B", SLOW_C])
def test_parties_agree_on_the_longest_value_of_a_sensitive_attribute(protocol: str, tmp_path: Path) -> None:
    """Each party took its own longest value, and the run ended because their hierarchies differed."""
    diagnosis = {"role": "sensitive", "hierarchy": {"redaction": {}}}
    closeness = {"model": "t-closeness_hierarchical", "attribute": "diagnosis", "t": 0.4}
    plan = {**PLAN, "attributes": {**PLAN["attributes"], "diagnosis": diagnosis}, "suppression_limit": 0.2}
    study = study_of(tmp_path, protocol, "horizontal", {**plan, "models": [*PLAN["models"], closeness]})
    frame = patients(60, 2).with_columns(diagnosis=pl.Series(["J45.0", "I21.1", "J44", "I20", "J4", "I2"] * 10))
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, {name: frame[n::3] for n, name in enumerate(PARTIES)})["clinic-c"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)


def test_the_longest_value_of_the_same_people_at_all_parties_decides(tmp_path: Path) -> None:
    frame = patients(60, 4)
    study = study_of(tmp_path, "B", "vertical", without_length(), all_people=True)
    release = run_study(study, divided(frame, "vertical"))["clinic-a"]
    assert release is not None
    assert rows_of(release.frame, NAMES) == rows_of(ko.anonymize(frame, study.plan).data, NAMES)


MODELS = [
    {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
    {"model": "l-diversity_entropy", "attribute": "diagnosis", "l": 2},
    {"model": "l-diversity_recursive", "attribute": "diagnosis", "c": 4, "l": 2},
    {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.4},
    {"model": "t-closeness_hierarchical", "attribute": "diagnosis", "t": 0.4},
    {"model": "alpha-k-anonymity", "attribute": "diagnosis", "alpha": 0.7, "k": 3},
    {"model": "delta-disclosure", "attribute": "diagnosis", "delta": 2.0},
    {"model": "beta-likeness_basic", "attribute": "diagnosis", "beta": 2.0},
    {"model": "average-risk", "threshold": 0.3},
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model["model"]))
@pytest.mark.parametrize("protocol", ["B", SLOW_C])
def test_models_see_the_same_classes_under_encryption(protocol: str, model: dict[str, Any], tmp_path: Path) -> None:
    diagnosis = {"role": "sensitive", "hierarchy": TREE}
    plan = {
        **PLAN,
        "attributes": {**PLAN["attributes"], "diagnosis": diagnosis},
        "models": [{"model": "k-anonymity", "k": 2}, model],
        "suppression_limit": 0.2,
    }
    assert_as_pooled(tmp_path, protocol, "horizontal", plan, 5)


def test_cells_with_sensitive_values_are_added_up_with_stops_on_the_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There are more cells than classes: the way from a node to itself was taken for a stop, without end."""
    monkeypatch.setattr(counted_table, "MANY", 4)
    plan = {**PLAN, "models": [*PLAN["models"], MODELS[0]]}
    assert_as_pooled(tmp_path, "C", "horizontal", plan, 5)


@pytest.mark.parametrize(
    "metric", ["height", "precision", "precision_monotone", "aecs", "discernibility", "entropy", "non_uniform_entropy"]
)
@pytest.mark.parametrize("protocol", ["B", SLOW_C])
def test_metrics_need_no_value(protocol: str, metric: str, tmp_path: Path) -> None:
    assert_as_pooled(tmp_path, protocol, "vertical", {**PLAN, "metric": {"metric": metric}}, 7)


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
@pytest.mark.parametrize("missing", ["suppress", "category"])
def test_missing_values_are_treated_as_in_one_table(protocol: str, missing: str, tmp_path: Path) -> None:
    assert_as_pooled(tmp_path, protocol, "horizontal", {**PLAN, "missing": missing, "suppression_limit": 0.2}, 11)


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_rows_that_lack_a_value_may_look_like_all_others(protocol: str, tmp_path: Path) -> None:
    """If only `*` is shown, nobody can count which rows were suppressed; the others did not sign."""
    attributes = {name: PLAN["attributes"][name] for name in ("sex", "note")}
    plan = {**PLAN, "attributes": attributes, "missing": "suppress", "suppression_limit": 0.3}
    frame = pl.DataFrame({"sex": ["m", "m", "f", "d", "x", "y", None, "z", "w"], "note": list("abcdefghi")})
    study = study_of(tmp_path, protocol, "horizontal", plan)
    pooled = ko.anonymize(frame, study.plan)
    assert (pooled.levels, pooled.suppressed) == ({"sex": 1}, 1)
    release = run_study(study, {name: frame[n::3] for n, name in enumerate(PARTIES)})["clinic-b"]
    assert release is not None
    assert release.figures["suppressed"] == 1
    assert rows_of(release.frame, ["sex", "note"]) == rows_of(pooled.data, ["sex", "note"])


DATAFLY = {
    "kohorte": 1,
    "attributes": {"sex": {"role": "quasi-identifying"}, "town": PLAN["attributes"]["town"]},
    "models": [{"model": "k-anonymity", "k": 2}],
    "suppression_limit": 0.5,
    "search": {"algorithm": "datafly"},
}


@pytest.mark.parametrize("protocol", ["A", "B"])
def test_datafly_suppresses_the_same_class_of_several_that_are_equally_small(protocol: str, tmp_path: Path) -> None:
    """One row is alone, so that another class is suppressed: it was another one in every run."""
    sexes = ["m", "m", "m", "m", "f", "f", "f", "f", "d"]
    towns = ["Dresden", "Dresden", "Görlitz", "Görlitz", "Dresden", "Dresden", "Dresden", "Würzburg", "Würzburg"]
    frame = pl.DataFrame({"sex": [*sexes, "f"], "town": [*towns, "Würzburg"]})
    study = study_of(tmp_path, protocol, "horizontal", DATAFLY)
    pooled = ko.anonymize(frame, study.plan)
    assert pooled.suppressed == 3
    for _ in range(4):
        release = run_study(study, {name: frame[n::3] for n, name in enumerate(PARTIES)})["clinic-b"]
        assert release is not None
        assert rows_of(release.frame, ["sex", "town"]) == rows_of(pooled.data, ["sex", "town"])


@pytest.mark.parametrize("protocol", ["A", "B"])
def test_datafly_suppresses_all_classes_that_only_their_values_tell_apart(protocol: str, tmp_path: Path) -> None:
    """Parties who see no values cannot choose one of them; the run was refused after the tables had been sent."""
    frame = pl.DataFrame({"sex": [*"mmffd", *"xxx"], "town": ["Dresden"] * 8})
    study = study_of(tmp_path, protocol, "horizontal", DATAFLY | {"suppression_limit": 0.7})
    pooled = ko.anonymize(frame, study.plan)
    assert (pooled.suppressed, pooled.levels["sex"]) == (5, 0)
    release = run_study(study, {name: frame[n::3] for n, name in enumerate(PARTIES)})["clinic-b"]
    assert release is not None
    assert release.figures["suppressed"] == 5
    assert rows_of(release.frame, ["sex", "town"]) == rows_of(pooled.data, ["sex", "town"])


def test_counters_suffice_for_datafly_if_nothing_may_be_suppressed(tmp_path: Path) -> None:
    frame = patients(60, 4).drop_nulls()
    study = study_of(tmp_path, "C", "horizontal", PLAN | {"search": {"algorithm": "datafly"}, "suppression_limit": 0})
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, {name: frame[n::3] for n, name in enumerate(PARTIES)})["clinic-b"]
    assert release is not None
    assert (release.figures["levels"], release.figures["suppressed"]) == (pooled.levels, 0)
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)


HYBRID = {
    "distribution": "hybrid",
    "identifier": "TID",
    "parties": {
        "clinic-a": {"group": "north", "columns": ["age", "note", "zip"]},
        "lab-a": {"group": "north", "columns": ["sex", "town", "diagnosis"]},
        "clinic-b": {"group": "south", "columns": ["age", "note", "zip", "sex"]},
        "lab-b": {"group": "south", "columns": ["town", "diagnosis"]},
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_groups_of_parties_that_divide_their_columns_are_joined_and_then_appended(
    protocol: str, tmp_path: Path
) -> None:
    frame = patients(90, 3)
    study = written_study(tmp_path, PLAN, protocol=protocol, **HYBRID)
    numbered = frame.with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
    halves = {"north": numbered[:40], "south": numbered[40:]}
    tables = {
        name: halves[entry["group"]].select("TID", *entry["columns"]).sample(fraction=1, shuffle=True)
        for name, entry in HYBRID["parties"].items()  # type: ignore[attr-defined]
    }
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, tables)["lab-b"]
    assert release is not None
    names = [name for name in frame.columns if name != "name"]
    assert rows_of(release.frame, names) == rows_of(pooled.data, names)


@pytest.mark.parametrize(("protocol", "dummies"), [("A", 0.0), ("A", 0.5), ("C", 0.5)])
def test_people_who_are_not_at_all_parties_of_a_group_are_counted_without_dummy_rows(
    protocol: str, dummies: float, tmp_path: Path
) -> None:
    frame = patients(60, 3).with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
    study = written_study(tmp_path, PLAN, protocol=protocol, dummies=dummies, **HYBRID)
    people = {"clinic-a": frame[:30], "lab-a": frame[2:30], "clinic-b": frame[30:55], "lab-b": frame[30:]}
    tables = {name: people[name].select("TID", *member.columns) for name, member in study.parties.items()}
    release = run_study(study, tables)["lab-b"]
    assert release is not None
    joint: Any = release.certificate.facts["joint"]
    assert joint["people_not_at_all_parties"] == {"clinic-a": 2, "lab-a": 0, "clinic-b": 0, "lab-b": 5}
    assert release.frame.height == 53


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_people_who_are_not_at_all_parties_are_left_out_and_counted(protocol: str, tmp_path: Path) -> None:
    frame = patients(90, 4)
    study = study_of(tmp_path, protocol, "vertical")
    tables = divided(frame, "vertical")
    ids = [f"P{number}" for number in range(5)]
    tables["clinic-a"] = tables["clinic-a"].filter(~pl.col("TID").is_in(ids))
    pooled = ko.anonymize(frame[5:], study.plan)
    release = run_study(study, tables)["clinic-b"]
    assert release is not None
    names = [name for name in frame.columns if name != "name"]
    assert rows_of(release.frame, names) == rows_of(pooled.data, names)
    joint = release.certificate.facts["joint"]
    assert joint["people_not_at_all_parties"] == {"clinic-a": 0, "clinic-b": 5, "clinic-c": 5}  # type: ignore[index]
    assert "clinic-b: 5 rows were left out" in release.certificate.to_text()


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_only_the_party_that_the_study_names_gets_the_release(protocol: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, protocol, "horizontal", result="clinic-b", parties={"clinic-a": {}, "clinic-b": {}})
    frame = patients(60, 1)
    releases = run_study(study, {"clinic-a": frame[:25], "clinic-b": frame[25:]})
    assert [name for name, release in releases.items() if release is not None] == ["clinic-b"]
    release = releases["clinic-b"]
    assert release is not None
    joint: Any = release.certificate.facts["joint"]
    assert [entry["name"] for entry in joint["signatures"]] == [
        "clinic-b",
        *(n for n in study.members if n != "clinic-b"),
    ]
    assert (joint["protocol"], joint["study_sha256"]) == (protocol, study.fingerprint())


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_a_plan_that_nothing_satisfies_ends_the_run_at_all_parties(protocol: str, tmp_path: Path) -> None:
    plan = {**PLAN, "models": [{"model": "k-anonymity", "k": 3}, {"model": "average-risk", "threshold": 0.001}]}
    study = study_of(tmp_path, protocol, "horizontal", {**plan, "missing": "suppress"})
    frame = patients(60, 1)
    with pytest.raises(NoSolution) as joint:
        run_study(study, divided(frame, "horizontal"))
    with pytest.raises(NoSolution) as pooled:
        ko.anonymize(frame, study.plan)
    found, expected = (str(caught.value).split("; ") for caught in (joint, pooled))
    assert found[:-1] == expected[:-1]  # the same hints
    assert "rows are suppressed because they lack a value" in found[-1]
    assert found[-1] == (expected[-1] if protocol != "C" else re.sub(", [0-9]* of them in .*most:", ":", expected[-1]))


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_a_party_without_rows_adds_nothing(protocol: str, tmp_path: Path) -> None:
    frame = patients(60, 5)
    study = study_of(tmp_path, protocol, "horizontal", dummies=0.3 if protocol == "C" else 0.0)
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, {"clinic-a": frame[:25], "clinic-b": frame[:0], "clinic-c": frame[25:]})["clinic-b"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)


def test_protocol_a_with_dummy_rows_accepts_a_party_without_rows(tmp_path: Path) -> None:
    frame = patients(40, 5)
    study = study_of(tmp_path, "A", "horizontal", dummies=0.3)
    release = run_study(study, {"clinic-a": frame[:0], "clinic-b": frame[:20], "clinic-c": frame[20:]})["clinic-a"]
    assert release is not None
    assert rows_of(release.frame, NAMES) == rows_of(ko.anonymize(frame, study.plan).data, NAMES)


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
@pytest.mark.parametrize("distribution", ["horizontal", "vertical"])
def test_parties_without_any_row_are_refused(protocol: str, distribution: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, protocol, distribution)
    with pytest.raises(InputError) as refused:
        run_study(study, divided(patients(10, 5)[:0], distribution))
    assert refused.value.code == "table-no-rows"


@pytest.mark.parametrize("metric", ["entropy", "non_uniform_entropy", "loss"])
@pytest.mark.parametrize("protocol", ["A", "B", SLOW_C])
def test_values_that_were_generalized_at_the_party_are_the_values_of_the_table(
    protocol: str, metric: str, tmp_path: Path
) -> None:
    """As pooling tables in which the postal codes end after three digits; values below were never there."""
    zip_code = {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5, "padding": "0"}}}
    attributes = {**PLAN["attributes"], "zip": {**zip_code, "minimum_level": 2}}
    plan = {**PLAN, "metric": metric, "attributes": attributes}
    study = study_of(tmp_path, protocol, "horizontal", plan, pregeneralize=True)
    frame = patients(90, 4)
    short = frame.with_columns(pl.col("zip").str.pad_end(5, "0").str.slice(0, 3) + "**")
    pooled = ko.anonymize(short, study.plan)
    release = run_study(study, divided(frame, "horizontal"))["clinic-b"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert release.figures["cost"] == pytest.approx(pooled.cost, rel=1e-12)
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)


@pytest.mark.parametrize(("protocol", "dummies"), [("A", 0.0), ("A", 0.5), ("B", 0.0), ("C", 0.5)])
def test_people_who_are_missing_are_counted_by_party_if_the_study_says_that_all_have_the_same(
    protocol: str, dummies: float, tmp_path: Path
) -> None:
    study = study_of(tmp_path, protocol, "vertical", all_people=True, dummies=dummies)
    tables = divided(patients(30, 4), "vertical")
    tables["clinic-b"] = tables["clinic-b"].filter(pl.col("TID") != "P7")
    with pytest.raises(InputError) as refused:
        run_study(study, tables)
    assert refused.value.code == "study-people-differ"
    said = refused.value.message
    assert "clinic-a has " in said or "clinic-c has " in said
    assert "before" not in said
    assert ("dummy rows" in said) == (dummies > 0)
    if not dummies:
        assert "only 29 of their rows are at all of them" in said


def test_a_value_that_a_hierarchy_lacks_ends_the_run_and_is_not_shown(tmp_path: Path) -> None:
    study = study_of(tmp_path, "B", "horizontal")
    tables = divided(patients(30, 1), "horizontal")
    tables["clinic-b"] = tables["clinic-b"].with_columns(town=pl.lit("Atlantis"))
    with pytest.raises(InputError) as refused:
        run_study(study, tables)
    assert refused.value.code == "value-not-in-hierarchy"
    assert "Atlantis" not in str(refused.value)


def test_what_was_written_is_what_was_certified(tmp_path: Path) -> None:
    study = study_of(tmp_path, "B", "horizontal")
    release = run_study(study, divided(patients(60, 2), "horizontal"))["clinic-c"]
    assert release is not None
    release.write(tmp_path / "release.csv")
    assert ko.verify(ko.read_table(tmp_path / "release.csv").frame, study.plan).satisfied
    assert (tmp_path / "release.certificate.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["horizontal", "vertical"])
def test_protocol_a_with_dummy_rows_gives_the_same_release(distribution: str, tmp_path: Path) -> None:
    frame = patients(60, 8)
    study = study_of(tmp_path, "A", distribution, dummies=0.3)
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, divided(frame, distribution))["clinic-b"]
    assert release is not None
    names = [name for name in frame.columns if name != "name"]
    assert rows_of(release.frame, names) == rows_of(pooled.data, names)


@pytest.mark.slow
def test_paillier_counts_as_elgamal_does(tmp_path: Path) -> None:
    frame = patients(20, 9)
    study = study_of(
        tmp_path, "C", "horizontal", counters="paillier", parties={"clinic-a": {}, "clinic-b": {}}, dummies=0.1
    )
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, {"clinic-a": frame[:10], "clinic-b": frame[10:]})["clinic-a"]
    assert release is not None
    names = [name for name in frame.columns if name != "name"]
    assert rows_of(release.frame, names) == rows_of(pooled.data, names)


PRESENCE: dict[str, Any] = {
    **PLAN,
    "attributes": {**PLAN["attributes"], "in_study": {"role": "insensitive"}},
    "suppression_limit": 0.3,
}
SUBSETS = [
    {"model": "delta-presence", "minimum": 0.0, "maximum": 0.7, "subset": "in_study"},
    {"model": "delta-presence", "minimum": 0.1, "maximum": 0.8, "subset": "in_study"},
    {"model": "k-map", "k": 7, "subset": "in_study"},
]


@pytest.mark.parametrize("model", SUBSETS, ids=lambda model: f"{model['model']} {model.get('minimum', '')}")
@pytest.mark.parametrize("distribution", ["horizontal", pytest.param("vertical", marks=pytest.mark.slow)])
@pytest.mark.parametrize("protocol", ["A", "B"])
def test_a_subset_is_released_as_if_the_whole_population_were_in_one_table(
    protocol: str, distribution: str, model: dict[str, Any], tmp_path: Path
) -> None:
    frame = patients(120, 6)
    frame = frame.with_columns(in_study=pl.Series(["yes", "no", "no", "yes", "no"] * 24))
    columns = {**COLUMNS, "clinic-b": [*COLUMNS["clinic-b"], "in_study"]}
    plan = {**PRESENCE, "models": [{"model": "k-anonymity", "k": 2}, model]}
    study = study_of(tmp_path, protocol, distribution, plan, columns=columns)
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, divided(frame, distribution, columns))["clinic-c"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert (release.figures["suppressed"], release.figures["rows"]) == (pooled.suppressed, pooled.rows)
    names = [name for name in frame.columns if name not in ("name", "in_study")]
    assert list(release.frame.columns) == names
    assert rows_of(release.frame, names) == rows_of(pooled.data, names)
    release.write(tmp_path / "release.csv")  # verified again, with the population that was counted
