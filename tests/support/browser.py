"""A real browser in tests: Debian's Chromium, driven by Playwright, on a service in the same process."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from kohorte.service.context import Service
from kohorte.service.web.app import create_app
from support.service import PASSWORD

AXE = Path(__file__).parents[2] / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"width": 390, "height": 844}
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser for all tests of a process; every test opens contexts of its own."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()


@contextmanager
def served(service: Service, port: int = 0) -> Iterator[str]:
    """Serve a service on a port of this machine, by default a free one, and return its address."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


@contextmanager
def opened(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """Open a page in a context of its own; anything that the browser complains about fails the test."""
    context = browser.new_context(base_url=address, **options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page
        assert [one for one in complaints if "status of 4" not in one] == []
    finally:
        context.close()


def sign_in(page: Page, email_address: str, password: str = PASSWORD) -> None:
    """Sign in as a person would."""
    page.goto("/app/sign-in")
    page.fill("#email_address", email_address)
    page.fill("#password", password)
    page.click("main button[type=submit]")
    page.wait_for_url("**/app*")


def look(page: Page) -> None:
    """Fail if axe-core has serious findings, or if the page has to be moved sideways on a phone."""
    if AXE.exists():
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(
            "axe.run().then(result => result.violations.map(one => [one.impact, one.id, one.nodes[0].html]))"
        )
        assert [one for one in found if one[0] in SERIOUS] == [], page.url
    before = page.viewport_size
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page.url
    page.set_viewport_size(before)  # type: ignore[arg-type]
