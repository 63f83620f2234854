"""Cyrillic and Greek names in Latin letters, as registers write them.

A name in Cyrillic letters has several spellings in Latin ones: that of passports (Shevchenko), and that which German
registers use (Schewtschenko). No rule tells which one another house has, so a Cyrillic name is compared in all of them.
Greek has one usual spelling, in which some letters are read in pairs.

Source
    ICAO: Doc 9303, Machine Readable Travel Documents, part 3, section 6, 8th edition, 2021 (Cyrillic in passports);
    Duden: Die deutsche Rechtschreibung, transcription of Russian and Ukrainian; ELOT 743 (ISO 843:1997), Greek.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from anyascii import anyascii

_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
_UKRAINIAN = re.compile("[іїєґ]")


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


_SAME = _pairs(
    "а:a б:b г:g д:d е:e и:i к:k л:l м:m н:n о:o п:p р:r т:t у:u ф:f ы:y ь: э:e і:i ґ:g "
    "ј:j љ:lj њ:nj ћ:c ђ:dj џ:dz ѓ:g ќ:k ѕ:dz"
)
_GERMAN = _SAME | _pairs("в:w ё:jo ж:sch з:s й:i с:s х:ch ц:z ч:tsch ш:sch щ:schtsch ъ: ю:ju я:ja є:je ї:ji ў:w")
_PASSPORT = _SAME | _pairs("в:v ё:e ж:zh з:z й:i с:s х:kh ц:ts ч:ch ш:sh щ:shch ъ:ie ю:iu я:ia є:ie ї:i ў:u")
_GERMAN_RULES = (
    (re.compile("[иы]й(?![а-я])"), "и"),  # Tschaikowski
    (re.compile("(?<=[жчшщ])ё"), "о"),  # Chruschtschow
    (re.compile(r"(?<!\w)е|(?<=[аеёиоуыэюяьъ])е"), "йе"),  # Jewgeni, Zwetajewa
)
_OF_UKRAINIAN = _pairs("г:h и:y")
_GREEK_RULES = (
    (re.compile("([αεη])υ(?=[αεηιουωβγδζλμνρ])"), r"\1v"),
    (re.compile("([αεη])υ"), r"\1f"),
    (re.compile("ου"), "ou"),
    (re.compile("γ(?=[γξχ])"), "n"),
    (re.compile(r"(?<!\w)μπ|μπ(?!\w)"), "b"),
)
_GREEK_LETTERS = _pairs(
    "α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:f χ:ch ψ:ps ω:o"
)


def in_latin_letters(text: str) -> str:
    """A text in small letters of English: Greek as passports write it, other scripts letter by letter."""
    return anyascii(_greek(text) if _GREEK.search(text) else text).lower()


def other_spellings(*texts: str) -> tuple[tuple[str, ...], ...]:
    """The same texts in the spellings that Cyrillic names may have elsewhere; none if no text is Cyrillic."""
    if not _CYRILLIC.search("".join(texts)):
        return ()
    return tuple(tuple(style(text) for text in texts) for style in (_german, _passport))


def _german(text: str) -> str:
    small = _small(text)
    for rule, instead in _GERMAN_RULES:
        small = rule.sub(instead, small)
    return _written(small.replace("йе", "je"), _GERMAN)


def _passport(text: str) -> str:
    return _written(_small(text), _PASSPORT)


def _small(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _written(small: str, letters: Mapping[str, str]) -> str:
    """In Latin letters; in a Ukrainian name г is h."""
    table = {**letters, **_OF_UKRAINIAN} if _UKRAINIAN.search(small) else letters
    return "".join(table.get(letter, letter) for letter in small)


def _greek(text: str) -> str:
    """Greek without accents; two vowels with a diaeresis are no pair."""
    marked = unicodedata.normalize("NFD", text.lower())
    plain = "".join(mark for mark in marked if not unicodedata.combining(mark) or mark == "\u0308")
    for rule, instead in _GREEK_RULES:
        plain = rule.sub(instead, plain)
    return "".join(_GREEK_LETTERS.get(letter, letter) for letter in plain.replace("\u0308", ""))
