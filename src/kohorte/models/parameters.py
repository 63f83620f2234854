"""Reading the parameters of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kohorte.errors import InputError, nearest


def integer(name: str, value: object, *, least: int) -> int:
    """Return a whole number of at least `least`, or refuse it by name."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}", code="model-parameter")
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
