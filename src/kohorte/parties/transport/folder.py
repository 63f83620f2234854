"""The folder of a party: its private key, its certificate and its settings, and nothing of the others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import atomic_write, read_text
from kohorte.errors import EngineError, InputError, refuse_unknown_keys
from kohorte.parties.transport.certificates import checked_certificate, checked_name, create_certificate, fingerprint

KEY_FILE = "key.pem"
CERTIFICATE_FILE = "certificate.pem"
SETTINGS_FILE = "party.yaml"
KEYS = ("name", "data", "studies", "listen", "ledger", "person")


@dataclass(frozen=True)
class PartyFolder:
    """A party's own folder, with key and certificate checked.

    `data` is the party's table (None for a helper), `studies` are the study files that it agreed to, `listen` is the
    address at which it waits for the others if this is not the one of the study file. `ledger` is the folder of the
    disclosure ledger of this party, and `person` the column of its table that says whom a row is about.
    """

    path: Path
    name: str
    fingerprint: str
    data: Path | None = None
    studies: tuple[Path, ...] = ()
    listen: str | None = None
    ledger: Path | None = None
    person: str | None = None

    @property
    def key_file(self) -> Path:
        """The private key, which only its owner can read."""
        return self.path / KEY_FILE

    @property
    def certificate_file(self) -> Path:
        """The certificate; its fingerprint is sent to the others."""
        return self.path / CERTIFICATE_FILE

    @classmethod
    def create(cls, path: str | Path, name: str) -> Self:
        """Create a party: draw a key pair, sign a certificate, write the settings; existing files are kept."""
        path = Path(path)
        checked_name(name)
        for file in (KEY_FILE, CERTIFICATE_FILE, SETTINGS_FILE):
            if os.path.lexists(path / file):
                raise InputError(
                    f"{path}: there is a {file} already; a new key would lock this party out of its studies",
                    code="party-folder-exists",
                )
        _make_folder(path)
        key, certificate = create_certificate(name)
        settings = strict_yaml.dump({"name": name, "data": None, "studies": []}).encode()
        _write_all(path, {KEY_FILE: key, CERTIFICATE_FILE: certificate, SETTINGS_FILE: settings})
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a party's folder and check that all of it fits together."""
        path = Path(path)
        settings = _settings(path)
        name = checked_name(settings.get("name"))
        key_file = path / KEY_FILE
        key, certificate = _read(key_file), _read(path / CERTIFICATE_FILE)
        if os.name == "posix" and key_file.stat().st_mode & 0o077:
            raise InputError(f"{key_file}: others on this machine can read the key; chmod 600 it", code="party-key")
        checked = checked_certificate(key, certificate, name=name)
        return cls(
            path=path,
            name=name,
            fingerprint=fingerprint(checked),
            data=None if settings.get("data") is None else path / _text(settings, "data"),
            studies=tuple(path / study for study in _studies(settings)),
            listen=None if settings.get("listen") is None else _text(settings, "listen"),
            ledger=None if settings.get("ledger") is None else path / _text(settings, "ledger"),
            person=_person(settings),
        )


def _person(settings: Mapping[str, Any]) -> str | None:
    if settings.get("ledger") is not None and settings.get("person") is None:
        raise InputError(
            f"{SETTINGS_FILE}: ledger needs person: the column of the table that says whom a row is about",
            code="party-settings",
        )
    return None if settings.get("person") is None else _text(settings, "person")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise EngineError(f"{path}: the folder cannot be created", code="party-folder") from None


def _write_all(path: Path, files: Mapping[str, bytes]) -> None:
    """Write all files or none."""
    written: list[Path] = []
    try:
        for name, content in files.items():
            with atomic_write(path / name, force=False, private=name == KEY_FILE) as temporary:
                temporary.write_bytes(content)
            written.append(path / name)
    except BaseException:
        for file in written:
            with contextlib.suppress(OSError):
                file.unlink()
        raise


def _settings(path: Path) -> Mapping[str, Any]:
    if not path.is_dir():
        raise InputError(
            f"{path}: there is no such folder; 'kohorte party init NAME --folder {path}' makes one", code="party-folder"
        )
    file = path / SETTINGS_FILE
    text = read_text(file, what="file with the settings of the party", code="party-folder")
    data = strict_yaml.load(text, source=SETTINGS_FILE, code="party-settings")
    if not isinstance(data, Mapping):
        raise InputError(f"{file}: is a mapping with the keys {', '.join(KEYS)}", code="party-settings")
    refuse_unknown_keys(data, KEYS, where=SETTINGS_FILE, code="party-settings")
    return data


def _read(file: Path) -> bytes:
    return read_text(file, what=file.name, code="party-folder").encode()


def _text(settings: Mapping[str, Any], key: str) -> str:
    value = settings[key]
    if not isinstance(value, str) or not value:
        raise InputError(f"{SETTINGS_FILE}: {key} is a text", code="party-settings")
    return value


def _studies(settings: Mapping[str, Any]) -> list[str]:
    studies = settings.get("studies") or []
    if not isinstance(studies, list) or not all(isinstance(study, str) and study for study in studies):
        raise InputError(f"{SETTINGS_FILE}: studies is a list of study files", code="party-settings")
    return studies
