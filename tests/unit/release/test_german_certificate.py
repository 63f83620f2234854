"""The certificate in German: the same facts, told in another language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.data.strict_yaml import load
from kohorte.languages import language
from kohorte.models import MODELS, DistinctLDiversity, KAnonymity, PrivacyModel
from kohorte.release.certificate import said_by_plan
from kohorte.release.write import write_release
from support.german import english_words

GERMAN = language("de")
assert GERMAN is not None
QUASI = {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}


def plan(*models: PrivacyModel, **options: Any) -> ko.Plan:
    attributes = {"zip": QUASI, "sex": {"role": "quasi-identifying"}, "diagnosis": {"role": "sensitive"}}
    return ko.Plan(
        attributes=attributes,
        models=list(models) or [KAnonymity(3)],
        **{"person": "none", "suppression_limit": 0.1, **options},
    )


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rows = [(str(79100 + row % 4), "fm"[row % 2], ("flu", "none", "cold")[row % 3]) for row in range(60)]
    return pl.DataFrame([*rows, ("10115", "f", "gout")], schema=["zip", "sex", "diagnosis"], orient="row")


def sentences(facts: Any) -> list[str]:
    """All texts of several words in plain data, without its keys and names."""
    if isinstance(facts, str):
        return [facts] if " " in facts else []
    parts = facts.values() if isinstance(facts, dict) else facts if isinstance(facts, list | tuple) else ()
    return [text for part in parts for text in sentences(part)]


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    "person",
    ["none", pytest.param({"column": "id", "attacker_knows": "one_row"}, marks=pytest.mark.slow)],
    ids=["rows", "people"],
)
def test_what_a_model_promises_and_leaves_open_is_told_in_german(kind: type[PrivacyModel], person: Any) -> None:
    if kind.name == "n-t-closeness" and person != "none":
        pytest.skip("it cannot count people")
    given = load(kind.example, source="the example", code="plan-yaml")
    chosen = {
        "kohorte": 1,
        "attributes": {
            "id": {"role": "identifying"},
            "zip": QUASI,
            "diagnosis": {"role": "sensitive", "hierarchy": {"redaction": {}}},
            "salary": {"role": "sensitive"},
        },
        "models": [given],
        "person": person,
    }
    said = said_by_plan(ko.Plan.from_dict(chosen))
    texts = [text for key in ("protects_against", "does_not_protect_against") for text in sentences(said[key])]
    assert texts
    assert [told for told in map(GERMAN.tell, texts) if english_words(told)] == []


@pytest.mark.parametrize("missing", ["category", "suppress", "refuse"])
def test_what_a_plan_does_with_missing_values_is_told_in_german(missing: str) -> None:
    said = said_by_plan(plan(missing=missing, missing_values=["n/a"]))
    assert not english_words(GERMAN.tell(str(said["missing_values"])))
    assert not english_words(GERMAN.tell(str(said["suppressed_rows"])))


def test_the_text_has_no_english_sentence_and_keeps_names_and_values(table: pl.DataFrame) -> None:
    release = ko.anonymize(table, plan(KAnonymity(3), DistinctLDiversity("diagnosis", 2), order="input"))
    text = ko.certify(release).to_text(GERMAN)
    assert [line for line in text.splitlines() if english_words(line)] == []
    assert text.startswith("ZERTIFIKAT DER ANONYMISIERUNG\n")
    assert "Zeilen        61, davon" in text
    assert "  - Die Zeilen stehen in der Reihenfolge der Eingabe" in text


def test_the_certificate_as_json_is_the_same_in_every_language(table: pl.DataFrame, tmp_path: Path) -> None:
    release = ko.anonymize(table, plan())
    facts = []
    for code in ("en", "de"):
        path = tmp_path / code / "release.csv"
        path.parent.mkdir()
        write_release(release, path, language=code)
        facts.append(json.loads((path.parent / "release.certificate.json").read_text(encoding="utf-8")))
        del facts[-1]["created"], facts[-1]["output"]["sha256"]
    assert facts[0] == facts[1]
    assert "CERTIFICATE" in (tmp_path / "en" / "release.certificate.txt").read_text(encoding="utf-8")
    assert "ZERTIFIKAT" in (tmp_path / "de" / "release.certificate.txt").read_text(encoding="utf-8")


def test_both_texts_have_the_same_numbers(table: pl.DataFrame) -> None:
    certificate = ko.certify(ko.anonymize(table, plan()))
    english, german = certificate.to_text(), certificate.to_text(GERMAN)
    assert _numbers(english.replace(",", "")) == _numbers(german.replace(".", "").replace(",", "."))


def _numbers(text: str) -> list[float]:
    figures = [line for line in text.splitlines() if re.match(r"(Rows|Classes|Metric|Zeilen|Klassen|Metrik) ", line)]
    return sorted(float(one) for line in figures for one in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", line))
