"""Spellings of a sensitive value are one value for models and attacks; words for missing are an open point."""

from __future__ import annotations

import random
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import homogeneity_attack
from kohorte.errors import InputError
from kohorte.hierarchies import Tree
from kohorte.parties.own_table import labels_of, own_table
from kohorte.parties.study import Study
from kohorte.sources import DuckDbSource, encode_sensitive
from support.joint_studies import written_study

VALUES = ("Grippe", "hépatite", "HIV", "Gicht")
CHANGES = (
    str,
    str.upper,
    str.lower,
    lambda text: f"{text} ",
    lambda text: f"\u00a0{text}",
    lambda text: f"{text[0]}\u200b{text[1:]}",
    lambda text: unicodedata.normalize("NFD", text),
)


def folded(text: str) -> str:
    """The value without its spelling: an own rule, for the spellings of this test."""
    return unicodedata.normalize("NFC", text).replace("\u200b", "").replace("\u00a0", " ").strip().lower()


def drawn(seed: int) -> pl.DataFrame:
    """A random table in which every value is spelled in several ways; the women of one age have the same value."""
    chance = random.Random(seed)
    ages = [chance.choice(["20", "30", "40"]) for _ in range(80)]
    sexes = [chance.choice("fm") for _ in range(80)]
    values = [
        chance.choice(CHANGES)("HIV" if (age, sex) == ("20", "f") else chance.choice(VALUES))
        for age, sex in zip(ages, sexes, strict=True)
    ]
    people = [f"p{chance.randrange(60)}" for _ in range(80)]
    return pl.DataFrame({"patient": people, "age": ages, "sex": sexes, "diagnosis": values})


def plan(*models: dict[str, Any], **more: Any) -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "patient": {"role": "identifying"},
                "age": {"role": "quasi-identifying"},
                "sex": {"role": "quasi-identifying"},
                "diagnosis": {"role": "sensitive"},
            },
            "models": [{"model": "k-anonymity", "k": 2}, *models],
            "suppression_limit": 0.6,
            "person": "none",
        }
        | more
    )


DIVERSE = {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 3}
CLOSE = {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.3}


@pytest.mark.parametrize("more", [{}, {"search": {"algorithm": "mondrian"}}, {"person": "patient"}])
@pytest.mark.parametrize("seed", range(3))
def test_no_class_is_diverse_by_spellings(seed: int, more: dict[str, Any]) -> None:
    frame = drawn(seed)
    release = ko.anonymize(frame, plan(DIVERSE, **more))
    classes = defaultdict(set)
    for age, sex, value in release.data.iter_rows():
        classes[age, sex].add(folded(value))
    kept = {shown: values for shown, values in classes.items() if shown != ("*", "*")}
    assert kept
    assert all(len(values) >= 3 for values in kept.values())
    assert sorted(release.data["diagnosis"]) == sorted(frame["diagnosis"]), "the release shows what the table has"


def test_a_class_of_spellings_of_one_value_fails_and_is_attacked() -> None:
    values = ["HIV", "hiv", "HIV\u00a0", "H\u200bIV", "flu", "gout", "cold", "flu"]
    frame = pl.DataFrame({"age": ["20"] * 4 + ["30"] * 4, "sex": ["f"] * 8, "diagnosis": values})
    [_, verdict] = ko.verify(frame, plan(DIVERSE | {"l": 2})).models
    assert not verdict.satisfied
    assert verdict.failing == 4
    assert homogeneity_attack(frame, plan()).hurt == 4


@pytest.mark.parametrize("model", [DIVERSE, CLOSE, {"model": "l-diversity_entropy", "attribute": "diagnosis", "l": 2}])
def test_the_figures_are_those_of_the_table_with_one_spelling(model: dict[str, Any]) -> None:
    frame = drawn(7)
    clean = frame.with_columns(pl.Series("diagnosis", [folded(value) for value in frame["diagnosis"]]))
    spelled, plain = (ko.anonymize(table, plan(model)) for table in (frame, clean))
    assert (spelled.levels, spelled.cost, spelled.suppressed) == (plain.levels, plain.cost, plain.suppressed)
    assert spelled.verification.models == plain.verification.models


