"""Sentences on pages: in the language of the page, or marked as English."""

from __future__ import annotations

from kohorte.languages import ENGLISH, language
from kohorte.pages.page import _environment

GERMAN = language("de")
assert GERMAN is not None
KNOWN = "the rows stand in the order of the input, which can tell who is who"
UNKNOWN = "the rows <b>of this</b> sentence were never translated"


def shown(said: str, of: object) -> str:
    environment = _environment("kohorte.pages", of, False)  # type: ignore[arg-type]
    return environment.from_string("{{ said|told }}").render(said=said)


def test_a_sentence_that_is_known_is_german() -> None:
    assert shown(KNOWN, GERMAN).startswith("Die Zeilen stehen in der Reihenfolge der Eingabe")


def test_a_sentence_that_is_not_known_is_marked_as_english_and_escaped() -> None:
    assert shown(UNKNOWN, GERMAN) == (
        '<span lang="en">the rows &lt;b&gt;of this&lt;/b&gt; sentence were never translated</span>'
    )
    assert "<span" not in shown(UNKNOWN, ENGLISH)
