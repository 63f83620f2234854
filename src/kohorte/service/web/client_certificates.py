"""Certificates of clients: asked for in the TLS handshake, and passed to the application by their fingerprint.

A client without a certificate is served like everybody, with a token. A certificate that is not in the file of pinned
ones ends the handshake.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.types import Scope

from kohorte.errors import KohorteError
from kohorte.service.accounts.certificates import fingerprint_of

NAME = "kohorte.certificate"
"""The key of the fingerprint in the scope of a request; only the protocol sets it."""
_log = logging.getLogger("kohorte.service")


def context_with(
    pinned: Path | None, book: Callable[[], str] | None = None
) -> Callable[[uvicorn.Config, Callable[[], ssl.SSLContext]], ssl.SSLContext]:
    """Return a function that makes the TLS context of a server which asks for certificates.

    `book` returns the certificates of an address book, as PEM text. It is asked in every handshake, so that an
    institution can be added while the server runs. One that was removed is refused after the handshake.
    """

    def made(config: uvicorn.Config, usual: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        del config
        context = usual()
        if pinned is not None:
            context.load_verify_locations(pinned)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # a pinned certificate needs no issuer in the file
        context.verify_mode = ssl.CERT_OPTIONAL
        if book is not None:
            context.sni_callback = _refreshing(book)
        return context

    return made


def _refreshing(book: Callable[[], str]) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], None]:
    known = ""

    def refresh(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        nonlocal known
        del connection, name
        try:
            found = book()
            if found and found != known:
                context.load_verify_locations(cadata=found)
                known = found
        except (KohorteError, ssl.SSLError):
            _log.warning("the address book cannot be read; institutions that were added later are refused")

    return refresh


def certificate_of(transport: asyncio.BaseTransport) -> str | None:
    """Return the fingerprint of the certificate that the client of a connection has shown, if any."""
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    certificate = None if connection is None else connection.getpeercert(binary_form=True)
    return None if certificate is None else fingerprint_of(certificate)


def presented(scope: Scope) -> str | None:
    """Return the fingerprint of the certificate with which a request came, if any."""
    found: str | None = scope.get(NAME)
    return found
