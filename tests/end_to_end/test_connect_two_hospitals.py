"""docs/how-to/connect-two-hospitals.md, followed word by word by two houses with a server each.

Quick tests of the same parts are in tests/unit/exchange/peers; the files are those of docs/how-to/check-a-request.md,
which tests/docs runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from kohorte.trust.store import ENVIRONMENT
from support.serving import serving
from testbed.running import free_port

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (HOW_TO / "connect-two-hospitals.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
FILES = re.search(
    r"^```python\n(.*?)^```", (HOW_TO / "check-a-request.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
PASSWORD = "twelve characters or more"
NUMBER = r"[0-9a-f]{32}"
NAMES = {"a": "institute-a", "b": "hospital-b"}


def run(house: Path, script: str) -> str:
    """Run commands in the folder of a house; people who are asked for a password type their own."""
    command = f'{sys.executable} -m kohorte.cli.main "$@"'
    typed = {"decide": "$6", "add-person": "$3"}  # where the command has the name of the person
    asked = [
        f'{verb}) echo "{PASSWORD} $(rev <<< "{name}")" | {command} --password-stdin;;' for verb, name in typed.items()
    ]
    kohorte = f'kohorte() {{ case "$2" in {" ".join(asked)} *) {command};; esac; }}'
    ran = subprocess.run(
        ["/bin/bash", "-c", f"set -eu\n{kohorte}\n{script}"], cwd=house, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return ran.stdout


@pytest.mark.slow
def test_two_houses_follow_the_how_to_from_empty_folders_to_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    own_a, own_b, knows_b, knows_a, served, ask, decide, read = SHELL
    a, b = tmp_path / "a", tmp_path / "b"
    for house in (a, b):
        house.mkdir()
    prints = {
        name: run(house, own).split("fingerprint: ")[1].strip()
        for name, house, own in (("a", a, own_a), ("b", b, own_b))
    }
    (b / "institute-a.pem").write_bytes((a / "institute-a.pem").read_bytes())
    (a / "hospital-b.pem").write_bytes((b / "hospital-b.pem").read_bytes())
    assert FILES is not None
    for house in (a, b):
        run(house, f"{sys.executable} - <<'END'\n{FILES[1]}\nEND")
    assert served.startswith("kohorte serve --folder service --only exchange ")
    with ExitStack() as stack:
        ports = {name: free_port() for name in NAMES}
        for name, house in (("a", a), ("b", b)):
            stack.enter_context(serving(house / "service", "--only", "exchange", "--port", str(ports[name])))
        for house, other, script in ((a, "b", knows_b), (b, "a", knows_a)):
            address = f"https://exchange.{NAMES[other]}.example:8470"
            assert address in script
            here = script.replace(address, f"https://127.0.0.1:{ports[other]}")
            run(house, re.sub("sha256:[0-9a-f]{64}", prints[other], here))
        asked = run(a, ask)
        assert "delivered" in asked
        prepared = "kohorte exchange statistics import --shipped --folder service/exchange"
        people = (
            f"kohorte reidentify add-person {name} --role approver --folder service/exchange"
            for name in ("Ben", "Cleo")
        )
        run(b, "\n".join([prepared, *people]))
        assert "decided: release; 2 of 2 have decided" in run(b, decide)
        [number] = set(re.findall(NUMBER, asked))
        assert "verdict: amber" in run(a, re.sub(NUMBER, number, read))
