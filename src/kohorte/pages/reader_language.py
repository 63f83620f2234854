"""The language of the reader of a report or certificate."""

from __future__ import annotations

from kohorte.errors import InputError, nearest
from kohorte.languages import LANGUAGES, Language, language


def language_named(code: str) -> Language:
    """Return a language by its code, or refuse one that pages do not have."""
    found = language(code)
    if found is None:
        known = [one.code for one in LANGUAGES]
        raise InputError(
            f"unknown language {str(code)!r}{nearest(str(code), known)}; known are {', '.join(known)}", code="language"
        )
    return found
