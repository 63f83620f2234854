"""The 18 classes of identifiers of the HIPAA Privacy Rule, 45 CFR 164.514(b)(2)(i)."""

from __future__ import annotations

from enum import StrEnum

CLASSES = {
    1: "names",
    2: "geographic subdivisions smaller than a state",
    3: "dates and ages over 89",
    4: "telephone numbers",
    5: "fax numbers",
    6: "e-mail addresses",
    7: "social security numbers",
    8: "medical record numbers",
    9: "health plan beneficiary numbers",
    10: "account numbers",
    11: "certificate and license numbers",
    12: "vehicle identifiers and license plates",
    13: "device identifiers and serial numbers",
    14: "web addresses (URLs)",
    15: "IP addresses",
    16: "biometric identifiers",
    17: "face photographs and comparable images",
    18: "other unique identifying numbers, characteristics or codes",
}


class Form(StrEnum):
    """What can be done about an identifier: most have to go, some have a form in which they may stay."""

    DIRECT = "direct"  # it names the person
    PLACE = "place"  # smaller than a state
    ZIP = "zip"  # the first three digits may stay, where enough people live
    DATE = "date"  # the year may stay
    BIRTH = "birth"  # the year may stay, unless it tells an age over 89
    AGE = "age"  # up to 89 it may stay
    UNIQUE = "unique"  # by its contents alone: nearly every row has a value of its own
    FREE_TEXT = "free text"  # may hold anything
