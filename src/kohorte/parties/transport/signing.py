"""Signatures with the key of a self-signed certificate: ECDSA on P-256 with SHA-256, as base64."""

from __future__ import annotations

import base64

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kohorte.errors import InternalError


def signed(key: bytes, message: bytes) -> str:
    """Return the signature of a message with a private key in PEM."""
    secret = load_pem_private_key(key, password=None)
    if not isinstance(secret, ec.EllipticCurvePrivateKey):
        raise InternalError("the key of a party is not an elliptic curve key", code="party-key")
    return base64.b64encode(secret.sign(message, ec.ECDSA(SHA256()))).decode("ascii")


def is_signed(certificate: str, message: bytes, signature: str) -> bool:
    """Tell whether the owner of a certificate in PEM signed a message."""
    try:
        key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey):
            return False
        key.verify(base64.b64decode(signature, validate=True), message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
