"""Population of the areas that share the first three digits of their ZIP codes, from a file or a text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from kohorte.errors import InputError
from kohorte.hierarchies.files import read_text

SEPARATORS = ",;\t"


def read_areas(name: str, *, folder: Path, attribute: str) -> dict[str, int]:
    """Read `zip,population` or `zip3,population`; five-digit codes are summed up to their first three digits."""
    return areas_of(read_text(name, folder=folder), name, attribute=attribute)


def areas_of(text: str, name: str, *, attribute: str) -> dict[str, int]:
    """Read the text of such a file; messages call it by its name."""
    areas: dict[str, int] = {}
    seen: set[str] = set()
    for line, code, people in _lines(text, name, attribute=attribute):
        if len(code) != len(next(iter(seen), code)) or code in seen:
            raise InputError(
                f"{attribute}: line {line} of the hierarchy file {name} would count people twice: the code "
                "occurs before, or the file mixes codes of three and five digits",
                code="hierarchy-file-malformed",
            )
        seen.add(code)
        areas[code[:3]] = areas.get(code[:3], 0) + people
    if not areas:
        raise InputError(f"{attribute}: the hierarchy file {name} is empty", code="hierarchy-file-empty")
    return areas


def _lines(text: str, name: str, *, attribute: str) -> Iterator[tuple[int, str, int]]:
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for position, row in enumerate(filter(None, reader)):
        if len(row) != 2:
            raise InputError(
                f"{attribute}: line {reader.line_num} of the hierarchy file {name} has {len(row)} fields; "
                "expected are two: the ZIP code (or its first three digits) and the population",
                code="hierarchy-file-ragged",
            )
        code, people = (cell.strip() for cell in row)
        if re.fullmatch(r"[0-9]{3}|[0-9]{5}", code) and re.fullmatch(r"[0-9]{1,12}", people):
            yield reader.line_num, code, int(people)
        elif position or any(sign.isdigit() for sign in people):  # else it is the header
            raise InputError(
                f"{attribute}: line {reader.line_num} of the hierarchy file {name} is not a code of three or five "
                "digits (leading zeros included) and a whole number of people",
                code="hierarchy-file-malformed",
            )
