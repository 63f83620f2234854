"""The catalogues of other languages: complete, without leftovers, and with the same placeholders."""

from __future__ import annotations

import re

import pytest

from kohorte.languages import ENGLISH, LANGUAGES
from testbed.catalogue import catalogue, texts

OTHERS = [one.code for one in LANGUAGES if one != ENGLISH]
_HOLE = re.compile(r"%\((\w+)\)s")


def strings(of: object) -> tuple[str, ...]:
    """A text, or its forms for one and for many."""
    return tuple(of) if isinstance(of, list | tuple) else (str(of),)


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_a_page_has_a_translation_and_no_translation_is_left_over(code: str) -> None:
    wanted = {strings(one.id) for one in texts() if one.id}
    stored = {strings(one.id): strings(one.string) for one in catalogue(code) if one.id}
    assert wanted - stored.keys() == set()
    assert stored.keys() - wanted == set()
    assert {text for text, translation in stored.items() if not all(translation)} == set()


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_placeholders_of_its_text(code: str) -> None:
    for one in catalogue(code):
        wanted = {hole for text in strings(one.id) for hole in _HOLE.findall(text)}
        for translation in strings(one.string):
            assert set(_HOLE.findall(translation)) == wanted, one.id


@pytest.mark.parametrize("code", OTHERS)
def test_nothing_is_marked_as_uncertain(code: str) -> None:
    assert [one.id for one in catalogue(code) if one.id and one.fuzzy] == []
