"""The folder of keys and lists: what `--folder` names.

folder.key      the key of the folder itself: the log is chained with it
NAME.key        one key per domain, and one of the patient list
log.jsonl       what was done, chained
log.head        how far the log was
ROOM.db         the database of a room, unless it is in PostgreSQL
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from kohorte.data.files import remove_left_over
from kohorte.errors import InputError
from kohorte.trust.keys import KeyFile
from kohorte.trust.log import Log
from kohorte.trust.private_files import locked, refuse_open_to_others
from kohorte.trust.sealing import Sealer
from kohorte.trust.store import Room, Store

ENVIRONMENT = "KOHORTE_FOLDER"
OWN_KEY = "folder.key"
LOG = "log.jsonl"


@dataclass(frozen=True)
class TrustFolder:
    """A folder that only its owner can enter."""

    path: Path

    @classmethod
    def opened(cls, given: str | Path | None, *, create: bool = False, unchecked: bool = False) -> Self:
        """Open the given folder, or the one in the environment; with `create` a missing one is made.

        Its log is verified, except with `unchecked`, for those who examine or repair a folder.
        """
        name = given if given is not None else os.environ.get(ENVIRONMENT) or None
        if name is None:
            raise InputError(
                f"which folder has the keys and lists? Give --folder, or set {ENVIRONMENT}", code="trust-folder-missing"
            )
        folder = cls(Path(name))
        if create:
            folder._make()
        folder._check()
        if not unchecked:
            folder.log.checked()
        return folder

    @cached_property
    def log(self) -> Log:
        """The log of the folder."""
        return Log(self.path / LOG, self._own_key.read().current)

    def sealer(self, table: str) -> Sealer:
        """Seals what is kept in files of the folder, under the folder's own key."""
        return Sealer(self._own_key.read().current, table)

    def key_file(self, name: str, *, owner: str, lost: str) -> KeyFile:
        """The key file of something in the folder; `owner` and `lost` are for messages."""
        return KeyFile(self.path / f"{name}.key", owner, lost)

    def store(self, room: Room) -> Store:
        """Open the database of a room; its tables are made at the first use."""
        return Store(self.path, room)

    @property
    def _own_key(self) -> KeyFile:
        return KeyFile(
            self.path / OWN_KEY,
            "the folder",
            "its log cannot be verified or continued, its lists cannot be opened, and nobody can be known again",
        )

    def _make(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            raise InputError(f"{self.path}: the folder cannot be made", code="trust-folder-missing") from None
        with locked(self.path):
            if not self._own_key.exists and self._is_empty():
                self.path.chmod(0o700)
                self._own_key.create()

    def _is_empty(self) -> bool:
        """Whether nothing is in the folder but what a process left that was killed."""
        return all(path.name.endswith(".tmp") for path in self.path.iterdir())

    def _check(self) -> None:
        if not self.path.is_dir():
            raise InputError(
                f"{self.path}: there is no such folder; 'kohorte domain create', 'kohorte patients register', 'kohorte "
                "disclosures init' and 'kohorte exchange request' make one",
                code="trust-folder-missing",
            )
        refuse_open_to_others(self.path, what="folder", mode="700")
        remove_left_over(self.path)
        if not self._own_key.exists and (self.path / LOG).exists():
            self._own_key.read()  # says what is lost
        if not self._own_key.exists:
            raise InputError(
                f"{self.path}: is not a folder of keys and lists ({OWN_KEY} is missing); choose an empty or new "
                "folder, or restore the key from a copy",
                code="trust-folder-strange",
            )
