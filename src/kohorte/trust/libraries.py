"""The libraries of the extra `pseudonyms`; imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from kohorte.errors import InputError

LIBRARIES = ("cryptography", "nacl", "psycopg", "sqlalchemy")


def refuse_missing_libraries() -> None:
    """Refuse to continue if the extra is not installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise InputError(
            f"pseudonyms and the patient list need {', '.join(missing)}; install kohorte[pseudonyms]",
            code="trust-library-missing",
        )
