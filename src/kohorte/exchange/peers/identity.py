"""Who this house is for others: its name, its key and its certificate, in the folder of the house.

identity/house.yaml       the name of the institution
identity/key.pem          the private key, for connections and signatures
identity/certificate.pem  the certificate; others pin it by its fingerprint
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kohorte.data import strict_yaml
from kohorte.data.files import atomic_write, read_text
from kohorte.errors import InputError
from kohorte.exchange.request.names import checked_institution
from kohorte.parties.transport.certificates import checked_certificate, create_certificate, fingerprint
from kohorte.parties.transport.signing import signed
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import account
from kohorte.trust.private_files import locked, refuse_open_to_others

FOLDER, SETTINGS, KEY, CERTIFICATE = "identity", "house.yaml", "key.pem", "certificate.pem"
SUBJECT = "kohorte-exchange"
"""The name in the certificate; who it belongs to is said by the address books that pin it."""


@dataclass(frozen=True)
class Identity:
    """The name of a house, and the fingerprint of its certificate."""

    path: Path
    name: str
    fingerprint: str

    @property
    def key_file(self) -> Path:
        """The private key."""
        return self.path / KEY

    @property
    def certificate_file(self) -> Path:
        """The certificate, which others get."""
        return self.path / CERTIFICATE

    @property
    def certificate(self) -> str:
        """The certificate as PEM text."""
        return read_text(self.certificate_file, what="certificate", code="exchange-identity")

    def sign(self, message: bytes) -> str:
        """Sign a message for other houses."""
        return signed(self.key_file.read_bytes(), message)

    def to_dict(self) -> dict[str, str]:
        """What others need to know."""
        return {"institution": self.name, "fingerprint": self.fingerprint, "certificate": self.certificate}

    @classmethod
    def create(cls, folder: TrustFolder, name: str, *, actor: str | None = None) -> Self:
        """Draw a key and sign a certificate for it; a house has one identity, which is never replaced."""
        name, path = checked_institution(name), folder.path / FOLDER
        with locked(folder.path):
            if (path / SETTINGS).exists():
                raise InputError(
                    "this house has a name and a certificate already; with a new one, nobody would know it",
                    code="exchange-identity",
                )
            path.mkdir(mode=0o700, exist_ok=True)
            key, certificate = create_certificate(SUBJECT)
            settings = strict_yaml.dump({"institution": name}).encode()
            for file, content in ((KEY, key), (CERTIFICATE, certificate), (SETTINGS, settings)):
                with atomic_write(path / file, force=True, private=True) as temporary:
                    temporary.write_bytes(content)
        made = cls.of(folder)
        folder.log.append("create identity", made.fingerprint, actor=actor or account())
        return made

    @classmethod
    def of(cls, folder: TrustFolder) -> Self:
        """The identity of a folder; a house that has none is told how to get one."""
        path = folder.path / FOLDER
        if not (path / SETTINGS).exists():
            raise InputError(
                "this house has no certificate yet; 'kohorte exchange peers own --name INSTITUTION' makes one",
                code="exchange-identity",
            )
        settings = strict_yaml.load(
            read_text(path / SETTINGS, what="name of the house", code="exchange-identity"),
            source=SETTINGS,
            code="exchange-identity",
        )
        name = checked_institution(settings.get("institution") if isinstance(settings, Mapping) else None)
        refuse_open_to_others(path / KEY, what="key", mode="600")
        key = read_text(path / KEY, what="key", code="exchange-identity").encode()
        certificate = read_text(path / CERTIFICATE, what="certificate", code="exchange-identity").encode()
        return cls(path, name, fingerprint(checked_certificate(key, certificate, name=SUBJECT)))
