"""A parcel: what one institution sends to another, signed, followed by its files.

The first line is JSON: the parcel and its signature. The files follow one after the other, as many bytes as the parcel
says. Kinds are `request` and `answer`; an answer has the number of the request that it answers.

Guarantee
    Who sent a parcel, to whom, and every byte of it are signed with the key of the sender's certificate: nobody can
    change it, pass it on to another institution, or send one in another's name.
Leaves open
    When a parcel arrives; a sender can send the same parcel again, which the recipient recognises by its number.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from kohorte.data import sha256_of
from kohorte.errors import AccessDenied, InputError
from kohorte.exchange.peers.address_book import Peer
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.request.names import same_name
from kohorte.parties.transport.signing import is_signed

FORMAT = 1
LONGEST_HEADER = 256 << 10
LARGEST_FILE = 1 << 50
PIECE = 1 << 16
NUMBER = re.compile(r"[0-9a-f]{32}")
SHA256 = re.compile(r"[0-9a-f]{64}")
PURPOSE = b"kohorte exchange parcel\n"
KEYS = frozenset({"kohorte", "kind", "number", "sender", "institution", "recipient", "at", "content", "files"})
TEXTS = ("number", "sender", "institution", "recipient", "at")
FILES = ("answer.json", "table.certificate.json", "table.certificate.txt", "table.csv")
"""The files that an answer may have."""


class Kind(StrEnum):
    """What a parcel is."""

    REQUEST = "request"
    ANSWER = "answer"


@dataclass(frozen=True)
class SentFile:
    """A file of a parcel."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Parcel:
    """What is signed: from whom to whom, what it is, and its files; sender and recipient are fingerprints."""

    kind: Kind
    number: str
    sender: str
    institution: str
    recipient: str
    at: str
    content: Mapping[str, Any]
    files: tuple[SentFile, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def message(self) -> bytes:
        """The bytes that are signed."""
        return PURPOSE + json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":")).encode()

    @property
    def sha256(self) -> str:
        """Stands for the parcel."""
        return hashlib.sha256(self.message).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The parcel as plain data."""
        return {
            "kohorte": FORMAT,
            "kind": str(self.kind),
            "number": self.number,
            "sender": self.sender,
            "institution": self.institution,
            "recipient": self.recipient,
            "at": self.at,
            "content": dict(self.content),
            "files": [{"name": file.name, "bytes": file.size, "sha256": file.sha256} for file in self.files],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what another institution sent, of which nothing is taken for granted."""
        try:
            whole = isinstance(data, dict) and set(data) == KEYS and data["kohorte"] == FORMAT
            number, sender, institution, recipient, at = texts = [data[name] for name in TEXTS]
            files = tuple(SentFile(one["name"], one["bytes"], one["sha256"]) for one in data["files"])
            kind = Kind(data["kind"])
            good = whole and all(isinstance(text, str) and len(text) <= 500 for text in texts)
            good = good and bool(NUMBER.fullmatch(data["number"])) and isinstance(data["content"], dict)
        except (KeyError, TypeError, ValueError, RecursionError):
            raise _unreadable() from None
        names = [file.name for file in files]
        if not good or not all(map(_is_file, files)) or len(set(names)) < len(names):
            raise _unreadable()
        return cls(kind, number, sender, institution, recipient, at, data["content"], files)


@dataclass(frozen=True)
class SignedParcel:
    """A parcel and the signature of its sender."""

    parcel: Parcel
    signature: str

    @classmethod
    def made(
        cls,
        own: Identity,
        peer: Peer,
        kind: Kind,
        content: Mapping[str, Any],
        files: Sequence[Path] = (),
        *,
        number: str | None = None,
    ) -> Self:
        """Sign a parcel for a peer; a new request gets a number that nobody can guess."""
        sent = tuple(SentFile(path.name, path.stat().st_size, sha256_of(path)) for path in sorted(files))
        parcel = Parcel(
            kind,
            number or secrets.token_hex(16),
            own.fingerprint,
            own.name,
            peer.fingerprint,
            datetime.now(UTC).isoformat(timespec="seconds"),
            content,
            sent,
        )
        return cls(parcel, own.sign(parcel.message))

    @property
    def header(self) -> bytes:
        """The first line of what is sent."""
        return json.dumps({"parcel": self.parcel.to_dict(), "signature": self.signature}).encode() + b"\n"

    @classmethod
    def read(cls, header: bytes) -> Self:
        """Read the first line."""
        try:
            data = json.loads(header)
            signature = data["signature"]
            known = isinstance(data, dict) and set(data) == {"parcel", "signature"} and isinstance(signature, str)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _unreadable() from None
        if not known or len(signature) > LONGEST_HEADER:
            raise _unreadable()
        return cls(Parcel.from_dict(data["parcel"]), signature)

    def refuse_unproven(self, peer: Peer, certificate: str, *, recipient: str) -> None:
        """Refuse a parcel that is not from this peer, for this house, under the name that this house knows."""
        parcel = self.parcel
        reason = ""
        if parcel.sender != peer.fingerprint:
            reason = "it names another sender than the certificate of the connection"
        elif parcel.recipient != recipient:
            reason = "it was made for another institution"
        elif not same_name(parcel.institution, peer.name):
            reason = "it names another institution than the address book has for this certificate"
        elif not is_signed(certificate, parcel.message, self.signature):
            reason = "its signature is wrong: it was changed, or signed by somebody else"
        if reason:
            raise AccessDenied(f"the parcel is refused: {reason}", code="exchange-peer-identity")

    def pieces(self, folder: Path) -> Iterator[bytes]:
        """What is sent, piece by piece; the files are read from a folder."""
        yield self.header
        for file in self.parcel.files:
            with (folder / file.name).open("rb") as content:
                while piece := content.read(PIECE):
                    yield piece


def _is_file(file: SentFile) -> bool:
    size: object = file.size
    sized = type(size) is int and 0 <= size < LARGEST_FILE
    return file.name in FILES and sized and bool(SHA256.fullmatch(str(file.sha256)))


def _unreadable() -> InputError:
    return InputError(
        "the parcel cannot be read; the institutions may have different versions of this program",
        code="exchange-parcel",
    )
