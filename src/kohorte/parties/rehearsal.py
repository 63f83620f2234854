"""A rehearsal: all members of a study as processes on one machine, with certificates made for it alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kohorte.data import read_table, strict_yaml, to_polars, write_table
from kohorte.data.files import atomic_write, read_text, refuse_output
from kohorte.errors import EngineError, InputError, KohorteError, NoSolution, ProtocolError, nearest
from kohorte.parties.study import HELPER, Study
from kohorte.parties.suitability import refuse_unsuited
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.messages import Message
from kohorte.progress import ProgressCallback, Stage, tell

ERRORS: Mapping[int, type[KohorteError]] = {1: NoSolution, 2: InputError, 3: ProtocolError}
"""The errors that exit codes stand for."""

ENDING = 20.0
"""Seconds that the other members have to end by themselves after the one that started the run has ended."""

PATIENCE = 12.0
"""Seconds that the one that started the run has to end by itself after another member failed.

In a run it is told, or notices it sooner. Before a run it would wait for a member that never comes."""

GLANCE = 0.25
"""Seconds between two looks at the other members."""


def rehearse(study: str | Path, tables: Mapping[str, object], **options: Any) -> tuple[Any, dict[str, object]]:
    """Rehearse a study with tables (polars, pandas or arrow); return the release as a polars frame, and its figures."""
    with tempfile.TemporaryDirectory(prefix="kohorte-") as folder:
        files = {}
        for name, table in tables.items():
            files[name] = Path(folder, f"{name}.parquet")
            write_table(to_polars(table)[0], files[name], like=None, force=False)
        output = Path(folder, "release.csv")
        figures = rehearse_files(Path(study), files, output, **options)
        return read_table(output).frame, figures


def rehearse_files(
    study_file: Path,
    tables: Mapping[str, Path],
    output: Path,
    *,
    record: Path | None = None,
    page: Path | None = None,
    force: bool = False,
    progress: ProgressCallback | None = None,
) -> dict[str, object]:
    """Run all members of a study on this machine and write the release; return its figures.

    Every member is a process of its own and talks to the others over HTTPS on loopback addresses. Addresses and
    certificates of the study file are replaced; the study as it was rehearsed is written next to the release, for those
    who check the signatures. With `record`, every message is kept as it was sent; `page` draws the run.
    """
    study = Study.from_yaml(study_file)
    refuse_unsuited(study)
    _check_tables(study, tables)
    for path in (output, rehearsed_study(output), *(() if page is None else (page,))):
        refuse_output(path, force=force)
    if record is not None and record.exists() and any(record.iterdir()):
        raise InputError(f"{record}: the folder for recorded messages is not empty", code="party-record")
    with tempfile.TemporaryDirectory(prefix="kohorte-") as folder, ExitStack() as stack:
        stage = _Stage(Path(folder), study_file, study, tables)
        tell(progress, Stage.CHECKING, f"the study with {len(study.members)} processes")
        for name in stage.others:
            stack.enter_context(stage.serving(name, record))
        tell(progress, Stage.SEARCHING, f"together, with protocol {study.protocol}")
        started = time.monotonic()
        figures = stage.started(output, record, force=force)
        figures["elapsed"] = time.monotonic() - started
        stage.ended()
        messages = stage.messages()
        with atomic_write(rehearsed_study(output), force=force) as path:
            path.write_bytes(stage.study_beside(output))
    figures |= {"messages": len(messages), "bytes": sum(message.size for message in messages)}
    if page is not None:
        from kohorte.parties.picture import write_run_page

        write_run_page(study, messages, figures, page, force=force)
    return figures


def rehearsed_study(output: Path) -> Path:
    """The file of the study as it was rehearsed, next to the output: with the keys that were made for the rehearsal."""
    return output.with_suffix(".study.yaml")


def _check_tables(study: Study, tables: Mapping[str, Path]) -> None:
    for name in tables:
        if name not in study.parties:
            raise InputError(f"--data names {name!r}, which is no party{nearest(name, study.names)}", code="party-data")
    if absent := [name for name in study.names if name not in tables]:
        raise InputError(f"--data is missing for {', '.join(absent)}", code="party-data")
    for path in tables.values():
        if not path.is_file():
            raise InputError(f"{path}: there is no such file", code="file-unreadable")


class _Stage:
    """The folders and processes of a rehearsal."""

    def __init__(self, folder: Path, study_file: Path, study: Study, tables: Mapping[str, Path]) -> None:
        self._folder, self._study = folder, study
        self.others = [name for name in study.members if name != study.finisher]
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._failed: list[str] = []
        self._file = folder / "study.yaml"
        members = {name: self._member(name, tables.get(name), port) for name, port in _ports(list(study.members))}
        entry: Any = strict_yaml.load(
            read_text(study_file, what="study", code="study-unreadable"), source=study_file.name, code="study-yaml"
        )
        entry["plan"] = str((study_file.parent / str(entry["plan"])).resolve())
        entry["parties"] = {name: {**(own or {}), **members[name]} for name, own in entry["parties"].items()}
        entry["rehearsal"] = True
        if study.helper is not None:
            entry["helper"] = members[HELPER]
        self._entry = entry
        self._file.write_text(strict_yaml.dump(entry), encoding="utf-8")
        self._hash = Study.from_yaml(self._file).fingerprint()

    def _member(self, name: str, table: Path | None, port: int) -> dict[str, str]:
        party = PartyFolder.create(self._folder / name, name)
        settings = {"name": name, "data": None if table is None else str(table.resolve()), "studies": ["../study.yaml"]}
        (party.path / "party.yaml").write_text(strict_yaml.dump(settings), encoding="utf-8")
        return {"address": f"127.0.0.1:{port}", "certificate": party.fingerprint}

    def study_beside(self, output: Path) -> bytes:
        """The study file of the rehearsal, with the place of the plan as it is seen from the output."""
        plan = os.path.relpath(self._entry["plan"], output.parent.resolve())
        return strict_yaml.dump({**self._entry, "plan": plan}).encode()

    def serving(self, name: str, record: Path | None) -> subprocess.Popen[str]:
        """Start a member that waits for the run."""
        words = ["serve", "--once", "--agree", self._hash, "--output", str(self._folder / name / "release.csv")]
        self._processes[name] = process = self._process(name, words, record)
        return process

    def started(self, output: Path, record: Path | None, *, force: bool) -> dict[str, object]:
        """Start the run at the party that opens the release; return its figures."""
        words = ["run", str(self._file), "--output", str(output), *(["--force"] if force else [])]
        with self._process(self._study.finisher, words, record) as process:
            try:
                printed = self._printed(process)
            except BaseException:
                self._end_all(process)
                raise
        if process.returncode != 0:
            raise self._error(process.returncode, printed)
        found: dict[str, object] = json.loads(printed)
        return found

    def _printed(self, process: subprocess.Popen[str]) -> str:
        """What the member that started the run printed; it is ended if another one failed and it still waits."""
        latest = float("inf")
        while True:
            try:
                return process.communicate(timeout=GLANCE)[0]
            except subprocess.TimeoutExpired:
                if not self._failed and (failed := [name for name, one in self._processes.items() if one.poll()]):
                    self._failed, latest = failed, time.monotonic() + PATIENCE
                if time.monotonic() > latest:
                    self._end_all(process)

    def ended(self) -> None:
        """Wait until all other members have ended well."""
        deadline = time.monotonic() + ENDING
        for name, process in self._processes.items():
            try:
                printed, _ = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._end_all()
                raise EngineError(f"{name} did not end after the run", code="party-not-ended") from None
            if process.returncode != 0:
                raise _error_of(process.returncode, printed) or _unknown(name)

    def messages(self) -> list[Message]:
        """All messages of the run, each once, in the order in which they were sent."""
        found = []
        for name in self._study.members:
            log = json.loads((self._folder / name / "messages.json").read_text(encoding="utf-8"))
            found += [Message(**entry) for entry in log if entry["sender"] == name]
        return sorted(found, key=lambda message: message.seconds)

    def _process(self, name: str, words: Sequence[str], record: Path | None) -> subprocess.Popen[str]:
        folder = self._folder / name
        options = ["--folder", str(folder), "--log", str(folder / "messages.json"), "--json", "--quiet"]
        options += [] if record is None else ["--record", str(record)]
        command = [sys.executable, "-m", "kohorte.cli.main", "party", *words, *options]
        return subprocess.Popen(  # noqa: S603 - the same program
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
            env=os.environ,
        )

    def _error(self, code: int, printed: str) -> KohorteError:
        """The error that ended the run: that of the member where it began, not of those that were told to stop."""
        self._end_all(wait=ENDING / 2)
        told = [
            _error_of(process.returncode, process.stdout.read() if process.stdout else "")
            for process in self._processes.values()
        ]
        others = [error for error in told if error is not None]
        first = [error for error in others if not error.code.startswith("party-")]
        found = [*first, *filter(None, [_error_of(code, printed)]), *others]
        return found[0] if found else _unknown([*self._failed, self._study.finisher][0])

    def _end_all(self, first: subprocess.Popen[str] | None = None, *, wait: float = 0.0) -> None:
        deadline = time.monotonic() + wait
        for process in (*(() if first is None else (first,)), *self._processes.values()):
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _error_of(code: int | None, printed: str) -> KohorteError | None:
    """The error that a process printed as JSON."""
    try:
        told = json.loads(printed.strip().splitlines()[-1])
        error = ERRORS.get(code or 0, EngineError)(str(told["message"]), code="party-process")
        error.code = str(told["error"])  # the code that the process itself gave
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return error


def _unknown(name: str) -> KohorteError:
    return EngineError(f"the process of {name} ended without saying why", code="party-process")


def _ports(names: Sequence[str]) -> list[tuple[str, int]]:
    """A free port for each name; they are free until somebody else takes them, so all are chosen at once."""
    with ExitStack() as stack:
        found = []
        for name in names:
            own = stack.enter_context(socket.socket())
            own.bind(("127.0.0.1", 0))
            found.append((name, int(own.getsockname()[1])))
        return found
