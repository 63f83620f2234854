"""What a column may contain, and the ordinary columns of clinical and public tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from kohorte.cohorts import cohort
from kohorte.exchange.checking.forms import LIMITED, forms_of
from kohorte.exchange.contents import CONTENTS, Content, content_of, limited_shape
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
