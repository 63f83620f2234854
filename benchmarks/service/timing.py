"""Whether the time of an answer tells who is in a list: known and new people, asked for in turn over HTTP.

The figure is the area under the curve (AUC): how often the answer to a new person takes longer than that to a known
one. One half says nothing; one says everything.
"""

from __future__ import annotations

import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from statistics import median

import httpx
import numpy as np

from benchmarks.report import Line
from kohorte.patients.identity import FIELDS
from kohorte.patients.temp_ids import TOKEN_BYTES
from kohorte.trust.pid import pid_of
from testbed.identities import people
from testbed.running import PASSWORD, running

SAMPLES = 150
KNOWN = 500
HELD, AT_ONCE = 0.5, 0.0001
"""The setting `answer_seconds`: its default, and one that holds nothing back."""
MOST_AUC = 0.6
ROLES = ("trustee", "source", "recipient")
Call = Callable[[bool], None]


def main(arguments: Sequence[str]) -> int:
    """Measure without and with held answers; fails if those tell too much. An argument is the number of samples."""
    samples = int(arguments[0]) if arguments else SAMPLES
    wrong = False
    for seconds in (AT_ONCE, HELD):
        for line in _measured(seconds, samples):
            print(line.text(), flush=True)
            wrong = wrong or not line.right
    return int(wrong)


def _measured(seconds: float, samples: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder) / "service", seconds) as clients:
        for what, call in _calls(clients, samples):
            taken: defaultdict[bool, list[float]] = defaultdict(list)
            order = random.Random(1)  # noqa: S311 - repeatable, not secret
            for _ in range(samples):
                for is_new in order.sample((False, True), 2):
                    began = time.perf_counter()
                    call(is_new)
                    taken[is_new].append(time.perf_counter() - began)
            auc = _auc(taken[False], taken[True])
            yield Line(
                f"{what}, {'held back' if seconds == HELD else 'at once'}",
                right=seconds != HELD or max(auc, 1 - auc) <= MOST_AUC,
                seconds=median(taken[True]),
                target=2 * HELD,
                note=f"AUC {auc:.2f}; known {median(taken[False]) * 1e3:.1f} ms",
            )


def _calls(clients: dict[str, httpx.Client], samples: int) -> Iterator[tuple[str, Call]]:
    """What a source asks for, TempIDs of people and pseudonyms of a list, and what a recipient is refused."""
    drawn = [dict(zip(FIELDS, astuple(one), strict=True)) for one in people(KNOWN + samples)]
    known, new = drawn[:KNOWN], iter(drawn[KNOWN:])
    source, order = clients["source"], random.Random(2)  # noqa: S311 - repeatable, not secret
    recipient = clients["recipient"].get("/users/me").json()["user_id"]
    registered = clients["trustee"].post("/patients/registrations", json={"people": known}).raise_for_status().json()
    pids = [one["pid"] for one in registered["registrations"]]
    wish = {"pids": pids, "recipient": recipient}
    tokens = clients["trustee"].post("/patients/temp-ids", json=wish).raise_for_status().json()["temp_ids"]
    clients["recipient"].post("/patients/temp-ids/resolve", json={"temp_ids": tokens}).raise_for_status()
    strangers = [one for one in map(pid_of, range(KNOWN + samples)) if one not in pids]
    clients["trustee"].post("/domains", json={"name": "study", "kind": "list"}).raise_for_status()
    texts = [f"known {number}" for number in range(KNOWN)]
    clients["trustee"].post("/domains/study/pseudonyms", json={"originals": texts}).raise_for_status()
    others = (f"new {number}" for number in range(10**9))

    def register(is_new: bool) -> None:
        person = next(new) if is_new else order.choice(known)
        body = {"people": [person], "temp_ids_for": recipient}
        source.post("/patients/registrations", json=body).raise_for_status()

    def pseudonymize(is_new: bool) -> None:
        text = next(others) if is_new else order.choice(texts)
        source.post("/domains/study/pseudonyms", json={"originals": [text]}).raise_for_status()

    def export(is_new: bool) -> None:
        pid = order.choice(strangers if is_new else pids)
        body = {"purpose": "research", "project": "p", "pids": [pid]}
        answer = clients["recipient"].post("/patients/exports", json=body).raise_for_status()
        assert answer.json()["people"] == []

    def resolve(is_new: bool) -> None:
        token = secrets.token_hex(TOKEN_BYTES) if is_new else order.choice(tokens)
        answer = clients["recipient"].post("/patients/temp-ids/resolve", json={"temp_ids": [token]})
        assert answer.json()["code"] == "temp-id-refused"

    yield "registration of one person", register
    yield "pseudonym of one text of a list", pseudonymize
    yield "consent of one person who did not agree", export
    yield "refusal of a used TempID", resolve


@contextmanager
def _service(folder: Path, seconds: float) -> Iterator[dict[str, httpx.Client]]:
    folder.mkdir(mode=0o700)
    settings = {"answer_seconds": seconds, "access_minutes": 600}
    (folder / "service.yaml").write_text(json.dumps(settings))
    with running(folder) as service:
        for role in ROLES:
            command = [sys.executable, "-m", "kohorte.cli.main", "user", "create", f"{role}@example.com"]
            options = ["--name", role, "--role", role, "--folder", str(folder), "--password-stdin"]
            subprocess.run([*command, *options], input=PASSWORD, text=True, check=True, capture_output=True)
        yield {role: service.signed_in(f"{role}@example.com") for role in ROLES}


def _auc(known: Sequence[float], new: Sequence[float]) -> float:
    first, second = np.array(known)[:, None], np.array(new)[None, :]
    return float(((second > first) + 0.5 * (second == first)).mean())
