"""Signatures of a joint certificate: made with the keys of the parties' certificates, checked by their fingerprints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kohorte.data import sha256_of
from kohorte.data.files import read_text
from kohorte.errors import InputError
from kohorte.parties.joint import unsigned_of
from kohorte.parties.study import Study
from kohorte.parties.transport.certificates import fingerprint
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.signing import is_signed, signed


@dataclass(frozen=True)
class FolderSigner:
    """Signs with the key in a party's folder; checks others by the fingerprints of the study."""

    folder: PartyFolder
    study: Study

    @property
    def certificate(self) -> str:
        """The certificate in the folder, as PEM text."""
        return self.folder.certificate_file.read_text(encoding="ascii")

    def sign(self, message: bytes) -> str:
        """Return the signature of a message: ECDSA with SHA-256, as base64."""
        return signed(self.folder.key_file.read_bytes(), message)

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        """Tell whether a certificate is that of a member of the study, and its owner signed the message."""
        return not why_not_signed(self.study, name, certificate, message, signature)


def why_not_signed(study: Study, name: str, certificate: str, message: bytes, signature: str) -> str:
    """Say why a member of a study did not sign a message; empty if it did."""
    pinned = study.members[name].certificate
    try:
        found = fingerprint(x509.load_pem_x509_certificate(certificate.encode()).public_bytes(Encoding.DER))
    except ValueError:
        return "its certificate cannot be read"
    if pinned is None or found != pinned:
        return "it was signed with another key than that of the study"
    if not is_signed(certificate, message, signature):
        return "the certificate was changed after it was signed"
    return ""


@dataclass(frozen=True)
class Signature:
    """Whether a member of a study signed a certificate; the reason if not."""

    name: str
    valid: bool
    reason: str = ""

    def to_dict(self) -> dict[str, object]:
        """The finding as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Signatures:
    """The signatures of all members; those of a rehearsal were made with keys that nobody has any more."""

    members: tuple[Signature, ...]
    rehearsal: bool
    table: bool | None = None
    """Whether a table is the one that was signed; None if none was given."""

    @property
    def valid(self) -> bool:
        """Whether every member signed, and what they signed is the table, if one was given."""
        return all(one.valid for one in self.members) and self.table is not False

    def to_dict(self) -> dict[str, object]:
        """The findings as plain data."""
        signatures = [one.to_dict() for one in self.members]
        return {"valid": self.valid, "rehearsal": self.rehearsal, "table": self.table, "signatures": signatures}


def check_signatures(certificate: Path, study: Path, table: Path | None = None) -> Signatures:
    """Check, for each member of a study, whether it signed a certificate with the key that the study names.

    A table is compared with the hash that was signed: every byte counts.
    """
    text = read_text(certificate, what="certificate", code="certificate-unreadable")
    try:
        facts = json.loads(text)
        joint: dict[str, Any] = facts["joint"]
        entries = {str(entry["name"]): entry for entry in joint["signatures"]}
        message, signed_hash = unsigned_of(facts), str(facts["output"]["sha256"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{certificate.name}: this is not the certificate of a joint release", code="certificate-not-joint"
        ) from None
    agreed = Study.from_yaml(study)
    other = joint.get("study_sha256") != agreed.fingerprint()
    found = [_checked(agreed, name, entries.get(name), message, other_study=other) for name in agreed.members]
    strangers = [str(entry["name"]) for entry in joint["signatures"] if str(entry["name"]) not in agreed.members]
    found += [Signature(name, False, "it is not a member of the study") for name in dict.fromkeys(strangers)]
    same = None if table is None else sha256_of(table) == signed_hash
    return Signatures(tuple(found), agreed.rehearsal, same)


def _checked(
    study: Study, name: str, entry: Mapping[str, Any] | None, message: bytes, *, other_study: bool
) -> Signature:
    if other_study:
        return Signature(name, False, "the certificate is about another study, or the study file was changed")
    if entry is None:
        return Signature(name, False, "there is no signature")
    reason = why_not_signed(study, name, str(entry.get("certificate")), message, str(entry.get("signature")))
    return Signature(name, not reason, reason)
