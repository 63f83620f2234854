"""docs/how-to/run-two-houses.md, followed word by word on four machines: two houses, a clinic and a database.

Quick tests of the same parts are in tests/end_to_end/service/test_patients.py, test_domains.py and test_way_back.py.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from kohorte.trust.store import ENVIRONMENT
from support.serving import serving

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "run-two-houses.md").read_text(encoding="utf-8")
BLOCKS = {
    kind: re.findall(rf"^```{kind}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE) for kind in ("sh", "python")
}
SETTINGS = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
PASSWORD = "three sparrows on a wire"
MACHINES = ("house-a", "house-b", "clinic", "database")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, ("openssl", "curl", "jq"))), reason="the page uses openssl, curl and jq"
    ),
]


class Walk:
    """Four machines that share nothing but the files that are sent."""

    def __init__(self, root: Path) -> None:
        self.root, self.shell, self.python = root, iter(BLOCKS["sh"]), iter(BLOCKS["python"])
        self.addresses: dict[str, str] = {}
        for machine in MACHINES:
            (root / machine).mkdir()

    def at(self, machine: str) -> Path:
        return self.root / machine

    def send(self, name: str, machine: str, *others: str) -> None:
        for other in others:
            shutil.copyfile(self.at(machine) / name, self.at(other) / name)

    def here(self, text: str) -> str:
        """The same commands for houses on this machine."""
        for house, address in self.addresses.items():
            text = text.replace(f"https://{house}.example.org:8470", address)
        return re.sub(r"DNS:house-[ab]\.example\.org", "IP:127.0.0.1", text)

    def run(self, machine: str, *typed: str, script: str | None = None) -> str:
        """Run the next commands of the page; people type what they are asked for."""
        kohorte = (
            f'kohorte() {{ case "$*" in *--certificate\\ *) {sys.executable} -m kohorte.cli.main "$@";; '
            f'"user create"*) echo {PASSWORD!r} | {sys.executable} -m kohorte.cli.main "$@" --password-stdin;; '
            f'*) {sys.executable} -m kohorte.cli.main "$@";; esac; }}'
        )
        wanted = self.here(next(self.shell) if script is None else script)
        command = ["/bin/bash", "-c", f"set -euo pipefail\n{kohorte}\n{wanted}"]
        entered = "".join(f"{line}\n" for line in typed)
        ran = subprocess.run(command, cwd=self.at(machine), input=entered, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, wanted + ran.stdout[-2000:] + ran.stderr[-2000:]
        return ran.stdout

    def run_python(self, machine: str) -> None:
        program = self.here(next(self.python))
        subprocess.run([sys.executable, "-c", program], cwd=self.at(machine), check=True)

    def serve(self, stack: ExitStack, house: str) -> None:
        """Start the server with the options of the page, but on a free port of this machine."""
        *first, serve = next(self.shell).replace("\\\n", " ").strip().splitlines()
        for line in first:
            self.run(house, script=line)
        words = serve.split()
        assert words[:4] == ["kohorte", "serve", "--folder", house]
        assert words[4:6] == ["--host", "0.0.0.0"]
        files = [word if word.startswith("--") else str(self.at(house) / word) for word in words[6:]]
        self.addresses[house] = stack.enter_context(serving(self.at(house) / house, *files)).address


def test_two_houses_follow_the_how_to_from_empty_folders_to_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    walk = Walk(tmp_path)
    for machine in ("house-a", "house-b", "clinic", "database"):
        walk.run(machine)
    walk.send("clinic.pem", "clinic", "house-a")
    walk.send("database.pem", "database", "house-a", "house-b")
    walk.send("house-a.pem", "house-a", "clinic", "database")
    walk.send("house-b.pem", "house-b", "database")
    assert re.search(r"^ *9 +database@example.org", walk.run("house-a"), flags=re.MULTILINE)
    (walk.at("house-a") / "house-a" / "service.yaml").write_text(SETTINGS[0], encoding="utf-8")
    with ExitStack() as stack:
        walk.serve(stack, "house-a")
        walk.run("house-b")
        (walk.at("house-b") / "house-b" / "service.yaml").write_text("only: [pseudonyms]\n", encoding="utf-8")
        walk.serve(stack, "house-b")
        domain = next(walk.shell)
        assert '"study"' in walk.run("house-b", PASSWORD, script=domain)

        walk.run_python("clinic")
        walk.send("visits.csv", "clinic", "database")
        walk.run_python("database")
        with (walk.at("database") / "research.csv").open(encoding="utf-8") as file:
            ((psn, diagnosis),) = [tuple(row.values()) for row in csv.DictReader(file)]
        assert diagnosis == "E11"

        sign_in = domain.partition("tom=")[0]
        asked = walk.run("house-b", *[PASSWORD] * 3, psn, script=sign_in + next(walk.shell))
        found = re.search(r'"original": ?"([0-9A-Z]{8})"', asked)
        assert found, asked
        walk.run("database", script="kohorte envelope keys physician")
        walk.send("physician.pub", "database", "house-a")
        walk.run("house-a", *[PASSWORD] * 3, found[1])
        walk.send("to-physician.sealed", "house-a", "database")
        walk.run("database")
        person = (walk.at("database") / "person.csv").read_text(encoding="utf-8")
        assert "Eichhorst" in person
        assert next(walk.shell, None) is None
    for house, texts in (("house-a", (psn,)), ("house-b", ("Eichhorst", found[1]))):
        disk = b"".join(path.read_bytes() for path in walk.at(house).rglob("*") if path.is_file())
        assert not [text for text in texts if text.encode() in disk]
