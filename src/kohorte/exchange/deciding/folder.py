"""The folder of requests of a house; what happened to each is in its chained log.

requests/NNNN/request.json   the request as it was received
requests/NNNN/parcel.json    the parcel with its signature, if another institution sent it over the network
requests/NNNN/check.json     the record of the latest check
requests/NNNN/draft.csv      what would be sent, with its certificate; not there if nothing may be sent
requests/NNNN/people.npz     who is in the draft, as numbers of the disclosure ledger; removed with the answer
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from kohorte.data import atomic_write, sha256_of
from kohorte.data.files import read_text
from kohorte.disclosures.candidate import Candidate as Disclosure
from kohorte.errors import AccessDenied, InputError
from kohorte.exchange.checking.check import Check
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.deciding.stored_disclosure import read_disclosure, write_disclosure
from kohorte.exchange.request import Request
from kohorte.release import certificate_paths, write_release
from kohorte.trust.folder import TrustFolder
from kohorte.trust.libraries import refuse_missing_libraries
from kohorte.trust.log import account
from kohorte.trust.people import REMOVED
from kohorte.trust.private_files import locked

RECEIVED, CHECKED, DECIDED = "receive request", "check request", "decide request"
BEGUN, ANSWERED = "begin answer", "answer request"


@dataclass(frozen=True)
class Origin:
    """The institution that sent a request, proven by its certificate: fingerprint, number and bytes of the parcel."""

    sender: str
    parcel: str
    header: bytes = b""


@dataclass(frozen=True)
class RequestFolder:
    """A folder with the requests of other institutions, which only its owner can enter."""

    trust: TrustFolder
    seen: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    """The entries of the log by what they are about, if they were read at once."""

    @classmethod
    def opened(cls, path: str | Path, *, create: bool = False) -> Self:
        """Open a folder; with `create` a missing one is made."""
        refuse_missing_libraries()
        return cls(TrustFolder.opened(path, create=create))

    def receive(self, request: Request, *, actor: str | None = None, origin: Origin | None = None) -> int:
        """Keep a request under the next number; a parcel that comes again is the same request."""
        requests = self.trust.path / "requests"
        with locked(self.trust.path):
            if origin is not None and (known := self._number_of(origin, request)) is not None:
                return known
            requests.mkdir(mode=0o700, exist_ok=True)
            number = max((int(path.name) for path in requests.iterdir() if path.name.isdigit()), default=0) + 1
            folder = requests / f"{number:04}"
            folder.mkdir(mode=0o700)
            _write(folder / "request.json", json.dumps(request.to_dict(), indent=2, ensure_ascii=False) + "\n")
            proof = {}
            if origin is not None:
                _write(folder / "parcel.json", origin.header.decode())
                proof = {"sender": origin.sender, "parcel": origin.parcel}
            self.trust.log.append(
                RECEIVED, f"request {number}", actor=actor or account(), sha256=request.fingerprint(), **proof
            )
        return number

    def _number_of(self, origin: Origin, request: Request) -> int | None:
        for entry in self.trust.log.verified_entries():
            details = entry["details"]
            if entry["action"] == RECEIVED and details.get("parcel") == origin.parcel:
                if details["sender"] != origin.sender or details["sha256"] != request.fingerprint():
                    raise AccessDenied(
                        "another request came under this number before; a number is used once", code="exchange-replayed"
                    )
                return int(entry["about"].split()[1])
        return None

    def origin(self, number: int) -> Origin | None:
        """Which institution sent a request over the network; None for one that was received as a file."""
        for entry in self.entries(number):
            if entry["action"] == RECEIVED and "parcel" in entry["details"]:
                return Origin(entry["details"]["sender"], entry["details"]["parcel"])
        return None

    @contextmanager
    def held(self, number: int) -> Iterator[None]:
        """Let nobody else answer a request meanwhile."""
        with locked(self._folder(number)):
            yield

    def at_once(self) -> Self:
        """The folder with the log as it is now, read and verified once: to list many requests."""
        seen: dict[str, list[Mapping[str, Any]]] = {}
        for entry in self.trust.log.verified_entries():
            seen.setdefault(entry["about"], []).append(entry)
        return replace(self, seen=seen)

    def numbers(self) -> list[int]:
        """The numbers of all requests."""
        return sorted({int(entry["about"].split()[1]) for entry in self._entries() if entry["action"] == RECEIVED})

    def request(self, number: int) -> Request:
        """Read a request; one that was changed since it was received is refused."""
        path = self._file(number, "request.json")
        request = Request.from_file(path)
        received = [entry for entry in self.entries(number) if entry["action"] == RECEIVED]
        if not received or received[-1]["details"]["sha256"] != request.fingerprint():
            raise InputError(
                f"request {number} was changed after it was received; ask for it again", code="exchange-request-changed"
            )
        return request

    def keep(self, number: int, check: Check, *, actor: str | None = None) -> None:
        """Keep a check and its draft, in place of an earlier one: decisions about that one no longer count."""
        folder = self._folder(number)
        self.refuse_answered(number)
        draft = folder / "draft.csv"
        for path in (draft, *certificate_paths(draft), folder / "people.npz"):
            path.unlink(missing_ok=True)
        sha256 = people = ""
        if check.draft is not None:
            write_release(check.draft.found, draft)
            sha256 = sha256_of(draft)
            write_disclosure(check.draft.disclosure, folder / "people.npz")
            people = sha256_of(folder / "people.npz")
        _write(folder / "check.json", check.record.to_json())
        self.trust.log.append(
            CHECKED,
            f"request {number}",
            actor=actor or account(),
            check=check.record.sha256,
            recommendation=check.record.recommendation,
            draft=sha256,
            people=people,
        )

    def was_answered(self, number: int) -> bool:
        """Whether an answer has left the house."""
        return any(entry["action"] == ANSWERED for entry in self.entries(number))

    def refuse_answered(self, number: int) -> None:
        """Refuse to go on with a request that was answered: its check shows what people decided about."""
        if self.was_answered(number):
            raise InputError(f"request {number} has been answered already", code="exchange-answered")

    def record(self, number: int) -> CheckRecord:
        """Read the record of the latest check; a changed record, or one of another request, is refused."""
        path = self._file(number, "check.json")
        if not path.exists():
            raise InputError(f"request {number} has not been checked", code="exchange-unchecked")
        record = CheckRecord.from_json(read_text(path, what="record", code="exchange-check-changed"), source=path.name)
        if self.checked(number)["check"] != record.sha256:
            raise InputError(
                f"the record of request {number} is not that of its latest check; check it again",
                code="exchange-check-changed",
            )
        if record.request_sha256 != self.request(number).fingerprint():
            raise InputError(
                f"request {number} was changed after its check; check it again", code="exchange-request-changed"
            )
        return record

    def checked(self, number: int) -> Mapping[str, Any]:
        """What the log says about the latest check of a request."""
        found = [entry["details"] for entry in self.entries(number) if entry["action"] == CHECKED]
        return found[-1] if found else {"check": "", "draft": "", "people": ""}

    def draft_file(self, number: int) -> Path:
        """The file of the draft."""
        return self._file(number, "draft.csv")

    def disclosure(self, number: int) -> Disclosure:
        """Who is in the draft, as the latest check noted it."""
        path = self._file(number, "people.npz")
        if not path.is_file() or sha256_of(path) != self.checked(number)["people"]:
            raise InputError(
                f"{path.name}: who is in the draft was changed; check the request again", code="exchange-check-changed"
            )
        return read_disclosure(path)

    def forget_people(self, number: int) -> None:
        """Remove who is in the draft of a request that was answered; the ledger remembers who was in the answer."""
        self._file(number, "people.npz").unlink(missing_ok=True)

    def removals(self) -> dict[str, int]:
        """When a person of the folder was removed last, by name: the number of the entry in the log."""
        start = len("person ")
        return {entry["about"][start:]: entry["number"] for entry in self._entries() if entry["action"] == REMOVED}

    def entries(self, number: int) -> Iterator[Mapping[str, Any]]:
        """What happened to a request, from the log; a log that was changed is refused."""
        about = f"request {number}"
        if self.seen is not None:
            return iter(self.seen.get(about, ()))
        return (entry for entry in self._entries() if entry["about"] == about)

    def _entries(self) -> Iterator[Mapping[str, Any]]:
        if self.seen is not None:
            return (entry for entries in self.seen.values() for entry in entries)
        return self.trust.log.verified_entries()

    def _folder(self, number: int) -> Path:
        folder = self.trust.path / "requests" / f"{number:04}"
        if not folder.is_dir():
            raise InputError(f"there is no request {number}", code="exchange-request-unknown")
        return folder

    def _file(self, number: int, name: str) -> Path:
        return self._folder(number) / name


def _write(path: Path, text: str) -> None:
    with atomic_write(path, force=True, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
