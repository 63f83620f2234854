"""Who is in a draft, in a file beside it: numbers of the disclosure ledger, no identity."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

from kohorte.data import atomic_write
from kohorte.disclosures.candidate import Candidate as Disclosure
from kohorte.disclosures.exits.stored import from_bytes, to_bytes
from kohorte.errors import InputError


def write_disclosure(disclosure: Disclosure, path: Path) -> None:
    """Write what the ledger will remember of a draft."""
    with atomic_write(path, force=True, private=True) as temporary:
        temporary.write_bytes(to_bytes(disclosure))


def read_disclosure(path: Path) -> Disclosure:
    """Read what `write_disclosure` wrote."""
    try:
        return from_bytes(path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, BadZipFile):
        raise InputError(
            f"{path.name}: who is in the draft cannot be read; check the request again", code="exchange-check-changed"
        ) from None
