"""Validate the parameters of models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from kohorte.errors import InputError, nearest


def integer(name: str, value: object, *, least: int) -> int:
    """Return a whole number of at least `least`; the error message names the parameter."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}", code="model-parameter")
    return value


def number(
    name: str, value: object, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
) -> float:
    """Return a number above `above` and from `least` to `most`; the error message names the parameter."""
    wanted = [f"above {above:g}"] if above > -math.inf else []
    wanted += [f"at least {least:g}"] if least > -math.inf else []
    wanted += [f"at most {most:g}"] if most < math.inf else []
    if isinstance(value, bool) or not isinstance(value, int | float) or not _fits(value, above, least, most):
        raise InputError(f"{name} must be a number {' and '.join(wanted)}, not {value!r}", code="model-parameter")
    return float(value)


def _fits(value: float, above: float, least: float, most: float) -> bool:
    try:
        return math.isfinite(float(value)) and above < value and least <= value <= most
    except OverflowError:
        return False


def column(name: str, value: object) -> str:
    """Return the name of a column."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be the name of a column", code="model-parameter")
    return value


def refuse_unknown(entry: Mapping[str, object], model: str, known: Iterable[str]) -> None:
    """Refuse parameters that the model does not have."""
    known = ("model", *known)
    for name in entry:
        if name not in known:
            raise InputError(
                f"model {model} has no parameter {name!r}{nearest(name, known)}",
                code="model-parameter-unknown",
            )
