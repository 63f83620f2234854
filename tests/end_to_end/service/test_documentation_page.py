"""The documentation page in a browser that has nothing but the service."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.serving import Served, serving

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ADDRESS = re.compile(r"""(?:src|href)=["']([^"']+)""")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("documentation") / "service", "--workers", "0") as found:
        yield found


@pytest.mark.slow
def test_the_page_and_its_files_come_from_the_service(served: Served) -> None:
    page = httpx.get(f"{served.address}/docs", timeout=60)
    found = ADDRESS.findall(page.text)
    assert found
    for address in found:
        assert not address.startswith(("http:", "https:", "//"))
        assert httpx.get(f"{served.address}/{address}", timeout=60).status_code == 200, address
    assert not re.search(r"<script(?![^>]*src)", page.text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["redoc.standalone.js", "..%2fcore.py", "%2e%2e/core.py", "start.js%00", "x", ""])
def test_other_files_are_not_sent(served: Served, name: str) -> None:
    assert httpx.get(f"{served.address}/docs/assets/{name}", timeout=60).status_code in (404, 405)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
def test_a_browser_shows_every_operation_without_breaking_the_policy(served: Served, tmp_path: Path) -> None:
    description: dict[str, Any] = httpx.get(f"{served.address}/openapi.json", timeout=60).json()
    expected = {one["operationId"] for path in description["paths"].values() for one in path.values()}
    shown = browse(f"{served.address}/docs", tmp_path)
    found = set(re.findall(r'id="operations-(?!tag-)[a-z]+-([a-z_]+)"', shown.stdout))
    assert found == expected
    assert "Authorize" in shown.stdout
    assert "Content Security Policy" not in shown.stderr
    assert "CONSOLE" not in shown.stderr


def browse(address: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what a browser has made of a page, and what it complained about; no name but the server's is found."""
    assert BROWSER is not None
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'browser'}",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
        "--dump-dom",
    )
    return subprocess.run([BROWSER, *options, address], capture_output=True, text=True, timeout=120, check=True)
