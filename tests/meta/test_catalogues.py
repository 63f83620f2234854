"""The catalogues of other languages: complete, without leftovers, and with the same placeholders."""

from __future__ import annotations

import re

import pytest

from kohorte.languages import ENGLISH, LANGUAGES
from testbed.catalogue import KINDS, catalogue, texts

OTHERS = [(one.code, kind) for one in LANGUAGES if one != ENGLISH for kind in KINDS]
_HOLE = re.compile(r"%\((\w+)\)s|\{(\d+)=?\}")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")


def strings(of: object) -> tuple[str, ...]:
    """A text, or its forms for one and for many."""
    return tuple(of) if isinstance(of, list | tuple) else (str(of),)


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_every_text_has_a_translation_and_no_translation_is_left_over(code: str, kind: str) -> None:
    wanted = {strings(one.id) for one in texts(kind) if one.id}
    stored = {strings(one.id): strings(one.string) for one in catalogue(code, kind) if one.id}
    assert wanted - stored.keys() == set()
    assert stored.keys() - wanted == set()
    assert {text for text, translation in stored.items() if not all(translation)} == set()


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_a_translation_has_the_placeholders_of_its_text(code: str, kind: str) -> None:
    for one in catalogue(code, kind):
        wanted = {hole for text in strings(one.id) for hole in _HOLE.findall(text)}
        for translation in strings(one.string):
            assert set(_HOLE.findall(translation)) == wanted, one.id


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_a_translation_begins_and_ends_with_the_blanks_of_its_text(code: str, kind: str) -> None:
    for one in catalogue(code, kind):
        pairs = zip(strings(one.id), strings(one.string), strict=True)
        assert all(text.endswith(" ") == said.endswith(" ") for text, said in pairs), one.id


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_a_translation_has_the_numbers_of_its_text(code: str, kind: str) -> None:
    for one in filter(lambda one: one.id, catalogue(code, kind)):
        for text, said in zip(strings(one.id), strings(one.string), strict=True):
            assert set(numbers(text)) <= set(numbers(said)), one.id  # 05/2014 is also called WP 216


@pytest.mark.parametrize(("code", "kind"), OTHERS)
def test_nothing_is_marked_as_uncertain(code: str, kind: str) -> None:
    assert [one.id for one in catalogue(code, kind) if one.id and one.fuzzy] == []


def numbers(text: str) -> list[str]:
    """The numbers of a text, without its placeholders and without signs that depend on the language."""
    return sorted(re.sub(r"[.,]", "", one).lstrip("0") for one in _NUMBER.findall(_HOLE.sub("", text)))
