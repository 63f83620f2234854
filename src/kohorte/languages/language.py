"""A language: its texts, and how it writes numbers, dates and times.

The source has every text in English. A catalogue (`de.po`, the format of gettext) has the same text in another
language; a text that it lacks stays English, and a test refuses catalogues with gaps. Babel is imported when a language
other than English is used for the first time, or a date is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from gettext import NullTranslations
from pathlib import Path

FOLDER = Path(__file__).parent
_WISH = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]{1,20})?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?")


@dataclass(frozen=True)
class Language:
    """A language by its code (ISO 639-1), its name in itself, and the locale that writes numbers and dates."""

    code: str
    name: str
    locale: str

    def gettext(self, text: str) -> str:
        """Return a text in this language."""
        return _translations(self.code).gettext(text)

    def ngettext(self, one: str, many: str, number: int) -> str:
        """Return the text for this number in this language."""
        return _translations(self.code).ngettext(one, many, number)

    def number(self, value: float, digits: int | None = None) -> str:
        """Write a number with separated thousands; `digits` are those after the decimal sign."""
        if self.code == ENGLISH.code:
            return f"{value:,.12g}" if digits is None else f"{value:,.{digits}f}"
        from babel.numbers import format_decimal

        pattern = None if digits is None else f"#,##0.{'0' * digits}" if digits else "#,##0"
        return format_decimal(value, format=pattern, locale=self.locale)

    def percent(self, share: float, digits: int = 1) -> str:
        """Write a share as a percentage, with a blank that does not break."""
        return f"{self.number(100 * share, digits)}\u00a0%"

    def day(self, value: date) -> str:
        """Write a date."""
        from babel.dates import format_date

        return format_date(value, format="medium", locale=self.locale)

    def moment(self, value: datetime | str) -> str:
        """Write a date and time, in UTC, to the minute."""
        from babel.dates import format_time

        given = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
        return f"{self.day(given)}, {format_time(given, 'HH:mm', locale=self.locale)} UTC"


ENGLISH = Language("en", "English", "en_GB")
LANGUAGES = (ENGLISH, Language("de", "Deutsch", "de_DE"))


def translatable(text: str) -> str:
    """Mark a text of the source for the catalogues; it is translated where it is shown."""
    return text


def language(code: str | None) -> Language | None:
    """Return the language with this code, if there is one."""
    return next((one for one in LANGUAGES if one.code == code), None)


def preferred(header: str) -> Language:
    """Return the language that a browser likes best (header Accept-Language, RFC 9110); English if it names none."""
    best, weight = ENGLISH, 0.0
    for wish in header[:500].split(","):
        found = _WISH.fullmatch(wish)
        offered = language(found[1].lower()) if found else None
        liked = float(found[2] or 1) if found else 0.0
        if offered is not None and liked > weight:
            best, weight = offered, liked
    return best


@cache
def _translations(code: str) -> NullTranslations:
    if code == ENGLISH.code:
        return NullTranslations()
    import io

    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po
    from babel.support import Translations

    with (FOLDER / f"{code}.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)
