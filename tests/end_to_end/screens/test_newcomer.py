"""A newcomer with the demonstration: from the sign-in page to a downloaded release of a table of their own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

import kohorte as ko
from support.browser import look, opened, sign_in

pytestmark = pytest.mark.slow


@pytest.fixture
def demonstration(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """`kohorte demo --serve`: its address and the passwords that it prints."""
    command = [sys.executable, "-m", "kohorte.cli.main", "demo", "--serve", "--rows", "1000", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("serving on "):
                break
        address = re.search(r"serving on (\S+) ", text)
        assert address is not None, text
        yield address[1], dict(re.findall(r"(\S+@example\.org)\s+(\S+)", text))
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def test_from_the_sign_in_page_to_a_verified_download(
    demonstration: tuple[str, dict[str, str]], chromium: Browser, tmp_path: Path
) -> None:
    address, passwords = demonstration
    table = tmp_path / "mine.csv"
    ko.cohort(700, seed=9).write_csv(table)
    with opened(chromium, address) as page:
        sign_in(page, "steward@example.org", passwords["steward@example.org"])
        page.get_by_role("link", name="Data").click()
        page.get_by_role("link", name="Upload a table").click()
        page.set_input_files("#file", table)
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("The table has been stored, encrypted.")).to_be_visible(timeout=60_000)
        look(page)
        page.get_by_role("link", name="Make a plan for a release").click()
        expect(page.locator("[data-figure=suppressed]")).to_be_visible(timeout=60_000)
        page.fill("#name", "My release")
        page.select_option("#researcher", label="Rosa Researcher, Made-up Hospital")
        page.get_by_role("button", name="Create the project").click()
        expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=120_000)
        page.get_by_role("link", name="The project of this job").click()
        expect(page.get_by_role("heading", name="The certificate")).to_be_visible()
        look(page)
    with opened(chromium, address, accept_downloads=True) as page:
        sign_in(page, "researcher@example.org", passwords["researcher@example.org"])
        page.get_by_role("link", name="Projects", exact=True).click()
        page.get_by_role("link", name="My release").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download the table (CSV)").click()
        released = pl.read_csv(waiting.value.path(), infer_schema=False)
        assert released.height == 700
        assert "ssn" not in released.columns
        page.goto("/app/projects")
        page.get_by_role("link", name="Admissions, queries").click()
        page.get_by_role("link", name="Ask a query").click()
        page.fill("#query", "SELECT sex, COUNT(*) FROM PRIORI GROUP BY sex")
        page.get_by_role("button", name="Ask and pay").click()
        expect(page.get_by_text("Paid: epsilon")).to_be_visible(timeout=60_000)
        look(page)
