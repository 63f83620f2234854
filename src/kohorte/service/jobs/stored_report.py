"""The report of a release, stored once with its pages in all languages: readers choose theirs later."""

from __future__ import annotations

from dataclasses import replace

from kohorte.languages import LANGUAGES, Language
from kohorte.report.facts import Facts
from kohorte.report.page import to_html

BETWEEN = b"\0"
"""Stands between two pages; no text of a page can contain it."""


def pages(facts: Facts) -> bytes:
    """Return the pages of a report in all languages, as they are stored."""
    return BETWEEN.join(to_html(replace(facts, language=one)).encode() for one in LANGUAGES)


def page_in(stored: bytes, language: Language) -> bytes:
    """Return the page of a stored report in a language; reports of earlier versions have one page only."""
    found = stored.split(BETWEEN)
    return dict(zip(LANGUAGES, found, strict=False)).get(language, found[0])
