"""The key pair and the self-signed certificate of a party; others know it by its fingerprint."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

from kohorte.errors import InputError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_pem_private_key,
    )
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError:
    raise InputError(
        "runs with other parties need the library cryptography; install kohorte[parties]", code="party-library-missing"
    ) from None

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
YEARS = 10


def checked_name(name: object) -> str:
    """Return the name of a party: up to 40 letters, digits, hyphens and underscores."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(
            "the name of a party has up to 40 letters, digits, - and _, and starts with a letter or digit",
            code="party-name",
        )
    return name


def create_certificate(name: str) -> tuple[bytes, bytes]:
    """Draw a private key on the curve P-256 and sign a certificate for it; both as PEM.

    The certificate is valid for ten years, and from the day before, because the clocks of the parties differ.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, checked_name(name))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return secret, certificate.public_bytes(Encoding.PEM)


def fingerprint(certificate: bytes) -> str:
    """Return the fingerprint of a certificate in DER, as parties exchange it."""
    return f"sha256:{hashlib.sha256(certificate).hexdigest()}"


def checked_certificate(key: bytes, certificate: bytes, *, name: str) -> bytes:
    """Check that the key, the name and the dates of a certificate fit, both as PEM; return the certificate as DER."""
    try:
        read = x509.load_pem_x509_certificate(certificate)
        secret = load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        raise InputError(
            "the key or the certificate of this party is damaged, or the key needs a password", code="party-key"
        ) from None
    plain = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if secret.public_key().public_bytes(*plain) != read.public_key().public_bytes(*plain):
        raise InputError("the key of this party does not belong to its certificate", code="party-key")
    if [stated.value for stated in read.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] != [name]:
        raise InputError(
            f"party.yaml gives the name {name!r}, but the certificate was made for another name", code="party-name"
        )
    if not read.not_valid_before_utc <= datetime.now(UTC) <= read.not_valid_after_utc:
        raise InputError(
            "the certificate of this party is not valid today; check the clock of this machine, or create a new party "
            "folder and send its fingerprint to the others",
            code="party-certificate-dates",
        )
    return read.public_bytes(Encoding.DER)