def test_a_hierarchy_joins_spellings_too() -> None:
    tree = Tree({"liver": ["HIV", "hiv", "gout"], "lung": ["flu"]})
    column = encode_sensitive(pl.Series("diagnosis", ["hiv", "flu", "HIV", "gout", None]), tree)
    assert column.codes[0] == column.codes[2]
    assert len(set(column.codes.tolist())) == len(column.domain.overall) == 4
    assert [len(level) for level in column.domain.maps] == [4, 4, 4]


@pytest.mark.parametrize(
    ("values", "equal"),
    [
        (["200", "200,0", "200,00"], "2 of 6 values of 'diagnosis' equal"),
        (["200.0", "200,0", "flu"], "1 of 6 values of 'diagnosis' equals"),
        (["200,0", "200,5", "20,00"], None),
    ],
)
def test_equal_numbers_with_a_decimal_comma_are_an_open_point(values: list[str], equal: str | None) -> None:
    ages = {"age": ["20"] * 3 + ["30"] * 3, "sex": ["f"] * 6}
    frame = pl.DataFrame({"patient": list("abcdef"), **ages, "diagnosis": [*values, "1", "2,5", "3"]})
    release = ko.anonymize(frame, plan(DIVERSE | {"l": 2}))
    for points in (release.verification.open_points, ko.verify(release.data, release.plan).open_points):
        said = [point for point in points if "decimal comma" in point]
        assert [point.split(" another")[0] for point in said] == ([] if equal is None else [equal])


def test_a_text_that_shows_nothing_is_missing() -> None:
    column = encode_sensitive(pl.Series("diagnosis", ["flu", " ", None, "\u200b"]), None)
    assert column.codes.tolist() == [0, 1, 1, 1]


def test_a_table_in_duckdb_is_judged_alike(tmp_path: Path) -> None:
    frame = drawn(3)
    frame.write_parquet(tmp_path / "t.parquet")
    release = ko.anonymize(DuckDbSource(tmp_path / "t.parquet"), plan(DIVERSE))
    assert release.verification.models == ko.anonymize(frame, plan(DIVERSE)).verification.models


def test_the_certificate_says_how_many_spellings_were_joined_and_shows_none() -> None:
    frame = drawn(1)
    certificate = ko.certify(ko.anonymize(frame, plan(DIVERSE)))
    joined = frame["diagnosis"].n_unique() - len({folded(value) for value in frame["diagnosis"]})
    said = f"{joined} of {frame['diagnosis'].n_unique()} values differ from another one only in capital letters"
    [point] = [reason for reason in certificate.verdict.reasons if said in reason]
    assert str(certificate.verdict.standing) == "amber"
    assert not any(value.strip() in point for value in frame["diagnosis"])


def test_words_for_missing_are_an_open_point_until_the_plan_lists_them() -> None:
    words = ["NA", "k.A.", "unbekannt", "-", "leer"]
    values = [*words, "flu", "gout", "cold", "flu", "HIV"]
    frame = pl.DataFrame({"age": ["20"] * 10, "sex": ["f"] * 10, "diagnosis": values})
    said = "'diagnosis' has 5 words that usually stand for a missing value"
    assert any(said in point for point in ko.verify(frame, plan(DIVERSE)).open_points)
    listed = ko.verify(frame, plan(DIVERSE, missing_values=words))
    assert not any("usually" in point for point in listed.open_points)


def of_study(folder: Path, hierarchy: dict[str, Any]) -> Study:
    own = plan(DIVERSE).to_dict()
    own["attributes"] = {
        "age": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive", **hierarchy},
    }
    return written_study(folder, own)


def test_parties_fold_spellings_before_they_encrypt(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["20"] * 4, "diagnosis": ["HIV", "hiv\u00a0", "flu", " "]})
    column = own_table(frame, of_study(tmp_path, {}), "clinic-a", lengths={}).columns["diagnosis"]
    shown, counted = zip(*(labels_of(column)[code] for code in column.codes), strict=True)
    assert shown == tuple(frame["diagnosis"])
    assert counted[0] == counted[1] != counted[2]
    assert counted[3] is None


def test_parties_refuse_spellings_in_a_hierarchy(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["20"] * 3, "diagnosis": ["HIV", "hiv", "flu"]})
    study = of_study(tmp_path, {"hierarchy": {"tree": {"any": ["HIV", "hiv", "flu"]}}})
    with pytest.raises(InputError, match="1 of 3 values differ") as refused:
        own_table(frame, study, "clinic-a", lengths={})
    assert refused.value.code == "study-spellings"
