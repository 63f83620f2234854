"""The libraries of the extra `patients`; imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from kohorte.errors import InputError

LIBRARIES = ("anyascii", "cryptography", "nacl", "psycopg", "rapidfuzz", "sqlalchemy")


def refuse_missing_libraries() -> None:
    """Refuse to continue if the extra is not installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the patient list needs {', '.join(missing)}; install kohorte[patients]", code="patients-library-missing"
        )
