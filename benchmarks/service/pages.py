"""Time to the first byte of every page of the web interface, for every role, on the data of the demonstration."""

from __future__ import annotations

import html
import re
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks.report import Line
from testbed.screenshots import demonstration

SECONDS = 0.1
TIMES = 7
MOST_ALIKE = 3
"""Of pages that differ only in numbers, so many are fetched."""
LINK = re.compile(r'href="(/app[^"#]*)"')
FILES = re.compile(r"/static/|/certificate|/csv$|/file$|\.(?:csv|yaml|json)$")
"""What is not a page."""


@dataclass
class Walk:
    """All pages that a person reaches by links, and the seconds until the first byte of each, fetched several times."""

    client: httpx.Client
    found: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def go(self) -> None:
        """Fetch every page, beginning with the home page; the first time of a page is not counted."""
        waiting, alike = deque(["/app"]), {"/app": 1}
        while waiting:
            path = waiting.popleft()
            text = self._fetched(path)
            for link in map(html.unescape, LINK.findall(text)):
                kind = re.sub(r"\d+", "0", link)
                if link not in self.found and link not in waiting and not FILES.search(link.partition("?")[0]):
                    alike[kind] = alike.get(kind, 0) + 1
                    if alike[kind] <= MOST_ALIKE:
                        waiting.append(link)

    def _fetched(self, path: str) -> str:
        times, text = [], ""
        for _ in range(1 + TIMES):
            began = time.perf_counter()
            with self.client.stream("GET", path) as answer:
                times.append(time.perf_counter() - began)
                text = answer.read().decode()
                if answer.status_code != 200 and path not in self.wrong:
                    self.wrong.append(f"{path} ({answer.status_code})")
        self.found[path] = times[1:]
        return text


def lines() -> Iterator[Line]:
    """Walk all pages with every account of the demonstration; a line for each, with its slowest pages."""
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder)) as (address, passwords):
        for who, password in passwords.items():
            with httpx.Client(base_url=address, timeout=60, follow_redirects=False) as client:
                given = {"email_address": f"{who}@example.org", "password": password}
                client.post("/app/sign-in", data=given)
                walk = Walk(client)
                walk.go()
            yield _line(who, walk)


def _line(who: str, walk: Walk) -> Line:
    medians = {path: float(np.median(times)) for path, times in walk.found.items()}
    slowest = sorted(medians, key=lambda path: -medians[path])[:3]
    p95 = {path: float(np.quantile(walk.found[path], 0.95)) for path in slowest}
    told = ", ".join(f"{path} {medians[path] * 1e3:.0f} (p95 {p95[path] * 1e3:.0f})" for path in slowest)
    broken = f"; BROKEN: {', '.join(walk.wrong)}" if walk.wrong else ""
    what = f"first byte of {len(medians)} pages, {who}: slowest median"
    return Line(what, not walk.wrong, max(medians.values()), SECONDS, f"ms: {told}{broken}")
