"""Accounts of other services: a certificate instead of a password.

The certificate is pinned twice: the server accepts only those of its file (`--client-certificates`), and the account
names one by its fingerprint. Such an account is no person: it can neither approve nor manage users.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kohorte.data.files import read_text
from kohorte.errors import InputError
from kohorte.service.access import Actor, roles_of
from kohorte.service.accounts.tokens import refused
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.permissions import ROLES_WITH, Permission, Role
from kohorte.service.storage.schema import users

LONGEST = 20_000
FOR_PEOPLE = (Permission.MANAGE_USERS, Permission.APPROVE, Permission.APPROVE_WAY_BACK, Permission.READ_NOTICES)
PEOPLES_ROLES = frozenset(role for permission in FOR_PEOPLE for role in ROLES_WITH[permission])
"""Roles that only people have: two services of one house are not two people."""


def fingerprint_of(certificate: bytes) -> str:
    """Return the SHA-256 fingerprint of a certificate in DER, in hexadecimal."""
    return hashlib.sha256(certificate).hexdigest()


def fingerprint_of_pem(text: str) -> str:
    """Return the fingerprint of one certificate in PEM; anything else is refused."""
    found = _certificates(text)
    if len(found) != 1:
        raise InputError("certificate: is one certificate in PEM", code="user-certificate")
    return fingerprint_of(found[0])


def pinned_in(path: Path) -> frozenset[str]:
    """Return the fingerprints of the certificates in a file; a file without any is refused."""
    found = _certificates(read_text(path, what="file of certificates", code="service-client-certificates"))
    if not found:
        raise InputError(f"{path}: has no certificates in PEM", code="service-client-certificates")
    return frozenset(map(fingerprint_of, found))


def refuse_roles(fingerprint: str | None, roles: Iterable[str]) -> None:
    """Refuse roles of people for an account with a certificate."""
    if fingerprint is not None and PEOPLES_ROLES.intersection(map(Role, roles)):
        raise InputError(
            f"roles: an account with a certificate is no person, and cannot be {', '.join(sorted(PEOPLES_ROLES))}",
            code="user-certificate",
        )


def authenticate_certificate(service: Service, fingerprint: str) -> Actor:
    """Return the account of a certificate that the connection has proved to have."""
    usable = (users.c.disabled_at.is_(None), users.c.deleted_at.is_(None))
    with service.database.reading() as connection:
        row = connection.execute(USERS.where(users.c.certificate_fingerprint == fingerprint, *usable)).one_or_none()
        if row is None:
            raise refused()
        service.guard.checked(connection, USER, row)
    return Actor(row.id, roles_of(row))


def _certificates(text: str) -> list[bytes]:
    try:
        found = x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        return []
    return [one.public_bytes(Encoding.DER) for one in found]
