"""Codes of known systems, by the way they are formed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_ICD10 = re.compile(r"[A-Z][0-9]{2}(?:[0-9]|\.[0-9-]{1,2})?[*+!]?(?:-[A-Z][0-9]{2})?")
_ATC = re.compile(r"[ABCDGHJLMNPRSV](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?")
_OPS = re.compile(r"[135689]-[0-9]{2}[0-9a-z](?:\.[0-9a-z]{1,2})?")
_LOINC = re.compile(r"([0-9]{1,5})-([0-9])")
_DRG = re.compile(r"[A-Z0-9][0-9]{2}[A-Z]")
_TNM = re.compile(r"(?:[cp]?[TNM](?:[0-4][abc]?|X|is) ?){1,3}")
_STATES = """
    AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA
    RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI AA AE AP
"""
_COUNTRIES = """
    AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CL CM CN CO CR
    CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FR GA GB GD GE GH GM GN GQ GR GT GW GY HK HN HR HT HU ID IE IL
    IN IQ IR IS IT JM JO JP KE KG KH KM KP KR KW KZ LA LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV
    MW MX MY MZ NA NE NG NI NL NO NP NZ OM PA PE PG PH PK PL PS PT PY QA RO RS RU RW SA SC SD SE SG SI SK SL SM SN SO SR
    SS ST SV SY TD TG TH TJ TL TM TN TO TR TT TW TZ UA UG US UY UZ VA VE VN XK YE ZA ZM ZW
"""
US_STATES = frozenset(_STATES.split())
COUNTRIES = frozenset(_COUNTRIES.split())


def _loinc(text: str) -> bool:
    """Whether a code of LOINC has the right check digit (Luhn algorithm)."""
    found = _LOINC.fullmatch(text)
    if found is None:
        return False
    doubled = [2 * int(sign) for sign in found[1][::-2]]
    total = sum(sum(divmod(one, 10)) for one in doubled) + sum(int(sign) for sign in found[1][-2::-2])
    return (10 - total % 10) % 10 == int(found[2])


def _matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


SYSTEMS: Mapping[str, Callable[[str], bool]] = {
    "icd-10": _matching(_ICD10),
    "atc": _matching(_ATC),
    "ops": _matching(_OPS),
    "loinc": _loinc,
    "drg": _matching(_DRG),
    "tnm": _matching(_TNM),
    "us-state": US_STATES.__contains__,
    "country-code": COUNTRIES.__contains__,
}
"""Whether a text is formed like a code, for each system; whether the code exists is not looked up."""
