"""Many clients at once: `python -m benchmarks load`. Answers are counted, and every epsilon is accounted for."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import ssl
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks.service import bare
from benchmarks.service.postgresql import postgresql
from kohorte.release import versions
from testbed import patients, story
from testbed.running import RESEARCHER, UNLIMITED, Running, running

ROWS = 10_000
EPSILON = 0.001
BUDGET = 100.0
FEW, MANY = 50, 200
SECONDS = 30.0
AGES, GROUPS = range(100), patients.BLOOD_GROUPS
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "load.md"
TEXT = """\
# The research service with many clients at once

Written by `python -m benchmarks load{arguments}` ({used}; two cores for server, worker, database and clients together;
one server process). Every client sends one small query after the other, `SELECT COUNT(*) ... WHERE ...` on 10,000 rows,
each different from all others, for {seconds:.0f} s. PostgreSQL and SQLite both wait for the disk: one `fsync` of a few
bytes takes {fsync:.1f} ms here (median). At the end the ledger is compared with the answers to the clients: every
epsilon is accounted for, none is spent twice. *Only a row* is the limit: a server with the same HTTP that checks the
token and writes one row, which is on disk when it answers. p50 and p99 are the times within which 50 and 99 of 100
answers arrived; CPU is the time of the server with its database, and of the clients, for one answer:

| | answers/s | p50 | p99 | CPU of server, clients | answers, by status; what was paid |
|---|---|---|---|---|---|
{rows}

{words}"""
WORDS = """\
## What a query costs beyond a row

