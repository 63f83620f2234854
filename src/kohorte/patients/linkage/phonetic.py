"""Phonetic codes: names that sound alike get the same code.

Sources
    H. J. Postel, Die Kölner Phonetik. Ein Verfahren zur Identifizierung von Personennamen auf der Grundlage der
    Gestaltanalyse, IBM-Nachrichten 19, 1969.
    American Soundex: National Archives and Records Administration, The Soundex Indexing System, 2007.
"""

from __future__ import annotations

from itertools import groupby

_COLOGNE = {
    **dict.fromkeys("aeijouy", "0"),
    "b": "1",
    "h": "",
    **dict.fromkeys("fvw", "3"),
    **dict.fromkeys("gkq", "4"),
    "l": "5",
    **dict.fromkeys("mn", "6"),
    "r": "7",
    **dict.fromkeys("sz", "8"),
}
_SOUNDEX = {
    **dict.fromkeys("bfpv", "1"),
    **dict.fromkeys("cgjkqsxz", "2"),
    **dict.fromkeys("dt", "3"),
    "l": "4",
    **dict.fromkeys("mn", "5"),
    "r": "6",
}


def cologne(word: str) -> str:
    """The code of Cologne phonetics, made for German names; the word consists of lower-case letters a to z.

    Umlauts written with e, as in mueller, have the same code as plain vowels.
    """
    digits = "".join(_cologne_digit(*three) for three in zip(" " + word, word, word[1:] + " ", strict=False))
    single = "".join(digit for digit, _ in groupby(digits))
    return single[:1] + single[1:].replace("0", "")


def _cologne_digit(before: str, letter: str, after: str) -> str:
    match letter:
        case "p":
            return "3" if after == "h" else "1"
        case "d" | "t":
            return "8" if after in "csz" else "2"
        case "x":
            return "8" if before in "ckq" else "48"
        case "c":
            return _cologne_c(before, after)
    return _COLOGNE[letter]


def _cologne_c(before: str, after: str) -> str:
    if before == " ":
        return "4" if after in "ahkloqrux" else "8"
    return "8" if before in "sz" or after not in "ahkoqux" else "4"


def soundex(word: str) -> str:
    """The code of American Soundex, made for English names: a letter and three digits; for letters a to z."""
    if not word:
        return ""
    code, previous = word[0].upper(), _SOUNDEX.get(word[0], "")
    for letter in word[1:]:
        digit = _SOUNDEX.get(letter, "")
        if digit and digit != previous:
            code += digit
        if letter not in "hw":  # h and w do not separate letters of the same sound
            previous = digit
    return (code + "000")[:4]
