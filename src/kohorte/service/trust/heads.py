"""How far the logs of the parts were: a folder that is older than the service knows is not used.

A folder that was put back as a whole agrees with itself: what was shown once would be shown again, and people who were
forgotten would be back. Therefore a marked row of the database has the last entry of the log of each part, and so has a
backup. A folder that is older, or of another service, lacks that entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import insert, select, update

from kohorte.errors import EngineError, KohorteError
from kohorte.service.context import Service
from kohorte.service.integrity.marks import PART_HEAD
from kohorte.service.parts import OF_TRUST, Part
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import part_heads
from kohorte.trust.folder import TrustFolder
from kohorte.trust.records.heads import Head


def known(service: Service, part: Part) -> Head:
    """The last entry of the log of a part that the service has seen."""
    key = _key(part)
    with service.database.reading() as connection:
        row = connection.execute(PART_HEAD.one, PART_HEAD.keyed((key,))).one_or_none()
        if row is None:
            service.guard.refuse_known(connection, PART_HEAD, key)
            return Head()
        service.guard.checked(connection, PART_HEAD, row)
        return Head(row.number, row.code)


def refuse_older(service: Service, part: Part, folder: TrustFolder) -> Head:
    """Refuse a folder whose log lacks what the service has seen; returns how far the service knew it."""
    head = known(service, part)
    if not folder.log.checked().has(head):
        raise EngineError(
            f"{folder.path}: is older than the service knows, or another folder: what was shown once could be shown "
            "again; put the newest copy back, or see 'kohorte service confirm-parts'",
            code="trust-folder-older",
        )
    return head


def remember(service: Service, part: Part, head: Head, *, lower: bool = False) -> None:
    """Note how far the log of a part is; never less than before, unless an operator has confirmed it (`lower`)."""
    key, values = _key(part), {"number": head.number, "code": head.code}
    with service.database.writing() as connection:
        seen = select(part_heads.c.number).where(part_heads.c.id == key).with_for_update()
        number = connection.execute(seen).scalar()
        if number is None:
            connection.execute(insert(part_heads).values(id=key, **values))
            service.guard.mark(connection, PART_HEAD, key)
        elif number < head.number or lower:
            with service.guard.changing(connection, PART_HEAD, key):
                connection.execute(update(part_heads).where(part_heads.c.id == key).values(**values))


def older_parts(service: Service) -> dict[Part, str]:
    """Return for each part that is served and not as the service knows it what is wrong with its folder."""
    found = {}
    for part in OF_TRUST:
        if part in service.settings.parts and (known(service, part).number or _folder(service, part).is_dir()):
            try:
                refuse_older(service, part, TrustFolder.opened(_folder(service, part)))
            except KohorteError as error:
                found[part] = error.message
    return found


def _folder(service: Service, part: Part) -> Path:
    return service.settings.trust_folder(part)


def _key(part: Part) -> int:
    return OF_TRUST.index(part) + 1


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
        return (
            "is missing; put its key files and the newest copies of its log.jsonl and log.head there, and run 'kohorte "
            f"folder restore' with parts/{name} of the backup"
        )
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