Payments for queries that wait, and answers that wait to be recorded, share a transaction
([decision 0062](../decisions/0062-payments-in-groups.md)). A query still needs some six times the CPU of a row. With
50 clients on SQLite, of the samples in which the interpreter was at work (`py-spy record --gil`, 1,167 samples), about
29 % were in HTTP, the event loop and the checks of a request (limits, strict JSON, headers, log), 26 % in parsing the
SQL and building the mechanisms, 15 % in the payment and the record with their marks and logs, 13 % in the caller, the
permission and the project, 5 % in measuring and noise, the rest in reading the ledger and making the answer. Besides,
DuckDB and SQLite work outside of the interpreter, and a quarter of the CPU was the kernel's: threads that wake each
other, and the disk.
"""


@dataclass
class Counts:
    """What clients saw."""

    clients: int
    took: float
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    paid: int = 0
    cpu: tuple[float, float] = (0.0, 0.0)

    def within(self, share: float) -> float:
        """The time within which a share of the answers came."""
        return float(np.quantile(self.seconds, share)) if self.seconds else float("inf")

    @property
    def a_second(self) -> float:
        """Answers in a second."""
        return sum(self.statuses.values()) / self.took

    def text(self) -> str:
        """As cells of the table."""
        answers = max(sum(self.statuses.values()), 1)
        server, clients = (1e3 * seconds / answers for seconds in self.cpu)
        return (
            f"{self.a_second:.0f} | {self.within(0.5):.2f} s | {self.within(0.99):.2f} s | "
            f"{server:.1f} ms, {clients:.1f} ms | {dict(self.statuses)}"
        )


@dataclass
class Measured:
    """A line of the table."""

    what: str
    counts: Counts
    right: bool
    note: str = ""

    def text(self) -> str:
        """The line."""
        return f"| {self.what} | {self.counts.text()}{self.note} |"


def questions(seed: int) -> list[str]:
    """Small questions, each different from all others."""
    found = [
        f"SELECT COUNT(*) FROM PRIORI WHERE age >= {first} AND age <= {last} AND blood_type = '{group}'"  # noqa: S608
        for first, last, group in itertools.product(AGES, AGES, GROUPS)
        if first <= last
    ]
    np.random.default_rng(seed).shuffle(found)
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Run all loads and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks load", description=__doc__)
    parser.add_argument("--before", metavar="PYTHON", help="interpreter with an earlier Kohorte, measured beside")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args(arguments)
    lines: list[Measured] = []
    for database in ("sqlite", "postgresql"):
        for line in _loads(database, options.before, options.seconds):
            print(line.text(), "" if line.right else "WRONG", flush=True)
            lines.append(line)
    rows = "\n".join(line.text() for line in lines)
    used = ", ".join(f"{name} {value}" for name, value in versions().items())
    given = " --before PYTHON" if options.before else ""
    text = TEXT.format(arguments=given, used=used, rows=rows, fsync=fsync_ms(), words=WORDS, seconds=options.seconds)
    PAGE.write_text(text, encoding="utf-8")
    return 0 if all(line.right for line in lines) else 1


def _loads(database: str, before: str | None, seconds: float) -> Iterator[Measured]:
    if before is not None:
        with _served(database, before) as load:
            yield load.queries("before", FEW, seconds)
    with _served(database) as load:
        yield load.rows(FEW, seconds)
        yield load.queries("now", FEW, seconds)
    with _served(database) as load:
        yield load.queries("now", MANY, seconds)


@dataclass
class Load:
    """A service with a project, and its database."""

    service: Running
    database: str
    address: str | None
    project_id: int

    def queries(self, when: str, clients: int, seconds: float) -> Measured:
        """Ask with so many clients for so long, then compare what was paid with what the ledger says."""
        path = f"/api/v1/projects/{self.project_id}/analyze"
        counts = self._measured(self.service.url, path, clients, seconds)
        with self.service.signed_in(RESEARCHER["email_address"]) as client:
            spent = client.get(f"/projects/{self.project_id}/budget").json()["spent"]["epsilon"]
        exact = abs(spent - counts.paid * EPSILON) < EPSILON / 2
        right = (
            exact and counts.lost == 0 and all(status < httpx.codes.INTERNAL_SERVER_ERROR for status in counts.statuses)
        )
        note = f", {counts.paid} paid, epsilon {spent:.3f} spent"
        return Measured(f"{self.database}, {clients} clients, {when}", counts, right, note)

    def rows(self, clients: int, seconds: float) -> Measured:
        """Let as many clients have a row written each."""
        with bare.beside(self.service.folder, self.address) as url:
            counts = self._measured(url, "/", clients, seconds)
        return Measured(f"{self.database}, {clients} clients, only a row", counts, set(counts.statuses) == {200})

    def _measured(self, url: str, path: str, clients: int, seconds: float) -> Counts:
        with self.service.signed_in(RESEARCHER["email_address"]) as signed_in:
            headers = {"Authorization": signed_in.headers["Authorization"]}
        counts = Counts(clients, seconds)
        servers, own = _cpu(os.getpid()), time.process_time()
        asyncio.run(_ask(url, path, headers, counts))
        own = time.process_time() - own
        counts.cpu = (_cpu(os.getpid()) - servers - own, own)
        return counts


@contextlib.contextmanager
def _served(database: str, python: str = sys.executable) -> Iterator[Load]:
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql(database) as address,
        running(Path(folder) / "service", database=address, rules=UNLIMITED, python=python) as service,
    ):
        service.set_up()
        yield Load(service, database, address, _project(service))


def _cpu(process: int) -> float:
    """The CPU time of a process and of all that it started, PostgreSQL included."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task").glob("*/children")
    below = {int(number) for file in children for number in file.read_text(encoding="utf-8").split()}
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") + sum(map(_cpu, below))


def fsync_ms() -> float:
    """How long the disk takes for a few bytes, in the middle of 200."""
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        taken = []
        for _ in range(200):
            began = time.perf_counter()
            file.write(b"a few bytes")
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - began)
    return 1e3 * float(np.median(taken))


def _project(service: Running) -> int:
    with service.signed_in() as steward:
        found = story.dataset(steward, patients.csv(ROWS)), story.researcher(steward)
        return story.project(steward, *found, patients.interactive_config(BUDGET, 1e-6))


async def _ask(url: str, path: str, headers: dict[str, str], counts: Counts) -> None:
    waiting, tls = iter(questions(counts.clients)), ssl.create_default_context()  # slow to make, and not needed here
    async with contextlib.AsyncExitStack() as stack:
        made = (httpx.AsyncClient(base_url=url, headers=headers, timeout=60, verify=tls) for _ in range(counts.clients))
        opened = [await stack.enter_async_context(client) for client in made]
        until = time.monotonic() + counts.took
        await asyncio.gather(*(_client(client, path, waiting, until, counts) for client in opened))


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
            counts.paid += not answer.json().get("from_record", True)
