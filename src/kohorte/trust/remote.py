"""Call the service of another house over HTTPS, with one's own certificate and the pinned one of the other house.

Names, PIDs and pseudonyms travel in bodies only. Registering and pseudonymizing can be repeated, so that a call whose
answer got lost is made again.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import ssl
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from kohorte.data.files import read_text
from kohorte.errors import AccessDenied, EngineError, InputError

API = "/api/v1"
PEOPLE_AT_ONCE = 2_000
TEXTS_AT_ONCE = 10_000
LONGEST_ANSWER = 64 << 20
SERVER_ERRORS = 500


class HouseRefused(AccessDenied):
    """The other house understood the request and refuses it; `reason` is the code that it gives."""

    reason = ""


@dataclass(frozen=True)
class OtherHouse:
    """The service of another house; `certificate` and `key` are one's own, `pinned` is the certificate of the other."""

    address: str
    certificate: Path
    key: Path
    pinned: Path
    seconds: float = 60.0

    def register(self, people: Sequence[Mapping[str, str]], *, recipient: int | None = None) -> list[str | None]:
        """Register people in the patient list of the other house; None for a person with too little data.

        Returns TempIDs that the account with the number `recipient` can resolve or, without a recipient, PIDs: the
        settings of the other house say who may have these.
        """
        found: list[str | None] = []
        for start in range(0, len(people), PEOPLE_AT_ONCE):
            body = {"people": [dict(one) for one in people[start : start + PEOPLE_AT_ONCE]], "temp_ids_for": recipient}
            told = self.call("POST", "/patients/registrations", body)["registrations"]
            found += [one["pid" if recipient is None else "temp_id"] for one in told]
        return found

    def resolve(self, temp_ids: Sequence[str]) -> list[str]:
        """Return the PIDs of TempIDs that were made for this account; they are used up."""
        found: list[str] = []
        for start in range(0, len(temp_ids), TEXTS_AT_ONCE):
            body = {"temp_ids": list(temp_ids[start : start + TEXTS_AT_ONCE])}
            found += self.call("POST", "/patients/temp-ids/resolve", body)["pids"]
        return found

    def pseudonyms(self, domain: str, originals: Sequence[str]) -> list[str | None]:
        """Return the pseudonyms that the other house gives to some texts, such as PIDs."""
        found: list[str | None] = []
        for start in range(0, len(originals), TEXTS_AT_ONCE):
            body = {"originals": list(originals[start : start + TEXTS_AT_ONCE])}
            found += self.call("POST", f"/domains/{quote(domain, safe='')}/pseudonyms", body)["pseudonyms"]
        return found

    def call(self, method: str, path: str, body: object = None, *, token: str | None = None) -> Any:
        """Send one request and return the body of the answer; refusals and failures are errors with its code."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        content = None if body is None else json.dumps(body).encode()
        return self._exchanged(method, path, content, headers | {"Content-Type": "application/json"})

    def send(self, path: str, content: Iterable[bytes], size: int) -> Any:
        """Send many bytes piece by piece, as they are read, and return the body of the answer."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        return self._exchanged("POST", path, content, headers)

    def _exchanged(
        self, method: str, path: str, content: bytes | Iterable[bytes] | None, headers: Mapping[str, str]
    ) -> Any:
        connection = self._connection()
        try:
            connection.connect()
            self._compare(connection)
            connection.request(method, API + path, content, headers)
            answer = connection.getresponse()
            status, read = answer.status, answer.read(LONGEST_ANSWER)
        except ssl.SSLCertVerificationError:
            raise self._other_certificate() from None
        except (OSError, http.client.HTTPException):
            raise EngineError(
                "the other house cannot be reached, or refuses the certificate of this one", code="trust-house-lost"
            ) from None
        finally:
            connection.close()
        return _content(status, read)

    def _connection(self) -> http.client.HTTPSConnection:
        host, port = self._endpoint()
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.check_hostname = False  # the certificate itself is compared, whatever names it has
            context.load_verify_locations(self.pinned)
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ValueError):
            raise InputError(
                "the certificate of the other house, or certificate and key of this one, cannot be read, are not PEM, "
                "or do not match",
                code="trust-house-certificate",
            ) from None
        return http.client.HTTPSConnection(host, port, timeout=self.seconds, context=context)

    def _endpoint(self) -> tuple[str, int | None]:
        try:
            parts = urlsplit(self.address)
            if parts.scheme == "https" and parts.hostname:
                return parts.hostname, parts.port
        except ValueError:
            pass
        raise InputError("the address of another house is https://HOST:PORT", code="trust-house-address")

    def _compare(self, connection: http.client.HTTPSConnection) -> None:
        """Refuse any certificate but the pinned one, also one that a pinned authority has issued."""
        stream = connection.sock
        assert isinstance(stream, ssl.SSLSocket)
        shown = stream.getpeercert(binary_form=True) or b""
        text = read_text(self.pinned, what="certificate", code="trust-house-certificate")
        if hashlib.sha256(shown).digest() != hashlib.sha256(ssl.PEM_cert_to_DER_cert(text.strip())).digest():
            raise self._other_certificate()

    @staticmethod
    def _other_certificate() -> AccessDenied:
        return AccessDenied(
            "the other side has another certificate than the pinned one of the other house; nothing was sent",
            code="trust-house-other",
        )


def _content(status: int, read: bytes) -> Any:
    try:
        told = json.loads(read) if read else None
    except ValueError:
        told = None
    if status < http.client.BAD_REQUEST:
        return told
    code = told.get("code") if isinstance(told, dict) else None
    reason = code if isinstance(code, str) and code.replace("-", "").isalnum() else "no reason"
    if status >= SERVER_ERRORS:
        raise EngineError(f"the other house failed ({status}, {reason})", code="trust-house-failed")
    refusal = HouseRefused(f"the other house refuses the request ({status}, {reason})", code="trust-house-refused")
    refusal.reason = reason
    raise refusal
