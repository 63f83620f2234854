"""PIDs: patient identifiers of eight characters that say nothing, with two check characters.

Six characters carry a number of 30 bits, two check it over the field with 32 elements. Up to two wrong characters and
every swap of neighbours are noticed; one wrong character or one swap can be located. The 32 characters leave out B, I,
O and S, which are mistaken for 8, 1, 0 and 5.

Source
    Faldum, Pommerening: An optimal code for patient identifiers, Computer Methods and Programs in Biomedicine 79(1),
    2005, pages 81-88.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from kohorte.errors import InputError

ALPHABET = "0123456789ACDEFGHJKLMNPQRTUVWXYZ"
LENGTH = 8
NUMBERS = 1 << 30
CARRIERS = 6
_VALUES = {character: value for value, character in enumerate(ALPHABET)}
_REDUCTION = 0b100101
"""t^5 = t^2 + 1, for the primitive element t = 2 of the field."""


def _powers() -> list[int]:
    found = [1]
    for _ in range(30):
        double = found[-1] << 1
        found.append(double ^ _REDUCTION if double & 32 else double)
    return found


_POWER = _powers()
_EXPONENT = {power: exponent for exponent, power in enumerate(_POWER)}


def _times(value: int, exponent: int) -> int:
    """The value times t to the exponent."""
    return _POWER[(_EXPONENT[value] + exponent) % 31] if value else 0


def pid_of(number: int) -> str:
    """Return the PID that carries a number of 30 bits."""
    if not 0 <= number < NUMBERS:
        raise InputError(f"a PID carries a number from 0 to {NUMBERS - 1}", code="trust-pid-number")
    values = [number >> 5 * (CARRIERS - 1 - place) & 31 for place in range(CARRIERS)]
    return "".join(ALPHABET[value] for value in (*values, *_checks(values)))


def random_pid() -> str:
    """Draw a PID; the caller refuses one that is taken."""
    return pid_of(secrets.randbelow(NUMBERS))


def number_of(pid: str, *, before: int = 0) -> int:
    """Return the number of a PID; a text that is none is refused, and the error says where it seems wrong.

    Places count from 1, with so many characters before the PID, such as those of a prefix.
    """
    values = _read(pid)
    if _syndrome(values) != (0, 0):
        raise InputError(f"the check characters do not fit: {_suspicion(values, before)}", code="trust-pid-wrong")
    number = 0
    for value in values[:CARRIERS]:
        number = number << 5 | value
    return number


def refuse_wrong(pids: Iterable[str]) -> None:
    """Refuse texts that are no PIDs; the error says which one, counted from 1, and where."""
    for place, pid in enumerate(pids, start=1):
        try:
            number_of(pid)
        except InputError as error:
            raise InputError(f"PID {place}: {error.message}", code=error.code) from None


def is_pid(text: str) -> bool:
    """Whether a text is a PID, in capital letters and without blanks around it."""
    if len(text) != LENGTH or not all(character in _VALUES for character in text):
        return False
    return _syndrome([_VALUES[character] for character in text]) == (0, 0)


def _read(pid: str) -> list[int]:
    text = pid.strip().upper()
    if len(text) != LENGTH:
        raise InputError(f"a PID has {LENGTH} characters, this text has {len(text)}", code="trust-pid-wrong")
    for place, character in enumerate(text, start=1):
        if character not in _VALUES:
            raise InputError(
                f"character {place} is not one of a PID, which has the digits and the letters without B, I, O and S",
                code="trust-pid-wrong",
            )
    return [_VALUES[character] for character in text]


def _checks(values: list[int]) -> tuple[int, int]:
    first = second = 0
    for place, value in enumerate(values, start=1):
        first ^= _times(value, place)
        second ^= _times(value, 2 * place)
    return first, second


def _syndrome(values: list[int]) -> tuple[int, int]:
    """What is left of both checks; zero and zero for a PID."""
    first, second = _checks(values[:CARRIERS])
    return first ^ values[CARRIERS], second ^ values[CARRIERS + 1]


def _suspicion(values: list[int], before: int) -> str:
    """Where one wrong character or one swap would explain the syndrome.

    The ratio of both parts is t^place for a wrong character. No swap has such a ratio, and no two swaps have the same:
    t^(place + 18) within the carriers, t^16 between them and the check characters, 1 for the check characters.
    """
    first, second = _syndrome(values)
    if not first or not second:
        return f"character {before + (8 if not first else 7)} seems to be wrong"
    ratio = (_EXPONENT[second] - _EXPONENT[first]) % 31
    if 1 <= ratio <= CARRIERS:
        return f"character {before + ratio} seems to be wrong"
    for place in range(1, LENGTH):
        if _syndrome([*values[: place - 1], values[place], values[place - 1], *values[place + 1 :]]) == (0, 0):
            return f"characters {before + place} and {before + place + 1} seem to be swapped"
    return "two or more characters seem to be wrong"
