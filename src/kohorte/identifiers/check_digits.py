"""Check digits of numbers that identify people, accounts and vehicles."""

from __future__ import annotations

import re


def luhn(text: str) -> bool:
    """Return whether the last digit is the check digit of a credit card number (Luhn algorithm)."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def iban(text: str) -> bool:
    """Return whether the two check digits of an IBAN are correct (ISO 7064, mod 97)."""
    signs = re.sub(r"[^A-Z0-9]", "", text.upper())
    return int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1


_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True))


def vin(text: str) -> bool:
    """Return whether the ninth character is the check digit of a vehicle identification number."""
    signs = re.sub(r"[^A-Z0-9]", "", text)
    if signs.isdigit():
        return False
    total = sum(w * (int(s) if s.isdigit() else _VIN_VALUES[s]) for w, s in zip(_VIN_WEIGHTS, signs, strict=True))
    return signs[8] == "0123456789X"[total % 11]


def austrian_number(text: str) -> bool:
    """Return whether the fourth digit is the check digit of an Austrian social security number."""
    digits = _digits(text)
    weights = (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)
    return sum(weight * digit for weight, digit in zip(weights, digits, strict=True)) % 11 == digits[3]


def swiss_number(text: str) -> bool:
    """Return whether the last digit is the check digit of a Swiss social security number (EAN-13)."""
    digits = _digits(text)
    return (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def german_tax_number(text: str) -> bool:
    """Return whether the last digit is the check digit of a German tax number (ISO 7064, mod 11,10)."""
    digits = _digits(text)
    product = 10
    for digit in digits[:-1]:
        product = 2 * ((product + digit) % 10 or 10) % 11
    return (11 - product) % 10 == digits[-1]


def german_insured_number(text: str) -> bool:
    """Return whether the last digit is the check digit of a German number of an insured person.

    The letter counts as its two-digit place in the alphabet; every second digit is doubled (Luhn algorithm).
    """
    digits = [int(sign) for sign in f"{ord(text[0]) - ord('A') + 1:02}{text[1:]}"]
    weighted = [(1 + at % 2) * digit for at, digit in enumerate(digits[:-1])]
    return sum(sum(divmod(one, 10)) for one in weighted) % 10 == digits[-1]


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit()]
