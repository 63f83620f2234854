"""Answers that came back: kept with the proof of who sent them, and verified whenever they are read.

answers/NUMBER/parcel.json       the parcel with its signature
answers/NUMBER/certificate.pem   the certificate with which it was signed
answers/NUMBER/files/            answer.json and, for a release, the table with its certificate
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohorte.data import sha256_of
from kohorte.data.files import atomic_write, read_text
from kohorte.errors import AccessDenied, InputError
from kohorte.exchange.deciding.answers import ANSWER, REFUSAL, TABLE
from kohorte.exchange.peers.parcels import NUMBER, SignedParcel
from kohorte.parties.transport.signing import is_signed
from kohorte.trust.folder import TrustFolder
from kohorte.trust.private_files import locked

FOLDER, PARCEL, CERTIFICATE, FILES = "answers", "parcel.json", "certificate.pem", "files"
OF_TABLE = "table.certificate.json"
RECEIVED = "receive answer"
LONGEST_JSON = 64 << 20


@dataclass(frozen=True)
class ReceivedAnswer:
    """An answer that was verified: from whom, whether something was released, and its files."""

    number: str
    institution: str
    at: str
    released: bool
    files: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """The answer as lists show it."""
        return {
            "number": self.number,
            "institution": self.institution,
            "at": self.at,
            "released": self.released,
            "files": [path.name for path in self.files],
        }


class ReceivedAnswers:
    """All answers that a house has got."""

    def __init__(self, folder: TrustFolder, *, seen: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._folder = folder
        self._seen = seen
        self.path = folder.path / FOLDER

    def at_once(self) -> ReceivedAnswers:
        """The answers of now: the log is read and verified once, to list many of them."""
        return ReceivedAnswers(self._folder, seen=self._received())

    def numbers(self) -> list[str]:
        """The numbers of the requests that were answered, in the order of the answers."""
        return list(self._received())

    def keep(self, signed: SignedParcel, files: Path, *, certificate: str, actor: str) -> None:
        """Keep an answer whose parcel was proven; the same one again changes nothing, another one is refused."""
        number = signed.parcel.number
        refuse_inconsistent(files, request=str(signed.parcel.content["request"]))
        with locked(self._folder.path):
            before = self._received().get(number)
            if before is not None:
                if before["sha256"] != signed.parcel.sha256:
                    raise AccessDenied(
                        "this request was answered before; there is one answer", code="exchange-replayed"
                    )
                return
            target = self.path / number
            shutil.rmtree(target, ignore_errors=True)  # left by a process that was killed before it was noted
            target.mkdir(mode=0o700, parents=True)
            files.rename(target / FILES)
            for name, text in ((PARCEL, signed.header.decode()), (CERTIFICATE, certificate)):
                with atomic_write(target / name, force=True, private=True) as temporary:
                    temporary.write_text(text, encoding="utf-8")
            sender = signed.parcel.sender
            self._folder.log.append(
                RECEIVED, f"answer {number}", actor=actor, sha256=signed.parcel.sha256, sender=sender
            )

    def verified(self, number: str) -> ReceivedAnswer:
        """Read an answer; signature and every file are compared again."""
        noted = self._received().get(number) if NUMBER.fullmatch(number) else None
        if noted is None:
            raise InputError("there is no answer with this number", code="exchange-answer-unknown")
        folder = self.path / number
        parcel_text = read_text(folder / PARCEL, what="parcel", code="exchange-parcel-changed")
        certificate = read_text(folder / CERTIFICATE, what="certificate", code="exchange-parcel-changed")
        signed = SignedParcel.read(parcel_text.encode())
        parcel = signed.parcel
        files = tuple(folder / FILES / file.name for file in parcel.files)
        whole = (
            parcel.sha256 == noted["sha256"]
            and is_signed(certificate, parcel.message, signed.signature)
            and all(path.is_file() for path in files)
            and all(sha256_of(path) == file.sha256 for path, file in zip(files, parcel.files, strict=True))
        )
        if not whole:
            raise InputError(
                "the answer was changed after it came; ask the institution for it again", code="exchange-parcel-changed"
            )
        facts = refuse_inconsistent(folder / FILES, request=str(parcel.content["request"]))
        return ReceivedAnswer(number, parcel.institution, parcel.at, facts["answer"] == "released", files)

    def copied(self, number: str, output: Path) -> ReceivedAnswer:
        """Verify an answer and copy its files into a new folder."""
        found = self.verified(number)
        if output.exists():
            raise InputError(f"{output}: exists already; give the name of a new folder", code="output-exists")
        output.mkdir()
        for path in found.files:
            with atomic_write(output / path.name, force=False) as temporary:
                shutil.copyfile(path, temporary)
        return found

    def _received(self) -> Mapping[str, Mapping[str, Any]]:
        if self._seen is not None:
            return self._seen
        entries = (entry for entry in self._folder.log.verified_entries() if entry["action"] == RECEIVED)
        return {entry["about"].split()[1]: entry["details"] for entry in entries}


def refuse_inconsistent(files: Path, *, request: str) -> Mapping[str, Any]:
    """Refuse an answer whose parts do not belong together; returns what answer.json says."""
    facts = _facts(files / ANSWER)
    names = {path.name for path in files.iterdir()} if files.is_dir() else set()
    fits = facts.get("request") == request
    if facts.get("answer") == "released":
        fits = fits and TABLE in names and facts.get("sha256") == sha256_of(files / TABLE)
        fits = fits and OF_TABLE in names and facts.get("certificate") == sha256_of(files / OF_TABLE)
        fits = fits and _facts(files / OF_TABLE).get("output", {}).get("sha256") == facts.get("sha256")
    else:
        fits = fits and names == {ANSWER} and facts.get("answer") == "refused" and facts.get("text") == REFUSAL
    if not fits:
        raise InputError(
            "the parts of the answer do not belong together, or to another request", code="exchange-answer-parts"
        )
    return facts


def _facts(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LONGEST_JSON:
            raise ValueError
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        data = None
    return data if isinstance(data, dict) else {}
