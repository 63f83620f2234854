"""Texts that wait in the folder of a part until a second person has confirmed what shall be done with them.

A request for approval is stored in the database of the service, which gets neither PIDs nor pseudonyms. The request
holds a keyed fingerprint, and the text waits in a sealed file.
"""

from __future__ import annotations

import time
from pathlib import Path

from kohorte.data import atomic_write
from kohorte.errors import InputError
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.trust.folders import opened
from kohorte.trust.folder import TrustFolder
from kohorte.trust.private_files import locked

FOLDER = "forgetting"
HOUR = 3600.0


def keep(service: Service, part: Part, text: str) -> str:
    """Keep a text sealed, and return the fingerprint that stands for it."""
    with opened(service, part) as folder:
        fingerprint = folder.log.fingerprint(text)
        sealed = folder.sealer(FOLDER).seal(text.encode(), row=fingerprint.encode())
        path = _file(folder, fingerprint)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with locked(path.parent):
            _remove_old(path.parent, service.settings.approval_hours)
            with atomic_write(path, force=True, private=True) as temporary:
                temporary.write_bytes(sealed)
    return fingerprint


def kept(service: Service, part: Part, fingerprint: str) -> str:
    """Return the text that a fingerprint stands for."""
    with opened(service, part) as folder:
        try:
            sealed = _file(folder, fingerprint).read_bytes()
        except OSError:
            raise InputError(
                "the request to forget has expired, or was carried out; ask again", code="approval-conflict"
            ) from None
        return folder.sealer(FOLDER).unseal(sealed, row=fingerprint.encode()).decode()


def remove(service: Service, part: Part, fingerprint: str) -> None:
    """Remove a text when it was used."""
    with opened(service, part) as folder:
        _file(folder, fingerprint).unlink(missing_ok=True)


def _file(folder: TrustFolder, fingerprint: str) -> Path:
    return folder.path / FOLDER / f"{fingerprint}.sealed"


def _remove_old(folder: Path, hours: float) -> None:
    """Remove what waits for longer than a request can."""
    for path in folder.glob("*.sealed"):
        if time.time() - path.stat().st_mtime > (hours + 1) * HOUR:
            path.unlink(missing_ok=True)
