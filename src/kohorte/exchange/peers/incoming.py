"""What other institutions send: read piece by piece, proven, within limits, and kept completely or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.exchange.deciding.folder import Origin, RequestFolder
from kohorte.exchange.peers.address_book import AddressBook, Peer
from kohorte.exchange.peers.answers import ReceivedAnswers
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.outbox import Outbox
from kohorte.exchange.peers.parcels import LONGEST_HEADER, Kind, Parcel, SentFile, SignedParcel
from kohorte.exchange.request import Request
from kohorte.exchange.request.names import same_name
from kohorte.trust.folder import TrustFolder

MOST_BYTES = 1 << 30
REFUSED = "refuse parcel"
ARRIVING = "arriving"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Receipt:
    """What the sender is told: the parcel has arrived, and is kept."""

    number: str
    kind: Kind
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """The receipt as plain data."""
        return {"number": self.number, "kind": str(self.kind), "sha256": self.sha256}


class Arriving:
    """A parcel that arrives; `shown` is the fingerprint of the certificate that the connection has proved.

    `write` takes the bytes as they come, `finish` keeps the parcel, `abandon` removes what has come so far. A parcel
    that is refused is an entry of the log.
    """

    def __init__(self, folder: TrustFolder, shown: str | None, *, most: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most = most
        self._header = io.BytesIO()
        self._signed: SignedParcel | None = None
        self._files: list[SentFile] = []
        self._open: IO[bytes] | None = None
        self._left = 0
        self._hash = hashlib.sha256()
        self._path = folder.path / ARRIVING / secrets.token_hex(8)
        self._own = Identity.of(folder)
        self._book = AddressBook(folder)
        try:
            self._peer: Peer = self._book.with_fingerprint(shown)
        except KohorteError as error:
            if shown is not None:  # a stranger without a certificate must not fill the log
                self._refused(error, actor="somebody")
            raise

    def write(self, piece: bytes) -> None:
        """Take the next bytes."""
        self._noted(lambda: self._write(piece))

    def finish(self) -> Receipt:
        """Keep the parcel; one that came before is confirmed again."""
        try:
            return self._noted(self._finish)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Remove what has come so far, unless it was kept."""
        if self._open is not None:
            self._open.close()
            self._open = None
        shutil.rmtree(self._path, ignore_errors=True)

    def _write(self, piece: bytes) -> None:
        if self._signed is None:
            end = piece.find(b"\n")
            self._header.write(piece if end < 0 else piece[:end])
            if self._header.tell() > LONGEST_HEADER:
                raise _too_large(LONGEST_HEADER)
            if end < 0:
                return
            self._signed = self._proven(SignedParcel.read(self._header.getvalue()))
            piece = piece[end + 1 :]
            self._files = list(self._signed.parcel.files)
            self._next_file()
        while piece:
            if self._open is None:
                raise InputError("the parcel has more bytes than it says", code="exchange-parcel")
            now, piece = piece[: self._left], piece[self._left :]
            self._open.write(now)
            self._hash.update(now)
            self._left -= len(now)
            if not self._left:
                self._end_file()

    def _next_file(self) -> None:
        while self._files and self._open is None:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._files[0]
            self._open, self._left, self._hash = (self._path / file.name).open("xb"), file.size, hashlib.sha256()
            if not file.size:
                self._end_file()

    def _end_file(self) -> None:
        assert self._open is not None
        self._open.close()
        self._open = None
        if self._hash.hexdigest() != self._files.pop(0).sha256:
            raise InputError("a file of the parcel is not the one that was signed", code="exchange-parcel-changed")
        self._next_file()

    def _proven(self, signed: SignedParcel) -> SignedParcel:
        certificate = self._book.certificate(self._peer)
        signed.refuse_unproven(self._peer, certificate, recipient=self._own.fingerprint)
        if signed.parcel.size > self._most:
            raise _too_large(self._most)
        if signed.parcel.kind is Kind.REQUEST:
            if signed.parcel.files:
                raise InputError("a request has no files", code="exchange-parcel")
            self._request(signed.parcel)
        else:
            self._asked(signed.parcel)
        return signed

    def _finish(self) -> Receipt:
        signed = self._signed
        if signed is None or self._files:
            raise InputError("the parcel ended before it was complete", code="exchange-parcel")
        parcel, actor = signed.parcel, f"peer {self._peer.name}"
        if parcel.kind is Kind.REQUEST:
            origin = Origin(self._peer.fingerprint, parcel.number, signed.header)
            RequestFolder(self._folder).receive(self._request(parcel), actor=actor, origin=origin)
        else:
            answers = ReceivedAnswers(self._folder)
            answers.keep(signed, self._path, certificate=self._book.certificate(self._peer), actor=actor)
        return Receipt(parcel.number, parcel.kind, parcel.sha256)

    def _request(self, parcel: Parcel) -> Request:
        request = Request.from_dict(parcel.content.get("request"))
        if not same_name(request.requester.institution, self._peer.name):
            raise AccessDenied(
                "the parcel is refused: the request names another institution than the one that sends it",
                code="exchange-peer-identity",
            )
        return request

    def _asked(self, parcel: Parcel) -> None:
        sent = Outbox(self._folder).sent_request(parcel.number, to=self._peer.fingerprint)
        if sent is None:
            raise AccessDenied("this house asked nothing under this number", code="exchange-not-asked")
        if parcel.content != {"request": Request.from_dict(sent.content["request"]).fingerprint()}:
            raise AccessDenied("the answer is about another request", code="exchange-not-asked")

    def _noted(self, act: Callable[[], Result]) -> Result:
        try:
            return act()
        except KohorteError as error:
            self._refused(error, actor=f"peer {self._peer.name}")
            self.abandon()
            raise

    def _refused(self, error: KohorteError, *, actor: str) -> None:
        with contextlib.suppress(KohorteError):  # the refusal itself counts
            self._folder.log.append(REFUSED, "parcel", actor=actor, reason=error.code)


def _too_large(most: int) -> InputError:
    return InputError(f"the parcel is larger than {most:,} bytes", code="exchange-too-large")


def remove_unfinished(folder: TrustFolder) -> None:
    """Remove parcels that a server was receiving when it was killed; no server may be running."""
    shutil.rmtree(folder.path / ARRIVING, ignore_errors=True)
