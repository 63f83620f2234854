"""The members of a study as processes of their own, of which one fails, and what the others then do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from kohorte.parties.study import Study
from kohorte.parties.transport.folder import PartyFolder

NEVER = ("-", "-", "-")
LONGEST = 10.0
PATIENT = 60.0


@dataclass(frozen=True)
class Ended:
    """How the process of a member ended: its exit code, what it printed for people, and when."""

    code: int
    said: str
    at: float


@dataclass(frozen=True)
class Stage:
    """A folder with the study, and one for each member."""

    folder: Path
    study: Study
    beat: float = 1.0
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def built(cls, folder: Path, plan: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], **study: Any) -> Stage:
        """Make keys, tables, plan and study; `study` has the keys of the study file besides those."""
        beat = study.pop("beat", 1.0)
        (folder / "plan.yaml").write_text(yaml.safe_dump(dict(plan), sort_keys=False), encoding="utf-8")
        names = [*tables, *(["helper"] if study["protocol"] != "A" else [])]
        members = {}
        for name, port in zip(names, _ports(len(names)), strict=True):
            own = PartyFolder.create(folder / name, name)
            columns = {key: value for key, value in study.get("parties", {}).get(name, {}).items() if name in tables}
            members[name] = {"address": f"127.0.0.1:{port}", "certificate": own.fingerprint, **columns}
            data = "table.csv" if name in tables else None
            settings = {"name": name, "data": data, "studies": ["../study.yaml"]}
            (own.path / "party.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
            if name in tables:
                tables[name].write_csv(own.path / "table.csv")
        entry = {"study": "heart", "plan": "plan.yaml", **study, "parties": {name: members[name] for name in tables}}
        entry |= {"helper": members["helper"]} if "helper" in members else {}
        (folder / "study.yaml").write_text(yaml.safe_dump(entry, sort_keys=False), encoding="utf-8")
        (folder / "temporary").mkdir()
        environment = {**os.environ, "TMPDIR": str(folder / "temporary"), "PYTHONPATH": str(Path(__file__).parents[1])}
        return cls(folder, Study.from_yaml(folder / "study.yaml"), beat, environment)

    @property
    def starter(self) -> str:
        """The member that starts the run: the party that opens the release."""
        return self.study.finisher

    def files(self) -> dict[str, bytes]:
        """All files of all members, what is temporary included."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def output(self, name: str) -> Path:
        """Where the release of a member goes."""
        return self.folder / f"{name}.csv"

    def wait_until_listening(self, name: str) -> None:
        """Wait until a member that serves can be reached."""
        host, _, port = str(self.study.members[name].address).rpartition(":")
        end = time.monotonic() + PATIENT
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
            except OSError:
                assert time.monotonic() < end, f"{name} does not listen"
                time.sleep(0.05)
            else:
                return

    @contextmanager
    def running(self, failing: str = "", how: tuple[str, str, str] = NEVER) -> Iterator[dict[str, Process]]:
        """Start all members, one of which fails; end those that are left over."""
        with ExitStack() as stack:
            yield {
                name: stack.enter_context(Process.started(self, name, how if name == failing else NEVER))
                for name in sorted(self.study.members, key=self.starter.__eq__)
            }


@dataclass(frozen=True)
class Process:
    """The process of one member."""

    name: str
    process: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def started(
        cls, stage: Stage, name: str, how: tuple[str, str, str] = NEVER, *, once: bool = True
    ) -> Iterator[Process]:
        """Start a member: the one that starts the run, or one that agrees to it, and to others unless `once`."""
        words = ["--folder", str(stage.folder / name), "--quiet"]
        words += ["--output", str(stage.output(name))] if once else []
        if name == stage.starter:
            words = ["run", str(stage.folder / "study.yaml"), *words]
        else:
            words = ["serve", *(["--once"] if once else []), "--agree", stage.study.fingerprint(), *words]
        command = [sys.executable, "-m", "support.failing_party", *how, str(stage.beat), "party", *words]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=stage.environment
        ) as process:
            try:
                yield cls(name, process)
            finally:
                process.kill()

    def fails(self) -> float:
        """Wait until this member fails; return when it did."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "failing\n", self.ended().said
        return time.monotonic()

    def ended(self, seconds: float = PATIENT) -> Ended:
        """Wait until the process has ended."""
        _, said = self.process.communicate(timeout=seconds)
        return Ended(self.process.returncode, said, time.monotonic())


def _ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
