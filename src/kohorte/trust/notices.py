"""Notices for data protection officers, as files that a mail system takes: KOHORTE_NOTICES names their folder.

A notice says when something happened and of which kind, and nothing else: no person, no purpose, no pseudonym. What it
was is told by `kohorte reidentify notices`.
"""

from __future__ import annotations

import os
from pathlib import Path

from kohorte.data.files import atomic_write
from kohorte.errors import InputError

ENVIRONMENT = "KOHORTE_NOTICES"
CONFIRMED = "confirm folder"
ASKED, APPROVED, DECLINED, SHOWN = "ask way back", "approve way back", "decline way back", "show way back"
REFUSED, REFUSED_OPERATION, REFUSED_TEMP_IDS = "refuse way back", "refuse operation", "refuse temp ids"
TOLD = (
    *(ASKED, APPROVED, DECLINED, SHOWN, REFUSED, REFUSED_OPERATION, REFUSED_TEMP_IDS),
    *("refuse export", "encode", "add person", "remove person", "wrong password", CONFIRMED),
)
"""What data protection officers are told."""


def notice_folder(action: str) -> Path | None:
    """Where the notice of an action goes, if it is told and a folder is configured; a folder that is none is refused.

    It is asked for before the action counts, so that nothing happens without its notice.
    """
    name = os.environ.get(ENVIRONMENT)
    if not name or action not in TOLD:
        return None
    folder = Path(name)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"{ENVIRONMENT}: names no folder into which notices can be written; nothing was done", code="trust-notices"
        )
    return folder


def write_notice(folder: Path, action: str, at: str, code: str) -> None:
    """Write one notice; the code of its entry in the log makes its name."""
    text = f"{at[:19]} UTC: {action}. 'kohorte reidentify notices' tells more.\n"
    with atomic_write(folder / f"{at[:19].replace(':', '')}-{code[:16]}.txt", force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
