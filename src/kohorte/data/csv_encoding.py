"""Convert the bytes of a text file to UTF-8, without guessing the encoding."""

from __future__ import annotations

import codecs
import re

from kohorte.errors import InputError
from kohorte.in_words import count

LINES_SHOWN = 5
_CHUNK = 1 << 20
LATIN_IN_UTF8 = re.compile(rb"\xc3[\x80-\xbf]")
"""Letters such as those with an umlaut in UTF-8; in cp1252 a capital A with a tilde before a sign."""
WESTERN = ("cp1252", "iso8859-1", "iso8859-15", "latin-1")
"""In a text of these encodings, a line whose every special letter is also valid UTF-8 is UTF-8."""
_MARKS = (  # the mark of UTF-32 starts with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def as_utf8(data: bytes, *, source: str, encoding: str | None) -> tuple[bytes, str]:
    """Return the text in UTF-8 without byte order mark, and the encoding it had.

    Without a given encoding and without a byte order mark the bytes must be UTF-8.
    """
    name = encoding_of(data, source=source, encoding=encoding)
    if name in ("utf-8", "utf-8-sig"):
        return _checked_utf8(data.removeprefix(codecs.BOM_UTF8), source=source), "utf-8"
    return _converted(data, source=source, encoding=name), name


def encoding_of(data: bytes, *, source: str, encoding: str | None) -> str:
    """Return the encoding of a text that begins with these bytes: the given one, or that of its byte order mark."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    given = _known(encoding) if encoding is not None else None
    if given and marked and not given.startswith(marked):
        raise InputError(
            f"{source} starts with the byte order mark of {marked.upper()}, but the encoding given is {given}",
            code="csv-encoding-conflict",
        )
    return given or marked or "utf-8"


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # refuses codecs that are not for text, such as base64
    except (LookupError, UnicodeError, ValueError):
        raise InputError(
            f"the encoding {encoding!r} is not known; try utf-8, cp1252, iso8859-15 or utf-16",
            code="csv-encoding-unknown",
        ) from None
    return name


def _checked_utf8(data: bytes, *, source: str) -> bytes:
    _refuse_nul(data, source=source)
    if not _is_utf8(data):
        bad, good = lines_beyond_ascii(data)
        _refuse_mixed(bad, good, source=source)
        _refuse_mixed_lines(_partly_utf8(data, bad), source=source)
        raise InputError(
            f"{source} is not in UTF-8: line {bad[0]} has bytes that are not valid UTF-8 "
            f"(lines of this kind: {len(bad):,}); if a Windows program wrote it, give the encoding cp1252 "
            "(--encoding)",
            code="csv-not-utf-8",
        )
    return data


def _is_utf8(data: bytes) -> bool:
    """Check in chunks, without decoding everything at once: text can take four times the memory."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(view[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def lines_beyond_ascii(data: bytes) -> tuple[list[int], list[int]]:
    """The numbers of the lines that are not UTF-8, and of those that are UTF-8 and more than ASCII."""
    beyond = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if not line.isascii()]
    good = [number for number, line in beyond if _is_utf8(line)]
    return sorted({number for number, _ in beyond} - set(good)), good


def _partly_utf8(data: bytes, bad: list[int]) -> list[int]:
    """The lines that are not UTF-8 as a whole, but have letters such as an umlaut in UTF-8 beside others."""
    lines = data.split(b"\n")
    return [number for number in bad if LATIN_IN_UTF8.search(lines[number - 1])]


def _refuse_mixed(bad: list[int], good: list[int], *, source: str) -> None:
    """Refuse a file in which some lines are in UTF-8 and others are not: no encoding reads both correctly."""
    if not bad or not good:
        return
    raise InputError(
        f"{source} mixes encodings: {_listed(good)} in UTF-8, {_listed(bad)} not (probably in cp1252), so that no "
        "encoding reads all of them correctly; export the parts again in one encoding, or convert them one by one",
        code="csv-encoding-mixed",
    )


def _refuse_mixed_lines(both: list[int], *, source: str) -> None:
    """Refuse a file with lines that are in two encodings: the one that usually helps would read them wrongly."""
    if both:
        raise InputError(
            f"{source} mixes encodings: {_listed(both)} partly in UTF-8 and partly not (probably in cp1252), so that "
            "no encoding reads all of them correctly; export the columns again in one encoding",
            code="csv-encoding-mixed",
        )


def _listed(lines: list[int]) -> str:
    """The first lines and how many there are: `line 3 is`, `lines 2, 5, 9, ... (17 in all) are`."""
    if len(lines) == 1:
        return f"line {lines[0]} is"
    shown = ", ".join(map(str, lines[:LINES_SHOWN]))
    return f"lines {shown}{f', ... ({len(lines):,} in all)' if len(lines) > LINES_SHOWN else ''} are"


def _refuse_nul(data: bytes, *, source: str) -> None:
    if b"\0" not in data:
        return
    even, odd = data[::2].count(b"\0"), data[1::2].count(b"\0")
    line = data[: data.index(b"\0")].count(b"\n") + 1
    hint = "it is not a text file"
    if max(even, odd) > len(data) // 4:
        guess = "utf-16-le" if odd > even else "utf-16-be"
        hint = f"it may be UTF-16 without a byte order mark; if so, give the encoding {guess} (--encoding)"
    raise InputError(
        f"{source} has {count(even + odd, 'NUL byte')} among {len(data)}, the first in line {line}: {hint}",
        code="csv-nul",
    )


def _converted(data: bytes, *, source: str, encoding: str) -> bytes:
    if encoding in WESTERN and not data.isascii():
        _refuse_mixed(*lines_beyond_ascii(data), source=source)
    try:
        converted = data.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        raise InputError(
            f"{source} is not in {encoding}: {_line_of(data, error, encoding)} cannot be decoded",
            code="csv-not-decodable",
        ) from None
    _refuse_nul(converted, source=source)
    return converted


def _line_of(data: bytes, error: UnicodeError, encoding: str) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return "the text"
    lines_before = data[: error.start].decode(encoding, errors="replace").count("\n")
    return f"line {lines_before + 1}"
