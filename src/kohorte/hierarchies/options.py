"""Validation of the options of hierarchy builders; messages name the option, never its value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from kohorte.errors import InputError, nearest
from kohorte.hierarchies.labels import SUPPRESSED

Number: TypeAlias = int | float | str | Decimal
"""A number as a plan writes it; a float means the shortest decimal that denotes it, so 0.1 is 0.1."""


def refuse_unknown(given: Iterable[object], known: Sequence[str], *, where: str) -> None:
    """Refuse unknown options."""
    for option in given:
        if option not in known:
            raise InputError(
                f"{where}: unknown option {str(option)!r}{nearest(str(option), known)}",
                code="hierarchy-option-unknown",
            )


def choice(value: object, allowed: Sequence[str], *, option: str) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(
            f"{option} must be one of {', '.join(allowed)}{nearest(str(value), allowed)}",
            code="hierarchy-option-invalid",
        )
    return value


def character(value: object, *, option: str) -> str:
    """Exactly one visible character or space."""
    if not isinstance(value, str) or len(value) != 1 or not value.isprintable():
        raise InputError(f"{option} must be one character", code="hierarchy-option-invalid")
    return value


def flag(value: object, *, option: str) -> bool:
    """A boolean; the words true and false are accepted too, for plans read as plain text."""
    truths: dict[object, bool] = {True: True, False: False, "true": True, "false": False}
    if isinstance(value, bool | str) and value in truths:
        return truths[value]
    raise InputError(f"{option} must be true or false", code="hierarchy-option-invalid")


def whole_number(value: object, *, option: str, least: int) -> int:
    """A whole number that is at least `least`."""
    number = value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise InputError(f"{option} must be a whole number of at least {least}", code="hierarchy-option-invalid")
    return number


def exact_number(value: object, *, option: str) -> int | Decimal:
    """A finite decimal number, without binary rounding: a whole one as int, any other as Decimal."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InputError(f"{option} must be a number", code="hierarchy-option-invalid")
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > 100 or len(number.as_tuple().digits) > 28:
        raise InputError(f"{option} must be a number of at most 28 digits", code="hierarchy-option-invalid")
    return int(number) if number == number.to_integral_value() else number


def plain_number(number: int | Decimal) -> int | float | str:
    """The number as a plan writes it, such that `exact_number` reads the same number back."""
    if isinstance(number, int):
        return number
    return float(number) if Decimal(repr(float(number))) == number else str(number)


def listed(value: object, *, option: str) -> tuple[object, ...]:
    """The items of a non-empty list."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InputError(f"{option} must be a list with at least one entry", code="hierarchy-option-invalid")
    return tuple(value)


def label_text(value: object, *, option: str) -> str:
    """A value or label that a person wrote: text or a whole number, neither empty nor `*`."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(
            f"{option}: values and labels must be text; write words such as no, dates and decimals in quotes",
            code="hierarchy-option-invalid",
        )
    if str(value) in ("", SUPPRESSED):
        raise InputError(
            f"{option}: a value or label must be neither empty nor *, which marks suppressed cells",
            code="hierarchy-option-invalid",
        )
    return str(value)


def distinct_labels(value: object, *, option: str) -> tuple[str, ...]:
    """A list of different values or labels."""
    labels = tuple(label_text(item, option=option) for item in listed(value, option=option))
    if repeated := len(labels) - len(set(labels)):
        raise InputError(f"{option}: {repeated} entries are duplicates", code="hierarchy-option-invalid")
    return labels
