"""Sentences that the program has composed are recognised by their templates, and told in another language."""

from __future__ import annotations

import ast

import pytest

from kohorte.languages import ENGLISH, language
from kohorte.languages.phrases import Phrases
from testbed.said_texts import said_texts, template

GERMAN = language("de")
assert GERMAN is not None


def of(pairs: dict[str, str]) -> Phrases:
    """Phrases with invented translations."""
    return Phrases(pairs, GERMAN.number, lambda day: f"day {day}", lambda moment: f"moment {moment}")


def test_english_stays_as_it_is() -> None:
    assert ENGLISH.tell("the plan counts 1,234.5 rows") == "the plan counts 1,234.5 rows"


def test_a_text_is_told_with_what_fills_its_holes() -> None:
    known = of({"{1} of {2} fail": "{2}, davon {1} nicht", "{1} rows": "{1} Zeilen"})
    assert known.tell("3 of 1,234 rows fail") == "1.234 Zeilen, davon 3 nicht"


def test_numbers_and_dates_are_written_by_the_locale() -> None:
    known = of({})
    assert known.tell("1,234.5 %") == "1.234,5\u00a0%"
    assert known.tell("0.331967") == "0,331967"
    assert known.tell("2026-11-18") == "day 2026-11-18"
    assert known.tell("3.11.7") == "3.11.7"
    assert GERMAN.tell("2026-11-18T03:35:24+00:00") == "18.11.2026, 03:35 UTC"


def test_a_year_or_a_code_gets_no_separators() -> None:
    assert of({}).tell("1984") == "1984"


def test_a_name_in_quotation_marks_is_kept_although_it_is_a_known_word() -> None:
    known = of({"{1} is sensitive": "{1} ist sensibel", "rows": "Zeilen"})
    assert known.tell("'rows' is sensitive") == "'rows' ist sensibel"


def test_what_fills_a_hole_for_names_is_kept_although_it_is_a_known_word() -> None:
    known = of({", for instance {1=}": ", zum Beispiel {1}", "grouped{1}": "gruppiert{1}", "none": "keine"})
    assert known.tell("grouped, for instance none") == "gruppiert, zum Beispiel none"


def test_a_template_fits_also_where_what_fills_its_holes_touches_its_words() -> None:
    known = of({"un{1}able{2}row": "{1}/{2}", "level{1}": "Stufe{1}", "{1}s of the table": "{1} der Tabelle"})
    assert known.tell("unbearable narrow") == "bear/ nar"
    assert known.tell("levels") == "Stufes"
    assert known.tell("7s of the table") == "7 der Tabelle"


def test_of_two_templates_that_fit_the_one_that_leaves_less_unknown_is_told() -> None:
    known = of({"{1} of the release": "{1} (a)", "row {1} of the release": "b {1}", "{1} {2}": "c"})
    assert known.tell("row 7 of the release") == "b 7"
    assert known.tell("3 of the release") == "3 (a)"


def test_a_choice_of_words_fits_either_of_them_and_nothing_else() -> None:
    known = of({"{1} {is|are} open": "offen: {1}"})
    assert known.tell("1 is open") == "offen: 1"
    assert known.tell("2 are open") == "offen: 2"
    assert known.tell("2 were open") == "2 were open"


def test_a_text_that_no_template_fits_stays_as_it_is() -> None:
    known = of({"the {1}": "das {1}"})
    assert known.tell("the whole of a sentence that nobody has translated") == (
        "the whole of a sentence that nobody has translated"
    )


def test_the_most_telling_template_is_taken() -> None:
    known = of({"{1} of {2}": "{1} von {2}", "none of {1} is above": "keine von {1} darüber"})
    assert known.tell("none of 30 is above") == "keine von 30 darüber"


def test_holes_side_by_side_are_filled_with_what_is_known() -> None:
    known = of({"{1} {2}; done": "{1}: {2}, fertig", "The highest risk is": "Das höchste Risiko"})
    assert known.tell("The highest risk is 20 %; done") == "Das höchste Risiko: 20\u00a0%, fertig"


def test_phrases_are_told_one_by_one_where_they_are_put_together() -> None:
    known = of({"first part": "erster Teil", "{1} rows lack a value": "{1} Zeilen ohne Wert"})
    assert known.tell("first part; 3 rows lack a value") == "erster Teil; 3 Zeilen ohne Wert"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("f\"{name!r} has {count(n, 'row')}\"", "{1} has {2}"),
        ('f"{one.attribute}: {n}"', "{1=}: {2}"),
        ("f\"{n} {'is' if n == 1 else 'are'} open\"", "{1} {is|are} open"),
        ('"a" + rest + f"b {x:,}"', "a{1}b {2}"),
        ("42", None),
    ],
)
def test_a_text_of_the_source_becomes_a_template(source: str, text: str | None) -> None:
    assert template(ast.parse(source, mode="eval").body) == text


def test_texts_of_several_words_are_found_without_a_mark() -> None:
    assert "removed (top level, {1} of {2})" in said_texts()
    assert not [text for text in said_texts() if text.startswith("Return ")]  # docstrings are for programmers


def test_levels_and_open_points_are_told_in_german() -> None:
    assert GERMAN.tell("first 3 characters, for instance 792** (2 of 5)") == (
        "erste 3 Zeichen, zum Beispiel 792** (2 von 5)"
    )
    assert GERMAN.tell("the rows stand in the order of the input, which can tell who is who") == (
        "Die Zeilen stehen in der Reihenfolge der Eingabe, was verraten kann, wer wer ist"
    )


def test_a_phrase_that_is_added_to_another_is_told_with_it() -> None:
    known = of({"there are none": "es gibt keine", "; these count as missing: {1}": "; als fehlend zählt: {1}"})
    assert known.tell("there are none; these count as missing: 'n/a'") == "es gibt keine; als fehlend zählt: 'n/a'"


def test_a_sentence_with_a_part_that_is_not_known_stays_english_as_a_whole() -> None:
    known = of({"this cannot be used because of {1}": "das geht nicht wegen {1}", "{1} rows": "{1} Zeilen"})
    half = "this cannot be used because of rows that nobody translated"
    assert known.tell(half) == half
    assert not known.knows(half)
    assert known.knows("this cannot be used because of 3 rows")


def test_a_name_of_several_words_does_not_make_a_sentence_english() -> None:
    known = of({"{1} is sensitive": "{1} ist sensibel"})
    assert known.tell("Datum der Aufnahme is sensitive") == "Datum der Aufnahme ist sensibel"


def test_the_name_of_a_file_does_not_make_a_sentence_english() -> None:
    known = of({"{1} is not in UTF-8": "{1} ist nicht in UTF-8", "the table of patients": "die Tabelle der Patienten"})
    assert known.tell("table of patients 2024.csv is not in UTF-8") == "table of patients 2024.csv ist nicht in UTF-8"
