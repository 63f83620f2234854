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
    """How Safe Harbor treats an identifier: most must be removed, some may be kept in a coarser form."""

    DIRECT = "direct"  # it names the person
    PLACE = "place"  # smaller than a state
    ZIP = "zip"  # the first three digits may be kept if enough people live there
    DATE = "date"  # the year may be kept
    BIRTH = "birth"  # the year may be kept, unless it reveals an age over 89
    AGE = "age"  # may be kept up to 89
    UNIQUE = "unique"  # by its contents alone: nearly every row has its own value
    FREE_TEXT = "free text"  # may contain anything
