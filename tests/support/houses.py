"""Houses that exchange files and share nothing else: each has a folder of its own and runs the command in it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nacl.pwhash import argon2id

from kohorte.cli.main import main
from kohorte.trust import passwords
from kohorte.trust.folder import TrustFolder
from kohorte.trust.people import People, Task

PASSWORD = "three sparrows on a wire"


def password_of(name: str) -> str:
    """The password of a person; two people have two."""
    return f"{PASSWORD} {sum(map(ord, name))}"


Command = Callable[[Path, list[str], str], tuple[int, str]]


def in_a_process(folder: Path, words: list[str], entered: str) -> tuple[int, str]:
    """Run the command in a process of its own; returns its code and all it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KOHORTE_")}
    ran = subprocess.run(
        [sys.executable, "-m", "kohorte.cli.main", *words],
        cwd=folder,
        env=environment,
        input=entered.encode(),
        capture_output=True,
        check=False,
    )
    return ran.returncode, (ran.stdout + ran.stderr).decode()


def in_this_process(folder: Path, words: list[str], entered: str) -> tuple[int, str]:
    """Run the command here, which is faster."""
    before, streams = Path.cwd(), (sys.stdin, sys.stdout, sys.stderr)
    os.chdir(folder)
    printed = io.StringIO()
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(entered), printed, printed
    try:
        code = main(words)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(before)
    return code, printed.getvalue()


@dataclass
class Houses:
    """A few houses; `printed` is all that was printed in each."""

    root: Path
    command: Command
    printed: dict[str, str] = field(default_factory=dict)

    @property
    def is_fast(self) -> bool:
        """Whether no processes are started, so that there is time to check more."""
        return self.command is in_this_process

    def at(self, house: str) -> Path:
        """The folder of a house."""
        folder = self.root / house
        folder.mkdir(exist_ok=True)
        return folder

    def run(self, house: str, words: str, *, code: int = 0, entered: str = "") -> str:
        """Run a command in a house; returns what it printed."""
        found, text = self.command(self.at(house), words.split(), entered)
        self.printed[house] = self.printed.get(house, "") + text
        assert found == code, f"{house}: {words}: {text}"
        return text

    def json(self, house: str, words: str) -> dict[str, Any]:
        """Run a command in a house; returns its JSON object."""
        found: dict[str, Any] = json.loads(self.run(house, f"{words} --json"))
        return found

    def send(self, name: str, house: str, other: str) -> None:
        """Send a file to another house."""
        shutil.copyfile(self.at(house) / name, self.at(other) / name)

    def keys(self, house: str, *others: str) -> None:
        """Make the envelope keys of a house, and send the public one to others."""
        in_this_process(self.at(house), ["envelope", "keys", house], "")
        for other in others:
            self.send(f"{house}.pub", house, other)

    def people(self, house: str) -> None:
        """Give a house one person who asks and two who approve."""
        before = passwords.PASSES, passwords.MEMORY
        passwords.PASSES, passwords.MEMORY = argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN
        people = People(TrustFolder.opened(self.at(house) / "trust", create=True))
        for name, task in (("Ada", Task.REQUESTER), ("Ben", Task.APPROVER), ("Cleo", Task.APPROVER)):
            people.add(name, [task], password_of(name), actor="tester")
        passwords.PASSES, passwords.MEMORY = before

    def sign(self, house: str, words: str, person: str, *, code: int = 0) -> str:
        """Run an action of the way back as a person."""
        options = f"--as {person} --password-stdin --folder trust"
        return self.run(house, f"reidentify {words} {options}", code=code, entered=password_of(person) + "\n")

    def disk(self, house: str) -> bytes:
        """Everything that a house has, and everything it has seen printed."""
        files = (path for path in sorted(self.at(house).rglob("*")) if path.is_file())
        return b"\0".join(path.read_bytes() for path in files) + self.printed.get(house, "").encode()

    def knows(self, house: str, *texts: str) -> list[str]:
        """Which of the texts are on the disk of a house."""
        disk = self.disk(house)
        return [text for text in texts if text.encode() in disk]
