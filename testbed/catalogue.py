"""Collect the texts of pages for the catalogues: `python -m testbed.catalogue` adds new texts and removes old ones.

With `--fill de pairs.json`, an object of English texts and their translations, texts without a translation get theirs.
Texts with a number have a list of two translations.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from kohorte.languages import ENGLISH, LANGUAGES
from testbed.said_texts import error_texts, said_texts, speaks

PACKAGE = Path(__file__).parents[1] / "src" / "kohorte"
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "translatable": None}
METHODS = {".py": "python", ".j2": "jinja2.ext:babel_extract"}
UNNEEDED = ('"POT-Creation', '"PO-Revision', '"Generated-By', '"Report-Msgid', '"Last-Translator', '"Language-Team')
SAID, ERRORS = "-said", "-errors"
KINDS = ("", SAID, ERRORS)
"""The catalogues of a language: texts of templates, sentences that the program composes, messages of errors."""
OPTIONS = {"newstyle_gettext": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}


def texts(kind: str = "") -> Catalog:
    """Return all texts of a kind: those of templates, those that the program composes, or those of errors."""
    found = Catalog(charset="utf-8")
    if kind:
        for text in {SAID: said_texts, ERRORS: error_texts}[kind]():
            found.add(text)
        return found
    for path in sorted(path for path in PACKAGE.rglob("*") if path.suffix in METHODS and _marks(path)):
        place = path.relative_to(PACKAGE).as_posix()
        for _, message, comments, _ in extract_from_file(METHODS[path.suffix], path, KEYWORDS, options=OPTIONS):
            found.add(message, locations=[(place, 1)], auto_comments=comments)
    return found


def _marks(path: Path) -> bool:
    """Whether a file can have marked texts; reading is faster than parsing. Rooms that speak have their own way."""
    if path.suffix == ".j2":
        return True
    text = path.read_text(encoding="utf-8")
    return (
        not speaks(path.relative_to(PACKAGE).as_posix()) and re.search(r"\b(translatable|gettext)\(", text) is not None
    )


def catalogue(code: str, kind: str = "") -> Catalog:
    """Return a catalogue of a language as it is stored."""
    path = _path(code, kind)
    if not path.exists():
        return Catalog(locale=code, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=code)


def update(code: str, pairs: Mapping[str, str | Sequence[str]] | None = None, kind: str = "") -> list[str]:
    """Bring a catalogue up to date, fill in translations, and return the texts that have none."""
    stored = catalogue(code, kind)
    stored.update(texts(kind), no_fuzzy_matching=True)
    stored.obsolete.clear()
    stored.header_comment, stored.project, stored.fuzzy = "# Texts of Kohorte's pages.", "Kohorte", False
    for message in stored:
        text = message.id if isinstance(message.id, str) else message.id[0]
        if text and text in (pairs or {}) and not _is_translated(message.string):
            given = (pairs or {})[text]
            message.string = given if isinstance(given, str) else tuple(given)
    written = BytesIO()
    write_po(written, stored, width=120, omit_header=False, sort_output=True, include_lineno=False, no_location=True)
    lines = [line for line in written.getvalue().decode().splitlines() if not _is_date(line)]
    _path(code, kind).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(message.id) for message in stored if message.id and not _is_translated(message.string)]


def _is_translated(text: object) -> bool:
    return all(text) if isinstance(text, tuple) else bool(text)


def _is_date(line: str) -> bool:
    return line.startswith(UNNEEDED)


def _path(code: str, kind: str) -> Path:
    return PACKAGE / "languages" / f"{code}{kind}.po"


def main() -> None:
    """Update every catalogue."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fill", nargs=2, metavar=("CODE", "FILE"), default=("", ""))
    code, file = parser.parse_args().fill
    pairs = json.loads(Path(file).read_text(encoding="utf-8")) if file else {}
    for one in LANGUAGES:
        if one != ENGLISH:
            for kind in KINDS:
                missing = update(one.code, pairs if one.code == code else None, kind)
                print(f"{one.name}{kind}: {len(missing)} texts without a translation", *missing, sep="\n  ")


if __name__ == "__main__":
    main()
