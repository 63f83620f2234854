"""Previews of plans on ADULT over HTTP: one user, ten at once, and the memory of the server under that load."""

from __future__ import annotations

import asyncio
import csv
import itertools
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import kohorte as ko
from benchmarks.report import Line
from testbed import story
from testbed.running import Running, running
from testbed.tables import DATA, QUASI_IDENTIFIERS

ALONE_SECONDS, TOGETHER_SECONDS = 1.0, 3.0
USERS, EACH, ALONE = 10, 12, 60
MOST_MEGABYTES = 1_024
"""The server itself, 512 MiB of kept tables, and the two previews that are computed at the same time."""
SETTINGS = tuple(itertools.product((2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100), (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30)))


@dataclass(frozen=True)
class Previews:
    """A running service with ADULT, and plans that differ in k and in the suppression limit."""

    service: Running
    path: str
    attributes: dict[str, Any]

    @classmethod
    def of(cls, service: Running) -> Previews:
        """Upload the table."""
        service.set_up()
        with service.signed_in() as steward:
            number = story.dataset(steward, (DATA / "adult.csv").read_bytes(), name="ADULT")
        names = QUASI_IDENTIFIERS["adult"]
        attributes = {name: {"role": "quasi-identifying", "hierarchy": {"rows": _rows(name)}} for name in names}
        return cls(service, f"/api/v1/datasets/{number}/evaluate", attributes)

    def plan(self, k: int, percent: int) -> dict[str, Any]:
        """The plan with one setting."""
        models = [{"model": "k-anonymity", "k": k}]
        about = {"person": "none", "suppression_limit": percent / 100}
        return {"kohorte": 1, "attributes": self.attributes, "models": models, **about}

    def right(self, answers: Iterable[tuple[tuple[int, int], dict[str, Any]]]) -> bool:
        """Whether some of the answers are what `anonymize` gives."""
        frame = ko.read_table(DATA / "adult.csv").frame
        for setting, answer in itertools.islice(answers, 4):
            release = ko.anonymize(frame, ko.Plan.from_dict(self.plan(*setting)))
            if (answer["cost"], answer["suppressed"]) != (release.cost, release.suppressed) or not answer["optimal"]:
                return False
        return True

    @property
    def peak(self) -> float:
        """The most memory that the server and the processes that it started have had so far, in MB."""
        states = [path.read_text(encoding="utf-8") for path in Path("/proc").glob("[0-9]*/status")]
        found = {int(_figure("Pid", one)): (int(_figure("PPid", one)), int(_figure("VmHWM", one))) for one in states}
        family, waiting = 0, [self.service.process.pid]
        while waiting:
            number = waiting.pop()
            family += found[number][1]
            waiting += [child for child, (parent, _) in found.items() if parent == number]
        return family * 1024 / 1e6


def lines() -> Iterator[Line]:
    """Measure both, each with settings that were not asked for before."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "service") as service:
        previews = Previews.of(service)
        waiting = iter(np.random.default_rng(1).permutation(SETTINGS).tolist())
        asyncio.run(_asked(previews, [[next(waiting)]]))  # the table is decrypted once
        alone = asyncio.run(_asked(previews, [[next(waiting) for _ in range(ALONE)]]))
        yield _line("preview of ADULT, one user: p95", previews, alone, ALONE_SECONDS)
        loads = [[SETTINGS[(11 * user + 7 * step) % len(SETTINGS)] for step in range(EACH)] for user in range(USERS)]
        together = asyncio.run(_asked(previews, loads))
        yield _line(f"preview of ADULT, {USERS} users at once: p95", previews, together, TOGETHER_SECONDS)


Answers = list[tuple[tuple[int, int], float, dict[str, Any]]]


def _line(what: str, previews: Previews, answers: Answers, most: float) -> Line:
    times = [seconds for _, seconds, _ in answers]
    right = previews.right((setting, answer) for setting, _, answer in answers)
    note = f"{len(answers)} previews, median {np.median(times):.2f} s, longest {max(times):.2f} s"
    p95 = float(np.quantile(times, 0.95))
    return Line(what, right, p95, most, note, megabytes=previews.peak, megabytes_target=MOST_MEGABYTES)


async def _asked(previews: Previews, loads: Sequence[Sequence[Sequence[int]]]) -> Answers:
    with previews.service.signed_in() as steward:
        headers = {"Authorization": steward.headers["Authorization"]}
    found: Answers = []

    async def user(settings: Sequence[Sequence[int]]) -> None:
        async with httpx.AsyncClient(base_url=previews.service.url, headers=headers, timeout=120) as client:
            for k, percent in settings:
                began = time.perf_counter()
                answer = await client.post(previews.path, json={"plan": previews.plan(k, percent)})
                answer.raise_for_status()
                found.append(((k, percent), time.perf_counter() - began, answer.json()))

    await asyncio.gather(*(user(settings) for settings in loads))
    return found


def _figure(name: str, state: str) -> str:
    found = re.search(rf"^{name}:\s+(\d+)", state, re.MULTILINE)
    return found[1] if found else "0"


def _rows(name: str) -> list[list[str]]:
    path = DATA / "hierarchies" / f"adult_hierarchy_{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))
