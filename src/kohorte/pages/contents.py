"""The table of contents of a page: every section has an address on the page, and a list of all of them comes first."""

from __future__ import annotations

import re
from zlib import crc32

from markupsafe import Markup

PLACE = "\0contents\0"
"""Stands where a template wants the list; no text of a page can contain it."""

FEWEST = 4
"""With fewer sections there is no list."""

_HEADING = re.compile(r'h2 id="([^"]+)">([^<]*)')


def address(title: str) -> str:
    """The address of a section: its title in small letters and digits; a title with others also has a number."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return plain if title.isascii() and plain else f"{plain or 'section'}-{crc32(title.encode()):08x}"


def sections(page: str) -> list[tuple[str, Markup]]:
    """The addresses and titles of a rendered page; its titles are escaped already."""
    found = [(where, Markup(title)) for where, title in _HEADING.findall(page)]  # noqa: S704 - from the page itself
    return found if len(found) >= FEWEST else []
