"""What a column may contain, and the ordinary columns of clinical and public tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from kohorte.cohorts import cohort
from kohorte.exchange.checking.forms import LIMITED, forms_of
from kohorte.exchange.contents import CONTENTS, Content, content_of, is_made_of_known, limited_shape
from kohorte.identifiers import Form
from testbed import tables


@pytest.mark.parametrize(
    ("text", "stated", "expected"),
    [
        ("moderate to severe", "words", True),
        ("Moderate-Severe", "words", True),
        ("grade 3", "words", True),
        ("grade 312", "words", False),
        ("1 2", "words", False),
        ("A B", "words", False),
        ("a-b", "words", False),
        ("G M", "words", False),
        ("E D C A A B C", "words", False),
        ("X-V-I-I", "words", False),
        ("12th 34th 56th 78th", "words", False),
        ("5th-6th", "words", True),
        ("IIa", "words", True),
        ("stage IIa b", "words", True),
        ("12 30 hours", "words", False),
        ("14:35 normal", "words", False),
        ("2 to 3 days", "words", True),
        (">= 471", "words", False),
        (">815000", "words", False),
        (">50K", "words", True),
        (">= 160", "words", True),
        ("12", "words", False),
        ("W", "words", True),
        ("Baden-Württemberg", "words", True),
        ("Baden", "words", False),
        ("farmer", "words", True),
        ("Farmer", "words", False),
        ("severe, says Zwettlinger", "words", False),
        ("north", "words", True),
        ("north region 12", "words", False),
        ("ward II", "words", False),
        ("site 12", "words", False),
        ("Self-emp-not-inc", "words", True),
        ("Trade Services inc", "words", False),
        ("Klinik Süd", "words", False),
        ("employee 47", "words", False),
        ("No. 47-11", "words", False),
        ("health insurance 47-11", "words", False),
        ("private: 44-55", "words", False),
        ("child 7", "words", False),
        ("12 children", "words", True),
        ("nurse B", "words", False),
        ("nurse Stark", "words", False),
        ("child of Stark", "words", False),
        ("Herz-Stark", "words", False),
        ("Alt-Neu", "words", False),
        ("mild Herz Stark", "words", False),
        ("Herz und Stark", "words", False),
        ("stark-herz", "words", False),
        ("ｓｔａｒｋ－ｈｅｒｚ", "words", False),
        ("Stark B.", "words", False),
        ("E. Stark", "words", False),
        ("Stark, nurse", "words", False),
        ("Stark Clinic", "words", False),
        ("Klinik Gut", "words", False),
        ("Ward Herz", "words", False),
        ("nurse stark", "words", False),
        ("Familie wild", "words", False),
        ("second ward", "words", False),
        ("old hospital", "words", False),
        ("score 47 score 11", "words", False),
        ("covid 47", "words", False),
        ("COVID 19 positive", "words", True),
        ("Mittel-Schwer", "words", True),
        ("Low/High", "words", True),
        ("Head and Neck", "words", True),
        ("Some High School", "words", True),
        ("Head Nurse", "words", True),
        ("poor family", "words", True),
        ("Minor Head Injury", "words", True),
        ("Female White", "words", True),
        ("MM", "words", False),
        ("ML-KG", "words", False),
        ("mg/dl", "words", True),
        ("1.5 mg", "words", True),
        ("am 14.3.", "words", False),
        ("on 3/14", "words", False),
        ("on the 14th", "words", False),
        ("over 60", "words", True),
        ("over 95", "words", False),
        ("95 years or more", "words", False),
        ("between 5 and 10 days", "words", True),
        ("10-5 days", "words", False),
        ("type 2 diabetes", "words", True),
        ("type 47", "words", False),
        ("COVID-19", "words", True),
        ("klinik.at", "words", False),
        ("mild, if treated.", "words", False),
        ("mild, treated.", "words", True),
        ("Herz***", "words", False),
        ("M*****", "words", False),
        ("none 🅷🆄🅱🅴🆁", "words", False),
        ("Wien 🅷🆄🅱🅴🆁", "words", False),
        ("none ⠓⠥⠃⠑⠗", "words", False),
        ("mild\u200b\u200c", "words", False),
        ("1000-1499", "g", True),
        ("18.5-24.99", "kg/m²", True),
        ("4711-4712", "mg", False),
        ("80.5", "kg", True),
        ("80,5 kg", "kg", True),
        ("805.5 cm", "kg", False),
        ("80.54", "kg", False),
        ("1200", "kg", False),
        ("-3", "kg", False),
        ("[60, 80)", "kg", True),
        ("60-79", "kg", True),
        ("79-60", "kg", False),
        ("60, 80", "kg", False),
        ("12,33,41", "kg", False),
        ("not done", "kg", True),
        ("7400", "/µl", True),
        ("7412", "/µl", False),
        ("89", "years", True),
        ("90", "years", False),
        ("E11.90", "icd-10", True),
        ("W1234", "icd-10", False),
        ("E10-E14", "icd-10", True),
        ("M01AE01", "atc", True),
        ("P1234567", "atc", False),
        ("2345-7", "loinc", True),
        ("2345-6", "loinc", False),
        ("AT", "country-code", True),
        ("QQ", "country-code", False),
    ],
)
def test_a_text_fits_what_the_house_states_or_not(text: str, stated: str, expected: bool) -> None:
    assert Content(None, stated).is_known(text) is expected


def test_the_unit_at_the_end_of_a_name_counts_unless_the_house_states_something_else() -> None:
    assert content_of("weight_kg", {}, {}).stated == "kg"
    assert content_of("RR systolic mmHg", {}, {}).stated == "mmHg"
    assert content_of("weight_kg", {}, {"weight_kg": "g"}).stated == "g"
    assert content_of("kg", {}, {}).stated == "words"
    assert content_of("field_7", {}, {}).stated == "words"


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("2024-05", Form.DATE, True),
        ("May 2024", Form.DATE, True),
        ("Huber 2024", Form.DATE, False),
        ("[1980, 1990)", Form.BIRTH, True),
        ("80-89", Form.AGE, True),
        ("90 or older", Form.AGE, True),
        ("Huber 47", Form.AGE, False),
        ("101**", Form.ZIP, True),
        ("Kaunerberg", Form.ZIP, False),
    ],
)
def test_a_date_an_age_or_a_zip_code_is_nothing_else(text: str, form: Form, expected: bool) -> None:
    assert limited_shape(text, form) is expected


def known_share(column: pl.Series, content: Content) -> float:
    """The share of the rows whose value is known to name nobody."""
    forms = [form for form in forms_of(column, len(column)).forms if form in LIMITED]
    distinct = column.drop_nulls().unique()
    known = [one for one in distinct if content.is_known(one) or any(limited_shape(one, form) for form in forms)]
    return float(column.drop_nulls().is_in(known).mean())  # type: ignore[arg-type]


def ordinary(frame: pl.DataFrame, statistics: Mapping[str, str], contents: Mapping[str, str]) -> dict[str, float]:
    """The columns of which more than one row in a hundred is not known."""
    shares = {name: known_share(frame[name], content_of(name, statistics, contents)) for name in frame.columns}
    return {name: share for name, share in shares.items() if share < 0.99}


def test_the_columns_of_the_made_up_cohort_are_known_but_for_identifiers_and_days() -> None:
    frame = cohort(500, wide=True)
    assert set(ordinary(frame, {"diagnosis": "disease"}, {})) == {"ssn", "name", "birth_date", "admission_date"}


@pytest.mark.skipif(not tables.available(), reason="the public benchmark tables are not there")
@pytest.mark.parametrize(
    ("table", "contents"),
    [
        ("adult", {}),
        ("cup", {"STATE": "us-state", "INCOME": "USD", "RAMNTALL": "USD", "MINRAMNT": "USD", "NGIFTALL": "count"}),
    ],
)
def test_the_columns_of_public_tables_are_known(table: str, contents: dict[str, str]) -> None:
    frame = pl.read_csv(tables.DATA / f"{table}.csv", separator=";", infer_schema=False)
    assert ordinary(frame, {}, contents) == {}


def test_every_content_is_documented() -> None:
    text = (tables.ROOT / "docs" / "exchange.md").read_text(encoding="utf-8")
    assert [one for one in CONTENTS if f"`{one}`" not in text] == []


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[40, 60[", True),
        (">= 90", True),
        ("[471123, 471124[", False),
        ("1500-1999", True),
        ("{mild, severe}", True),
        ('{"mild, severe", mild}', True),
        ("{mild, Kranewitter}", False),
        ("mild – severe", True),
        ("mild – Kranewitter", False),
        ("E1*", True),
        ("nev**", True),
        ("Zwett******", False),
        ("4711*", False),
        ("Kranewitter", False),
    ],
)
def test_a_label_that_the_program_made_is_known_by_its_parts(label: str, expected: bool) -> None:
    assert is_made_of_known(label, Content().is_known) is expected


@pytest.mark.parametrize(
    ("values", "are_names"),
    [
        (["Virginia", "Georgia", "Montana", "Anna"], True),
        (["Herz", "Kind", "Zahn"], True),
        (["Herz-Stark", "'Kind'", "(Zahn)"], True),
        (["Stark", "Mittel", "Schwach"], False),
        (["Virginia", "Georgia", "Texas"], False),
        (["herz", "kind", "zahn"], False),
        (["Herz", "Lunge", "Leber"], False),
    ],
)
def test_a_column_of_nothing_but_names_is_one_of_names_even_if_each_is_also_a_word(
    values: list[str], are_names: bool
) -> None:
    found = forms_of(pl.Series("field_7", values * 10), len(values) * 10)
    assert (Form.DIRECT in found.forms) is are_names
