"""Whether the folders of the parts belong to a backup: the last entries of their logs are noted in it.

A backup does not contain these folders, which have keys, lists and logs of their own. A folder that is older than the
backup, or of another service, lacks the entry that was the last one when the backup was made.
"""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.errors import KohorteError
from kohorte.service.parts import OF_TRUST, Part
from kohorte.service.settings import Settings
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import Head


def noted_heads(settings: Settings) -> dict[str, str]:
    """Return number and code of the last entry of the log of each part that has a folder."""
    found = {}
    for part in OF_TRUST:
        if settings.trust_folder(part).is_dir():
            head = TrustFolder.opened(settings.trust_folder(part)).log.verify().head
            found[str(part)] = f"{head.number}:{head.code}"
    return found


def problems(settings: Settings, noted: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is wrong with the folders of the parts that a backup knows."""
    return tuple(
        f"{settings.trust_folder(Part(name))}: {reason}" for name in noted if (reason := _wrong(settings, noted, name))
    )


def _wrong(settings: Settings, noted: Mapping[str, str], name: str) -> str | None:
    folder = settings.trust_folder(Part(name))
    if not folder.is_dir():
        return "is missing; put the newest copy of the folder there before the service starts"
    number, _, code = noted[name].partition(":")
    try:
        belongs = TrustFolder.opened(folder).log.verify(Head(int(number), code)).whole
    except (KohorteError, ValueError):
        belongs = False
    return (
        None
        if belongs
        else "its log was changed, is older than the backup, or is of another service; put the newest copy there"
    )
