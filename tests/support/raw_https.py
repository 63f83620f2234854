"""A party that does as it likes: TLS of the standard library and requests written by hand."""

from __future__ import annotations

import json
import socket
import ssl
import zlib
from collections.abc import Iterable

from kohorte.parties.transport.folder import PartyFolder


def client_context(folder: PartyFolder | None, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """A context with the certificate of a folder or without one; nothing of the other side is checked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if version is not None:
        context.maximum_version = version
    if folder is not None:
        context.load_cert_chain(folder.certificate_file, folder.key_file)
    return context


def connected(
    address: str,
    folder: PartyFolder | None = None,
    *,
    context: ssl.SSLContext | None = None,
    session: ssl.SSLSession | None = None,
) -> ssl.SSLSocket:
    """Shake hands with a party."""
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host, int(port)), timeout=5)
    try:
        return (context or client_context(folder)).wrap_socket(plain, session=session)
    except BaseException:
        plain.close()
        raise


def chunked(pieces: Iterable[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def request(path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: party", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def message(headers: dict[str, str], payload: bytes, **changes: str) -> bytes:
    """A message as the protocol wants it, with some headers changed."""
    usual = {
        "Kohorte-Sequence": "1",
        "Kohorte-Kind": "rows",
        "Kohorte-Size": str(len(payload)),
        "Transfer-Encoding": "chunked",
    }
    given = {name.replace("_", "-"): value for name, value in changes.items()}
    return request("/message", {**headers, **usual, **given}, chunked([zlib.compress(payload)]))


def answer(stream: ssl.SSLSocket, sent: bytes) -> tuple[int, dict[str, object]]:
    """Send bytes and return status and body of the answer; ConnectionError if there is none."""
    stream.sendall(sent)
    with stream.makefile("rb") as file:
        status = file.readline()
        if not status:
            raise ConnectionResetError
        length = 0
        while (line := file.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return int(status.split()[1]), json.loads(file.read(length) or b"{}")
