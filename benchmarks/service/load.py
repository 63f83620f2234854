"""Many clients at once: `python -m benchmarks load`. Answers are counted, and every epsilon is accounted for."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks.report import Line
from benchmarks.service.postgresql import postgresql
from kohorte.release import versions
from testbed import patients, story
from testbed.running import RESEARCHER, UNLIMITED, Running, running

ROWS = 10_000
EPSILON = 0.001
BUDGET = 100.0
MOST_P99 = 1.0
AGES, GROUPS = range(100), patients.BLOOD_GROUPS
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "load.md"
TEXT = """\
# The research service with many clients at once

Written by `python -m benchmarks load` ({used}; two cores for server, worker, database and clients together; one server
process). Every client sends one small query after the other, `SELECT COUNT(*) ... WHERE ...` on 10,000 rows, each
different from all others, for 60 s (50 clients) or 30 s (200 clients). PostgreSQL and SQLite both wait for the disk. At
the end the ledger is compared with the answers to the clients: every epsilon is accounted for, none is spent twice. The
table gives the time within which 99 of 100 answers arrived:

| | p99 | answers, by status; what was paid |
|---|---|---|
{rows}
"""


@dataclass
class Counts:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    paid: int = 0

    @property
    def p99(self) -> float:
        """The time within which 99 of 100 answers came."""
        return float(np.quantile(self.seconds, 0.99)) if self.seconds else float("inf")


def questions(seed: int) -> list[str]:
    """Small questions, each different from all others."""
    found = [
        f"SELECT COUNT(*) FROM PRIORI WHERE age >= {first} AND age <= {last} AND blood_type = '{group}'"  # noqa: S608
        for first, last, group in itertools.product(AGES, AGES, GROUPS)
        if first <= last
    ]
    np.random.default_rng(seed).shuffle(found)
    return found


def main() -> int:
    """Run all loads and print a line each."""
    lines = []
    for database in ("sqlite", "postgresql"):
        for clients, seconds in ((50, 60.0), (200, 30.0)):
            lines.append(loaded(database, clients=clients, seconds=seconds))
            print(lines[-1].text(), flush=True)
    rows = "\n".join(f"| {line.what} | {line.seconds:.2f} s | {line.note} |" for line in lines)
    used = ", ".join(f"{name} {value}" for name, value in versions().items())
    PAGE.write_text(TEXT.format(used=used, rows=rows), encoding="utf-8")
    return 0 if all(line.right and line.within for line in lines) else 1


def loaded(database: str, *, clients: int, seconds: float) -> Line:
    """Ask with so many clients for so long, then compare what was paid with what the ledger says."""
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql(database) as address,
        running(Path(folder) / "service", database=address, rules=UNLIMITED) as service,
    ):
        service.set_up()
        project_id = _project(service)
        counts = asyncio.run(_ask(service, project_id, clients=clients, seconds=seconds))
        with service.signed_in(RESEARCHER["email_address"]) as client:
            spent = client.get(f"/projects/{project_id}/budget").json()["spent"]["epsilon"]
    exact = abs(spent - counts.paid * EPSILON) < EPSILON / 2
    right = exact and counts.lost == 0 and all(status < httpx.codes.INTERNAL_SERVER_ERROR for status in counts.statuses)
    answers = sum(counts.statuses.values())
    note = f"{answers / seconds:.0f} answers/s, {dict(counts.statuses)}, {counts.paid} paid, epsilon {spent:.3f} spent"
    return Line(f"{database}: p99 of {clients} clients", right, counts.p99, MOST_P99 if clients <= 50 else 60, note)


def _project(service: Running) -> int:
    with service.signed_in() as steward:
        found = story.dataset(steward, patients.csv(ROWS)), story.researcher(steward)
        return story.project(steward, *found, patients.interactive_config(BUDGET, 1e-6))


async def _ask(service: Running, project_id: int, *, clients: int, seconds: float) -> Counts:
    counts, waiting = Counts(), iter(questions(clients))
    with service.signed_in(RESEARCHER["email_address"]) as signed_in:
        headers = {"Authorization": signed_in.headers["Authorization"]}
    until = time.monotonic() + seconds
    async with contextlib.AsyncExitStack() as stack:
        made = (httpx.AsyncClient(base_url=service.url, headers=headers, timeout=60) for _ in range(clients))
        opened = [await stack.enter_async_context(client) for client in made]
        path = f"/api/v1/projects/{project_id}/analyze"
        await asyncio.gather(*(_client(client, path, waiting, until, counts) for client in opened))
    return counts


async def _client(client: httpx.AsyncClient, path: str, waiting: Iterator[str], until: float, counts: Counts) -> None:
    """One client with a connection of its own: a pool that clients share lets some of them wait."""
    while time.monotonic() < until:
        started = time.perf_counter()
        try:
            answer = await client.post(path, json={"query": next(waiting), "epsilon": EPSILON, "delta": 0})
        except httpx.TransportError:
            counts.lost += 1
            continue
        counts.statuses[answer.status_code] += 1
        if answer.status_code == httpx.codes.OK:
            counts.seconds.append(time.perf_counter() - started)
            counts.paid += not answer.json()["from_record"]
