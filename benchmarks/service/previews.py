"""Previews of plans on ADULT over HTTP: one user, ten at once, and the memory of the server under that load."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import itertools
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
"""All processes of the service, 256 MiB of kept tables, and the two previews that are computed at the same time."""
TABLES = 8
"""So many tables are more than the service keeps in memory with what it has counted."""
SAMPLE_SECONDS = 0.2
SETTINGS = tuple(itertools.product((2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100), (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30)))


@dataclass(frozen=True)
class Previews:
    """A running service with ADULT, and plans that differ in k and in the suppression limit."""

    service: Running
    paths: tuple[str, ...]
    attributes: dict[str, Any]

    @classmethod
    def of(cls, service: Running) -> Previews:
        """Upload the table, and others that differ from it only in the order of their rows."""
        service.set_up()
        header, *rows = (DATA / "adult.csv").read_bytes().splitlines(keepends=True)
        paths = []
        with service.signed_in() as steward:
            for turned in range(TABLES):
                content = b"".join((header, *rows[turned:], *rows[:turned]))
                number = story.dataset(steward, content, name=f"ADULT {turned}")
                paths.append(f"/api/v1/datasets/{number}/evaluate")
        names = QUASI_IDENTIFIERS["adult"]
        attributes = {name: {"role": "quasi-identifying", "hierarchy": {"rows": _rows(name)}} for name in names}
        return cls(service, tuple(paths), attributes)

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
    def processes(self) -> list[int]:
        """The service and the processes that it has started."""
        parents = {}
        for path in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(_figure("PPid", path.read_text(encoding="utf-8")))
        found = [self.service.process.pid]
        for number in found:
            found += [child for child, parent in parents.items() if parent == number]
        return found

    @property
    def megabytes(self) -> float:
        """The memory of all processes of the service now; what they share counts once."""
        total = 0
        for number in self.processes:
            with contextlib.suppress(OSError):
                rolled_up = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="utf-8")
                total += int(_figure("Pss", rolled_up))
        return total * 1024 / 1e6

    @property
    def seconds_of_work(self) -> float:
        """The processor time of all processes of the service so far."""
        ticks = 0
        for number in self.processes:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
                ticks += sum(map(int, text.rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def lines() -> Iterator[Line]:
    """Measure one user, ten at once, and ten at once on more tables than are kept, each with other settings."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "service") as service:
        previews = Previews.of(service)
        waiting = iter(np.random.default_rng(1).permutation(SETTINGS).tolist())
        asyncio.run(_asked(previews, [[next(waiting)]], tables=1))  # the table is decrypted once
        alone = asyncio.run(_asked(previews, [[next(waiting) for _ in range(ALONE)]], tables=1))
        yield _line("preview of ADULT, one user: p95", previews, alone, ALONE_SECONDS)
        loads = [[SETTINGS[(11 * user + 7 * step) % len(SETTINGS)] for step in range(EACH)] for user in range(USERS)]
        together = asyncio.run(_asked(previews, loads, tables=1))
        yield _line(f"preview of ADULT, {USERS} users at once: p95", previews, together, TOGETHER_SECONDS)
        scattered = asyncio.run(_asked(previews, loads, tables=TABLES))
        what = f"preview of {TABLES} tables like ADULT, {USERS} users at once: p95"
        yield _line(what, previews, scattered, TOGETHER_SECONDS)


@dataclass
class Asked:
    """Previews with their answers and times, and what the service needed for all of them."""

    answers: list[tuple[tuple[int, int], float, dict[str, Any]]] = field(default_factory=list)
    megabytes: float = 0.0
    seconds_of_work: float = 0.0


def _line(what: str, previews: Previews, asked: Asked, most: float) -> Line:
    times = [seconds for _, seconds, _ in asked.answers]
    right = previews.right((setting, answer) for setting, _, answer in asked.answers)
    work = asked.seconds_of_work / len(times)
    median, longest = np.median(times), max(times)
    note = f"{len(times)} previews, median {median:.2f} s, longest {longest:.2f} s, processor time {work:.3f} s each"
    p95 = float(np.quantile(times, 0.95))
    return Line(what, right, p95, most, note, megabytes=asked.megabytes, megabytes_target=MOST_MEGABYTES)


async def _asked(previews: Previews, loads: Sequence[Sequence[Sequence[int]]], *, tables: int) -> Asked:
    with previews.service.signed_in() as steward:
        headers = {"Authorization": steward.headers["Authorization"]}
    asked, began_with = Asked(), previews.seconds_of_work

    async def user(number: int, settings: Sequence[Sequence[int]]) -> None:
        path = previews.paths[number % tables]
        async with httpx.AsyncClient(base_url=previews.service.url, headers=headers, timeout=120) as client:
            for k, percent in settings:
                began = time.perf_counter()
                answer = await client.post(path, json={"plan": previews.plan(k, percent)})
                answer.raise_for_status()
                asked.answers.append(((k, percent), time.perf_counter() - began, answer.json()))

    async def watch() -> None:
        while True:
            asked.megabytes = max(asked.megabytes, previews.megabytes)
            await asyncio.sleep(SAMPLE_SECONDS)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(user(number, settings) for number, settings in enumerate(loads)))
    watching.cancel()
    asked.seconds_of_work = previews.seconds_of_work - began_with
    return asked


def _figure(name: str, state: str) -> str:
    found = re.search(rf"^{name}:\s+(\d+)", state, re.MULTILINE)
    return found[1] if found else "0"


def _rows(name: str) -> list[list[str]]:
    path = DATA / "hierarchies" / f"adult_hierarchy_{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))
