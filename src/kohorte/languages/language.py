"""A language: its texts, and how it writes numbers, dates and times.

The source has every text in English. A catalogue (`de.po`, the format of gettext) has the same text in another
language; a text that it lacks stays English, and a test refuses catalogues with gaps. Sentences that were composed
elsewhere are recognised (`Language.tell`, phrases.py). Babel is imported when a language
other than English is used for the first time, or a date is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from kohorte.languages.phrases import Phrases

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FOLDER = Path(__file__).parent
SENTENCES = ("{}-said.po", "{}-errors.po")
"""The files of a language beside that of templates: sentences that the program composes, and messages of errors."""

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

    def tell(self, text: str) -> str:
        """Return a text that the program has composed (an open point, a verdict, an error) in this language.

        Numbers and dates in it are written by the locale; names in it are kept. A text that is not known as a whole
        stays English.
        """
        return text if self.code == ENGLISH.code else phrases(self.code).tell(text)

    def knows(self, text: str) -> bool:
        """Whether `tell` returns a text of this language."""
        return self.code == ENGLISH.code or phrases(self.code).knows(text)

    def number(self, value: float, digits: int | None = None) -> str:
        """Write a number with separated thousands; `digits` are those after the decimal sign."""
        if self.code == ENGLISH.code:
            return f"{value:,.12g}" if digits is None else f"{value:,.{digits}f}"
        from babel.numbers import format_decimal

        pattern = None if digits is None else f"#,##0.{'0' * digits}" if digits else "#,##0"
        return format_decimal(value, format=pattern, locale=self.locale)

    def percent(self, share: float, digits: int = 1) -> str:
        """Write a share as a percentage, with a blank that does not break.

        Only 0 is written as 0 %, and only 1 as 100 %: a rare case is not shown as none.
        """
        step = 10.0**-digits
        if 0 < share < 1 and not step / 2 <= 100 * share < 100 - step / 2:
            sign, bound = ("<", step) if share < 0.5 else (">", 100 - step)
            return f"{sign}\u00a0{self.number(bound, digits)}\u00a0%"
        return f"{self.number(100 * share, digits)}\u00a0%"

    def day(self, value: date | str) -> str:
        """Write a date; a text is a date as in ISO 8601."""
        from babel.dates import format_date

        given = date.fromisoformat(value) if isinstance(value, str) else value
        return format_date(given, format="medium", locale=self.locale)

    def moment(self, value: datetime | str) -> str:
        """Write a date and time, in UTC, to the minute."""
        from babel.dates import format_time

        given = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
        return f"{self.day(given)}, {format_time(given, 'HH:mm', locale=self.locale)} UTC"


ENGLISH = Language("en", "English", "en_GB")
LANGUAGES = (ENGLISH, Language("de", "Deutsch", "de_DE"))


class Kept(str):
    """A text that pages show as it is, because it is in the language of the reader already."""

    __slots__ = ()


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
def phrases(code: str) -> Phrases:
    """Return the phrases of a language other than English."""
    own = language(code)
    assert own is not None
    known = {one: text for name in SENTENCES for one, text in _pairs(name.format(code)).items()}
    return Phrases(known, own.number, lambda day: own.day(date.fromisoformat(day)), lambda moment: own.moment(moment))


@cache
def _translations(code: str) -> NullTranslations:
    if code == ENGLISH.code:
        return NullTranslations()
    import io

    from babel.messages.mofile import write_mo
    from babel.support import Translations

    compiled = io.BytesIO()
    write_mo(compiled, _catalogue(f"{code}.po", code))
    compiled.seek(0)
    return Translations(compiled)


def _pairs(name: str) -> dict[str, str]:
    """The texts of a catalogue that do not depend on a number, with their translations."""
    stored = _catalogue(name, name[:2])
    return {one.id: one.string for one in stored if isinstance(one.id, str) and one.id and isinstance(one.string, str)}


def _catalogue(name: str, code: str) -> Catalog:
    from babel.messages.pofile import read_po

    with (FOLDER / name).open("rb") as file:
        return read_po(file, locale=code)
