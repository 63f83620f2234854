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
from playwright.sync_api import Browser, Locator, Page, expect

import kohorte as ko
from kohorte.cli.main import main
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


def saved(page: Page, link: Locator, folder: Path) -> Path:
    """Download a file under the name that the page gives it."""
    with page.expect_download() as waiting:
        link.click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def press(page: Page, step: str) -> None:
    """Press the button of a step of a draft."""
    page.locator(f"button[formaction$={step}]").click()


def test_a_release_is_reviewed_signed_downloaded_and_verified_at_the_recipient(
    demonstration: tuple[str, dict[str, str]], chromium: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, passwords = demonstration
    table, received = tmp_path / "mine.csv", tmp_path / "received"
    received.mkdir()
    ko.cohort(700, seed=9).write_csv(table)

    def signed_in(page: Page, name: str) -> None:
        sign_in(page, f"{name}@example.org", passwords[f"{name}@example.org"])

    with opened(chromium, address, accept_downloads=True) as page:
        signed_in(page, "steward")
        page.get_by_role("link", name="Data").click()
        page.get_by_role("link", name="Upload a table").click()
        page.set_input_files("#file", table)
        page.get_by_role("button", name="Upload").click()
        page.get_by_role("link", name="Make a plan for a release").click(timeout=60_000)
        expect(page.locator("[data-figure=suppressed]")).to_be_visible(timeout=60_000)
        plan = saved(page, page.get_by_role("button", name="Save the plan as a file (YAML)"), received)
        page.fill("#name", "My release")
        page.select_option("#researcher", label="Rosa Researcher, Made-up Hospital")
        page.fill("#comment", "for the registry")
        press(page, "draft")
        press(page, "submit")
        draft = page.url
    with opened(chromium, address) as page:
        signed_in(page, "approver")
        page.goto(draft)
        page.fill("#comment", "the plan is fine")
        press(page, "sign")
        expect(page.locator("[data-state=approved]")).to_be_visible()
        look(page)
    with opened(chromium, address) as page:
        signed_in(page, "steward")
        page.goto(draft)
        press(page, "release")
        expect(page.get_by_text("The project has been created.")).to_be_visible()
    with opened(chromium, address, accept_downloads=True) as page:
        signed_in(page, "researcher")
        page.goto("/app/projects")
        page.get_by_role("link", name="My release").click()
        for _ in range(120):  # the release is made in the background
            if page.get_by_role("button", name="Download the table (CSV)").is_visible():
                break
            page.wait_for_timeout(500)
            page.reload()
        release = saved(page, page.get_by_role("button", name="Download the table (CSV)"), received)
        saved(page, page.get_by_role("link", name="Certificate (JSON)"), received)
    capsys.readouterr()
    assert main(["verify", str(release), "--plan", str(plan)]) == 0
    assert "verdict: " in capsys.readouterr().out
    text = release.read_text(encoding="utf-8")
    release.write_text(text[: text.rindex("\n", 0, -1) + 1], encoding="utf-8")  # without its last row
    main(["verify", str(release), "--plan", str(plan)])
    assert "certificate" in capsys.readouterr().out
