"""Every template of a sentence or an error is recognised, whatever fills it, and told in German."""

from __future__ import annotations

import re

from kohorte.languages import language
from kohorte.languages.language import phrases
from kohorte.languages.phrases import HOLE
from kohorte.service.jobs.settlement import CANCELLED
from kohorte.service.problems import FAILED
from support.german import english_words

GERMAN = language("de")
assert GERMAN is not None
KNOWN = phrases("de").translations
KEYS = {"rows", "levels", "level", "at", "by", "of", "person", "people", "none"}
"""Keys of plans and surveys that are English words."""


def filled(text: str) -> str:
    """A text with a name in each hole, and the first word of each choice."""
    return HOLE.sub(lambda hole: f"'{hole[1]}'" if hole[1] else hole[3].split("|")[0], text)


def test_a_sentence_is_told_with_its_own_translation() -> None:
    wrong = {}
    for text, translation in KNOWN.items():
        told, wanted = GERMAN.tell(filled(text)), filled(translation)
        if told != wanted and len(re.sub(r"\W", "", HOLE.sub("", text))) > 12:  # short ones are parts of others
            wrong[text] = told
    assert wrong == {}


def test_no_message_of_an_error_has_english_left() -> None:
    told = {text: GERMAN.tell(filled(text)) for text in KNOWN}
    assert {text: said for text, said in told.items() if set(english_words(said)) - KEYS} == {}


def test_what_the_service_says_of_failures_and_cancelled_jobs_is_german() -> None:
    for text in (FAILED, str(CANCELLED["detail"])):
        assert GERMAN.tell(text) != text
        assert english_words(GERMAN.tell(text)) == []
