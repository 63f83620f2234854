"""A party as its command runs it: check its table, wait for invitations, or start a run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self

import polars as pl

from kohorte.data import read_table
from kohorte.data.files import refuse_output
from kohorte.errors import InputError, KohorteError
from kohorte.in_words import listed
from kohorte.parties.joint import JointRelease
from kohorte.parties.memory import Memory, remembering
from kohorte.parties.message_limits import most_bytes, refuse_large
from kohorte.parties.own_table import longest_values, own_table
from kohorte.parties.sealed import MISSING
from kohorte.parties.signatures import FolderSigner
from kohorte.parties.study import HELPER, Study
from kohorte.parties.suitability import refuse_unsuited
from kohorte.parties.taking_part import take_part
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https import Contact, Invitation, Limits, PartyServer, RunTerms
from kohorte.parties.transport.https.terms import endpoint, is_loopback
from kohorte.parties.transport.messages import Message
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release import certificate_paths


@dataclass(frozen=True)
class Outcome:
    """How a run ended at one party: the release if this party gets it, and what was sent."""

    study: Study
    name: str
    release: JointRelease | None = field(repr=False)
    output: Path | None
    messages: Sequence[Message] = field(repr=False)
    elapsed: float

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain data: what `anonymize --json` prints, and the protocol, parties and messages."""
        found = {} if self.release is None else self.release.figures
        return {
            **found,
            "protocol": str(self.study.protocol),
            "distribution": str(self.study.distribution),
            "parties": list(self.study.members),
            "study": self.study.name,
            "study_sha256": self.study.fingerprint(),
            "messages": len(self.messages),
            "bytes": sum(message.size for message in self.messages),
            "elapsed": self.elapsed,
        }


# Checking a party's table


@dataclass(frozen=True)
class CheckedColumn:
    """A column that a party brings: how many different values it has, and in how many rows one is missing."""

    name: str
    values: int
    missing: int


