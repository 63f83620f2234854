"""Identifiers in the cells of a column: patterns, also in the middle of a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from kohorte.identifiers.cells import COLUMN, COUNT, VALUE, CellTable
from kohorte.identifiers.check_digits import (
    austrian_number,
    german_insured_number,
    german_tax_number,
    iban,
    luhn,
    swiss_number,
    vin,
)
from kohorte.identifiers.classes import Form

_YEAR = r"(?:1[89]|20)[0-9]{2}"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_MONTH_NAME = (
    r"(?:jan(?:uary?|uar)?|jänner|feb(?:ruary?|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_IMAGE_FILE = r"(?i)\w\.(?:jpe?g|png|gif|bmp|tiff?|dcm|dicom|heic|webp)(?:$|\W)"
_OLD = r"(?:9[0-9]|1[0-4][0-9])"
_AUSTRIAN = r"\b[1-9][0-9]{3}[ /-]?(?:0[1-9]|[12][0-9]|3[01])(?:0[1-9]|1[0-5])[0-9]{2}\b"
_TWO_DAY, _TWO_MONTH = r"(?:0[1-9]|[12][0-9]|3[01])", r"(?:0[1-9]|1[0-2])"
_WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"


@dataclass(frozen=True)
class Content:
    """One kind of identifier. `vague`: other values can look the same, so nearly all cells must match."""

    number: int
    what: str
    pattern: str
    form: Form = Form.DIRECT
    vague: bool = False
    check: Callable[[str], bool] | None = None

    def hits(self, values: pl.Series) -> pl.Series:
        """Return for each value whether it contains such an identifier."""
        found = values.str.contains(self.pattern)
        if self.check is None or not found.any():
            return found
        checked = {value for value in values.filter(found) if self._passes(value)}
        return pl.Series([value in checked for value in values], dtype=pl.Boolean)

    def _passes(self, value: str) -> bool:
        assert self.check is not None
        return any(self.check(match.group()) for match in re.finditer(self.pattern, value))


CONTENTS = (
    Content(7, "social security numbers", _AUSTRIAN, check=austrian_number),
    Content(7, "social security numbers", r"\b756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}\b", check=swiss_number),
    Content(7, "tax numbers", r"^[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}$", vague=True, check=german_tax_number),
    Content(9, "numbers of insured people", r"\b[A-Z][0-9]{9}\b", check=german_insured_number),
    Content(2, "addresses", r"(?i)[a-zäöüß] ?(?:straße|strasse|str\.|gasse|allee) [0-9]{1,4}", Form.DIRECT),
    Content(2, "places", r"^(?:A-|D-|CH-)?[0-9]{4,5} [A-ZÄÖÜ][a-zäöüß]{2,}", Form.PLACE, vague=True),
    Content(2, "places", r"^-?[0-9]{1,2}\.[0-9]{3,},? *-?[0-9]{1,3}\.[0-9]{3,}$", Form.PLACE, vague=True),
    Content(6, "e-mail addresses", r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}"),
    Content(6, "e-mail addresses", r"(?i)[\w.%+-]+ ?[\[(](?:at|ät)[\])] ?[\w-]+"),
    Content(6, "e-mail addresses", r"(?i)\b[\w.+-]+ at [\w-]+ (?:dot|punkt) [a-z]{2,}\b"),
    Content(14, "web addresses", r"(?i)\b(?:facebook|instagram|linkedin|tiktok|twitter|xing)\.com/\S"),
    Content(14, "web addresses", r"^@[A-Za-z0-9_.]{2,}$", vague=True),
    Content(14, "web addresses", r"(?i)\b(?:https?|ftp)://\S|\bwww\.[a-z0-9-]+\.[a-z]"),
    Content(15, "IP addresses", rf"(?:^|[^0-9.])(?:{_OCTET}\.){{3}}{_OCTET}(?:$|[^0-9.]|\.$|\.\s)"),
    Content(15, "IP addresses", r"(?:^|[^\w:])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?:$|[^\w:])"),
    Content(15, "IP addresses", r"(?:^|[^\w:])(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}(?:$|[^\w:])"),
    Content(
        13, "network addresses of devices (MAC)", r"(?:^|[^\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?:$|[^\w:-])"
    ),
    Content(
        13, "network addresses of devices (MAC)", r"(?i)^(?:(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|[0-9a-f]{12})$", vague=True
    ),
    Content(13, "numbers of devices (IMEI)", r"^[0-9]{15}$", vague=True, check=luhn),
    Content(7, "social security numbers", r"(?:^|[^\w-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?:$|[^\w-])"),
    Content(7, "social security numbers", r"\b[0-9]{2} ?[0-9]{6} ?[A-Z] ?[0-9]{3}\b"),
    Content(4, "telephone numbers", r"(?:^|[^\w+.-])\+[1-9][0-9 /().-]{6,}[0-9]"),
    Content(4, "telephone numbers", r"(?:^|[^\w.-])(?:\([0-9]{3}\) ?|[0-9]{3}[-. ])[0-9]{3}[-.][0-9]{4}(?:$|[^\w-])"),
    Content(4, "telephone numbers", r"(?i)\b(?:tel|fax|handy|mobil)[a-z]*\.?:? ?[+(]{0,2}0[0-9 /().-]{5,}"),
    Content(4, "telephone numbers", r"(?:^|[^\w.,/-])0(?:6[5-9][0-9]|1[5-7][0-9])[ /-][0-9]{3}[0-9 -]{3,}"),
    Content(4, "telephone numbers", r"^0[1-9][0-9]{7,12}$|^\(0[0-9]{1,4}\) ?[0-9][0-9 -]{3,}$", vague=True),
    Content(4, "telephone numbers", r"^0[0-9]{2,4}\.[0-9]{2,}\.[0-9.]{2,}$", vague=True),
    Content(4, "telephone numbers", r"^00[0-9][0-9 /().-]{6,}$|^0[0-9]{2,4}[ /-][0-9][0-9 -]{3,}$", vague=True),
    Content(4, "telephone numbers", r"^(?:\+|00)[0-9][0-9 /().-]{6,}$|^1?[2-9][0-9]{2}[2-9][0-9]{6}$", vague=True),
    Content(10, "account numbers (IBAN)", r"(?i)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}\b", check=iban),
    Content(10, "account numbers (IBAN)", r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$", vague=True),
    Content(
        10,
        "credit card numbers",
        r"(?:^|[^\w.,-])(?:[3-6][0-9]{3}(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})(?:$|[^\w.-]|\.$)",
        check=luhn,
    ),
    Content(12, "vehicle identification numbers", r"\b[A-HJ-NPR-Z0-9]{17}\b", check=vin),
    Content(12, "license plates", r"^[A-ZÄÖÜ]{1,2}[- ][0-9]{1,5} ?[A-Z]{1,3}$", vague=True),
    Content(12, "license plates", r"^[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[- ]?[0-9]{1,4}[EH]?$", vague=True),
    Content(17, "images", r"data:image/|^(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR)"),
    Content(17, "names of image files", _IMAGE_FILE),
    Content(18, "unique codes (UUID)", r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"),
    Content(18, "unique codes (hashes)", r"(?i)\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b"),
    Content(1, "names of people", r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Herrn|Frau|Hr|Fr)\.? (?:Dr\.? )?[A-ZÄÖÜ][a-zäöüß]{2,}"),
    Content(1, "initials", r"^[A-ZÄÖÜ]\. ?[A-ZÄÖÜ]\.$", vague=True),
    Content(1, "names of people", r"^[A-ZÄÖÜ][\w'’-]+, [A-ZÄÖÜ][\w'’-]+(?: [A-ZÄÖÜ]\.?)?$", vague=True),
    Content(7, "numbers of nine digits, as social security numbers are", r"^[0-9]{9}$", vague=True),
    Content(2, "ZIP codes", r"^[0-9]{5}(?:-[0-9]{4})?$|^(?:A|CH|D)[- ][0-9]{4,5}$", Form.ZIP, vague=True),
    Content(3, "ages over 89", rf"(?i)\b(?:aged?|alter):? {_OLD}\b", Form.AGE),
    Content(3, "ages over 89", rf"(?i)\b{_OLD}[ -]?(?:years?|yrs?|y/?o|jahre?|jährige?)\b", Form.AGE),
    Content(3, "dates", rf"(?:^|[^0-9]){_YEAR}[-/.]{_MONTH}[-/.]{_DAY}(?:$|[^0-9])", Form.DATE),
    Content(3, "dates", rf"(?:^|[^0-9]){_DAY}[-/.] ?{_DAY}[-/.] ?{_YEAR}(?:$|[^0-9])", Form.DATE),
    Content(3, "dates", rf"(?i)\b{_MONTH_NAME}[ -](?:{_DAY}(?:st|nd|rd|th)?,? )?{_YEAR}\b", Form.DATE),
    Content(3, "dates", rf"(?i)\b{_DAY}\.?[ -]{_MONTH_NAME}[ -]{_YEAR}\b", Form.DATE),
    Content(
        3,
        "dates",
        rf"^{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[T ]?[0-9]{{4,6}})?$",
        Form.DATE,
        vague=True,
    ),
    Content(3, "dates", rf"^{_DAY}[-/.]{_DAY}[-/.][0-9]{{2}}$", Form.DATE, vague=True),
    Content(3, "dates", rf"(?i)^{_DAY}\. ?{_MONTH}\.$|^{_DAY}\.? ?{_MONTH_NAME}$", Form.DATE, vague=True),
    Content(3, "dates", rf"(?i)^{_DAY}\.? ?{_MONTH_NAME} '?[0-9]{{2}}$", Form.DATE, vague=True),
    Content(
        3,
        "dates",
        rf"^{_YEAR}[ _]{_MONTH}[ _]{_DAY}$|^{_DAY}[ _]{_MONTH}[ _]{_YEAR}$|^{_TWO_DAY}{_TWO_MONTH}{_YEAR}$",
        Form.DATE,
        vague=True,
    ),
    Content(
        3, "dates", rf"^{_TWO_DAY}{_TWO_MONTH}[0-9]{{2}}$|^[0-9]{{2}}{_TWO_MONTH}{_TWO_DAY}$", Form.DATE, vague=True
    ),
    Content(3, "days of the week", rf"(?i)^{_WEEKDAY}$", Form.DATE, vague=True),
    Content(
        3, "months", rf"(?i)^{_MONTH_NAME}$|^{_YEAR}{_TWO_MONTH}$|^{_TWO_MONTH}/[0-9]{{2}}$", Form.DATE, vague=True
    ),
    Content(3, "dates as seconds", r"^1[0-9]{9}(?:[0-9]{3})?$", Form.DATE, vague=True),
    Content(3, "months", rf"^{_YEAR}[-/.](?:0?[1-9]|1[0-2])$|^(?:0?[1-9]|1[0-2])[-/.]{_YEAR}$", Form.DATE, vague=True),
    Content(
        3,
        "quarters or weeks",
        rf"(?i)^{_YEAR}[- /]?(?:q|w|kw) ?[0-9]{{1,2}}$|^(?:q|w|kw) ?[0-9]{{1,2}}[- /]+{_YEAR}$",
        Form.DATE,
        vague=True,
    ),
)
ANY = "|".join(f"(?:{content.pattern})" for content in CONTENTS)
"""One pattern for all: most cells of most tables contain none of them, which one look at them shows."""

KINDS = tuple(
    (next(content for content in CONTENTS if content.what == what), vague)
    for what in dict.fromkeys(content.what for content in CONTENTS)
    for vague in (False, True)
    if any(content.what == what and content.vague is vague for content in CONTENTS)
)
"""What can be found, the unmistakable patterns before the vague ones."""


def content_rows(cells: CellTable) -> pl.DataFrame:
    """The number of rows of each column that contain each of `KINDS`; columns that contain none are left out."""
    likely = cells.table.filter(pl.col(VALUE).str.contains(ANY))
    if likely.is_empty():
        return likely.select(COLUMN)
    values = likely[VALUE].unique()
    hits = [_hits(values, content.what, vague=vague).alias(f"{at}") for at, (content, vague) in enumerate(KINDS)]
    joined = likely.join(pl.DataFrame([values, *hits]), on=VALUE, how="left", maintain_order="left")
    rows = [pl.col(COUNT).filter(pl.col(hit.name)).sum() for hit in hits]
    named = [one.alias(hit.name) for one, hit in zip(rows, hits, strict=True)]
    return joined.group_by(COLUMN, maintain_order=True).agg(named)


def _hits(values: pl.Series, what: str, *, vague: bool) -> pl.Series:
    """Which values contain identifiers of a kind."""
    members = [content for content in CONTENTS if content.what == what and content.vague is vague]
    return pl.DataFrame([one.hits(values).alias(f"{at}") for at, one in enumerate(members)]).max_horizontal()


YEARS_ONLY = rf"(?i)^[\[(<>=≥≤ ]*{_YEAR}(?: ?[-–,] ?{_YEAR})?[\])]?(?: or (?:earlier|later|before|after))?$"
"""Cells of a column of dates that show years only."""
HAS_MONTH_NAME = rf"(?i)\b{_MONTH_NAME}(?:$|\W)"
OLDEST_AGES = r"(?i)^(?:(?:>=|≥) ?90|90 ?(?:\+|(?:or|and) (?:older|over|above|more)|(?:und|oder) (?:älter|mehr)))$"
"""The one category that may be used for ages over 89."""
