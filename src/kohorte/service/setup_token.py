"""The file with the set-up token: only its owner can read it, and it is removed once the token was used.

The token is never printed: what a service prints usually ends in a journal that many people can read.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from kohorte.errors import EngineError
from kohorte.service.keyring import flush_folder
from kohorte.service.settings import Settings

FILE = "setup-token"


def write(settings: Settings, token: str) -> Path:
    """Write the token into its file, in place of an older one, and return the path."""
    path = settings.folder / FILE
    temporary = path.with_name(f".{FILE}.{secrets.token_hex(8)}.tmp")
    try:
        try:
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                file.write(f"{token}\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            flush_folder(settings.folder)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        raise EngineError(f"{path}: the set-up token could not be written", code="service-file") from None
    return path


def remove(settings: Settings) -> None:
    """Remove the file; without a token in the database it is of no use to anybody."""
    with suppress(OSError):
        (settings.folder / FILE).unlink(missing_ok=True)