@dataclass(frozen=True)
class CheckedParty:
    """A party's table, checked against a study."""

    study: Study
    name: str
    rows: int | None
    columns: tuple[CheckedColumn, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The findings as plain data."""
        return {
            "study": self.study.name,
            "study_sha256": self.study.fingerprint(),
            "protocol": str(self.study.protocol),
            "distribution": str(self.study.distribution),
            "party": self.name,
            "rows": self.rows,
            "columns": [dict(vars(column)) for column in self.columns],
        }


@dataclass(frozen=True)
class Recorded:
    """Where a rehearsal keeps what a party sent: every payload, and the list of messages."""

    payloads: Path | None = None
    messages: Path | None = None

    def keep(self, messages: Sequence[Message]) -> None:
        """Write the list of messages."""
        if self.messages is not None:
            told = [dict(vars(message)) for message in messages]
            self.messages.write_text(json.dumps(told), encoding="utf-8")


NOTHING_RECORDED = Recorded()


@dataclass(frozen=True)
class Party:
    """One member of studies: an institution with its own table, or a helper without one."""

    folder: PartyFolder
    memory: Memory | None = None

    @classmethod
    def open(cls, path: str | Path, memory: Memory | None = None) -> Self:
        """Open a party's folder; `memory` is what it remembers of releases about its own people."""
        return cls(PartyFolder.open(path), memory)

    @property
    def name(self) -> str:
        """The name of the party in its studies."""
        return self.folder.name

    def check(self, study_file: str | Path, *, progress: ProgressCallback | None = None) -> CheckedParty:
        """Check the party's own table against a study; nothing leaves this machine."""
        study = Study.from_yaml(study_file)
        frame = own_frame(self.folder, study, progress)
        if frame is None:
            return CheckedParty(study, self.name, None)
        own = own_table(frame, study, self.name, lengths=longest_values(frame, study, self.name))
        columns = []
        for name, column in own.columns.items():
            missing = column.levels[:, 0] == MISSING
            columns.append(CheckedColumn(name, int((~missing).sum()), int(missing[column.codes].sum())))
        return CheckedParty(study, self.name, own.rows, tuple(columns))

    def run(
        self,
        study_file: str | Path,
        output: Path | None = None,
        *,
        force: bool = False,
        tell_person: Callable[[str], None] = lambda _: None,
        progress: ProgressCallback | None = None,
        recorded: Recorded = NOTHING_RECORDED,
    ) -> Outcome:
        """Start a run: invite all others, take part, and write the release if this party gets it."""
        study = Study.from_yaml(study_file)
        frame = own_frame(self.folder, study, progress)
        self._refuse_output(study, output, force=force)
        terms = terms_of(study, self.name, recorded.payloads)
        with PartyServer(self.folder, self._listen(study), tell=tell_person, interrupts=_is_main()) as server:
            tell(progress, Stage.CHECKING, "whether all others agree")
            with server.start_run(terms) as channel:
                return self._taken_part(
                    channel, study, frame, output, force=force, progress=progress, recorded=recorded
                )

    def serve(
        self,
        decide: Callable[[str, Study], bool],
        ended: Callable[[Outcome | KohorteError], None],
        *,
        output: Path | None = None,
        once: bool = False,
        tell_person: Callable[[str], None] = lambda _: None,
        progress: ProgressCallback | None = None,
        recorded: Recorded = NOTHING_RECORDED,
    ) -> None:
        """Wait for runs of the studies in party.yaml and take part in those that `decide` agrees to.

        `decide` gets the name of the party that invites and the study; `ended` gets how each run ended. With `once`,
        the first run is the last one, and its error is raised.
        """
        studies = self._studies()
        for study in studies.values():
            own_frame(self.folder, study, progress)  # what is wrong with a table is told before anybody invites
        offers = [terms_of(study, self.name, recorded.payloads) for study in studies.values()]
        listen, names = self._listen(*studies.values()), listed([study.name for study in studies.values()])
        agreed: list[tuple[Study, Path | None, pl.DataFrame | None]] = []

        def asked(invitation: Invitation) -> bool:
            study = studies[invitation.terms.study]
            if not decide(invitation.starter, study):
                return False
            target = self._target(study) if output is None and self.name in study.receivers else output
            try:
                self._refuse_output(study, target, force=False)
                agreed.append((study, target, own_frame(self.folder, study, progress)))  # the table as it is now
            except KohorteError as error:
                tell_person(f"cannot take part: {error.message} [{error.code}]")
                return False
            return True

        with PartyServer(self.folder, listen, tell=tell_person, interrupts=_is_main()) as server:
            while True:
                tell_person(f"{self.name} waits at port {server.address.rpartition(':')[2]} for runs of {names}")
                try:
                    with server.wait_for_run(offers, asked) as channel:
                        study, target, frame = agreed[-1]
                        ended(self._taken_part(channel, study, frame, target, progress=progress, recorded=recorded))
                except KohorteError as error:
                    if once:
                        raise
                    ended(error)
                if once:
                    return

    def _taken_part(
        self,
        channel: RunChannel,
        study: Study,
        frame: pl.DataFrame | None,
        output: Path | None,
        *,
        force: bool = False,
        progress: ProgressCallback | None,
        recorded: Recorded,
    ) -> Outcome:
        started = time.monotonic()
        if self.memory is not None and frame is not None:
            frame = self.memory.without_withdrawn(frame)
        signer = remembering(FolderSigner(self.folder, study), self.memory, study, self.name, frame)
        release = take_part(channel, study, signer, name=self.name, frame=frame, progress=progress)
        if release is not None and output is not None:
            tell(progress, Stage.WRITING, output.name)
            release.write(output, force=force)
        recorded.keep(channel.messages)
        written = output if release is not None else None
        return Outcome(study, self.name, release, written, channel.messages, time.monotonic() - started)

    def _studies(self) -> dict[str, Study]:
        """The studies that this party agreed to, by their hashes."""
        if not self.folder.studies:
            raise InputError(
                f"{self.folder.path / 'party.yaml'}: studies is empty; list the study files of this party",
                code="party-studies",
            )
        found = [Study.from_yaml(path) for path in self.folder.studies]
        return {study.fingerprint(): study for study in found}

    def _listen(self, *studies: Study) -> str:
        """The address to wait at: that of party.yaml, or the port of the study file on all addresses.

        The machine may not know the address that others reach it by, except one that only this machine can reach.
        """
        if self.folder.listen is not None:
            return self.folder.listen
        addresses = {str(study.members[self.name].address) for study in studies}
        if len(addresses) > 1:
            raise InputError(
                "the studies give this party different addresses; state in party.yaml where to listen: listen: :8441",
                code="party-address",
            )
        (address,) = addresses
        return address if is_loopback(address) else f":{endpoint(address)[1]}"

    def _refuse_output(self, study: Study, output: Path | None, *, force: bool) -> None:
        if self.name in study.receivers and output is None:
            raise InputError("this party gets the release: give --output", code="party-output")
        if output is None:
            return
        if output.suffix.lower() != ".csv":
            raise InputError(f"{output}: a joint release is a CSV file, the same for all parties", code="file-format")
        for path in (output, *certificate_paths(output)):
            refuse_output(path, force=force)

    def _target(self, study: Study) -> Path:
        """A file in the folder, named by study and time."""
        return self.folder.path / f"{study.name}-{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.csv"


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def terms_of(study: Study, name: str, record: Path | None = None) -> RunTerms:
    """How to reach all members of a study; refused if an address or a certificate is missing."""
    contacts = {}
    for member in study.members.values():
        if member.address is None or member.certificate is None:
            raise InputError(
                f"{member.name}: a run needs its address and its certificate in the study file (a rehearsal does not)",
                code="study-incomplete",
            )
        contacts[member.name] = Contact(member.address, member.certificate)
    limits = Limits(kinds=most_bytes(study))
    return RunTerms(study.fingerprint(), name, contacts, limits=limits, record=record)


# Reading a party's table


def own_frame(party: PartyFolder, study: Study, progress: ProgressCallback | None) -> pl.DataFrame | None:
    """Read a party's table, after refusing a study that is not for this party or cannot be computed."""
    if party.name not in study.members:
        raise InputError(
            f"the study has no member {party.name!r}; its members are {', '.join(study.members)}",
            code="study-not-member",
        )
    pinned = study.members[party.name].certificate
    if pinned is not None and pinned != party.fingerprint:
        raise InputError(
            f"the study names another certificate for {party.name} than the one in {party.path}, whose fingerprint is "
            f"{party.fingerprint}",
            code="study-certificate",
        )
    refuse_unsuited(study)
    if party.name == HELPER:
        return None
    if party.data is None:
        raise InputError(f"{party.path / 'party.yaml'}: data is missing, the file of the table", code="party-data")
    tell(progress, Stage.READING, party.data.name)
    frame = read_table(party.data, may_lack_rows=study.may_lack_rows).frame
    refuse_large(study, party.name, frame.height, Limits().message)
    return frame
