"""Every error that Kohorte raises on purpose.

    KohorteError
    |- InputError        the caller's table, hierarchy, plan or parameter is wrong (also a ValueError)
    |- NoSolution        the request was valid; no release satisfies it (says what would have to be relaxed)
    |- PrivacyViolation  carrying on would break a promise already made
    |  |- BudgetExceeded the privacy budget does not suffice (says what remains)
    |- AccessDenied      the caller is not known, or may not do or see this
    |- ProtocolError     another party was lost, stopped the run, or sent what the protocol does not allow
    |- EngineError       the file system or an engine failed underneath
    |- InternalError     a bug in this package

Each error carries a stable `code` (docs/errors.md lists them all). A message names columns, options,
counts and row numbers; it never contains a cell value, a key or a token. `field` is the parameter
or the part of a configuration that the message is about, for callers that add where it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeVar

Member = TypeVar("Member", bound="Named")


class KohorteError(Exception):
    """Base of all errors of this package; catch it to catch them all."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, code: str, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.field = field


class InputError(KohorteError, ValueError):
    """The caller's table, hierarchy, plan or parameter is wrong."""

    exit_code = 2


class NoSolution(KohorteError):
    """The request was valid, but no release satisfies it."""

    exit_code = 1


class PrivacyViolation(KohorteError):
    """Carrying on would break a promise already made."""

    exit_code = 1


class BudgetExceeded(PrivacyViolation):
    """The privacy budget does not suffice for the query; nothing was spent.

    `figures` tells programs the `cost` of the query and what is `remaining`.
    """

    figures: Mapping[str, Mapping[str, float]] = MappingProxyType({})


class AccessDenied(KohorteError):
    """The caller is not known, or may not do or see this; not allowed and not there look alike."""

    exit_code = 1


class ProtocolError(KohorteError):
    """Another party was lost, stopped the run, or sent what the protocol does not allow; the run is over."""

    exit_code = 3


class EngineError(KohorteError):
    """The file system or an engine failed underneath."""

    exit_code = 3


class InternalError(KohorteError):
    """A bug in this package; please report it with its code."""

    exit_code = 3


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint such as " (did you mean 'metric'?)", or "" when nothing known is near."""
    import difflib

    close = difflib.get_close_matches(str(word), [str(name) for name in known], n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def refuse_unknown_keys(given: Iterable[object], known: Collection[str], *, where: str, code: str) -> None:
    """Refuse keys that are not known, and suggest the nearest that is."""
    for key in given:
        if key not in known:
            raise InputError(
                f"{where} has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}", code=code
            )


class Named(Protocol):
    """A member of a family, known by its published name."""

    name: ClassVar[str]


def member_named(name: str, family: Iterable[type[Member]], *, what: str, code: str) -> type[Member]:
    """Return the member of a family by its name, or refuse an unknown name and suggest the nearest."""
    known = {member.name: member for member in family}
    if name not in known:
        raise InputError(f"unknown {what} {name!r}{nearest(name, known)}; known are {', '.join(known)}", code=code)
    return known[name]
