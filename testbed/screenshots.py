"""Pictures of every screen for the documentation: `python -m testbed.screenshots` (or `make screenshots`).

Starts the demonstration of `kohorte demo --serve` on a free port, signs in as every kind of person, and writes each
screen in English and German, light and dark, for a desktop and for a phone, as WebP files into docs/pictures. Everybody
in the pictures is made up.
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
SIZES: Mapping[str, tuple[int, int]] = {"desktop": (1180, 820), "phone": (390, 780)}
LANGUAGES: Mapping[str, str] = {"en": "en-GB", "de": "de-DE"}
SCHEMES = ("light", "dark")
QUALITY = 60
START_SECONDS, LOOK_MILLISECONDS = 180.0, 60_000
SEED_ROWS = "1500"
Look = Callable[[Page], object]


@dataclass(frozen=True)
class Screen:
    """A picture: its name, who looks, and how they get there; `until` is what must be seen first."""

    name: str
    who: str
    path: str
    look: Look | None = None
    until: str = "main h1"


def _send_to(action: str) -> Look:
    """Press the button of the plan editor that leads to another page."""

    def press(page: Page) -> None:
        page.locator(f'button[formaction$="{action}"]').first.click()
        page.wait_for_load_state()

    return press


def _first_link(selector: str) -> Look:
    """Follow the first link of a list."""

    def follow(page: Page) -> None:
        page.locator(selector).first.click()
        page.wait_for_load_state()

    return follow


PLAN = "/app/datasets/1/plan"
SCREENS = (
    Screen("sign-in", "", "/app/sign-in"),
    Screen("home-steward", "steward", "/app"),
    Screen("home-approver", "approver", "/app"),
    Screen("accounts", "steward", "/app/accounts"),
    Screen("upload", "steward", "/app/datasets/new"),
    Screen("dataset", "steward", "/app/datasets/1"),
    Screen("plan", "steward", PLAN, until="aside dl"),
    Screen("choosing", "steward", PLAN, _send_to("/plan/curves"), until="#values-k"),
    Screen("explorer", "steward", PLAN, _send_to("/plan/explore"), until="main svg"),
    Screen("risk", "officer", "/app/projects/1/risk", until="main svg, main table"),
    Screen("hierarchy", "steward", "/app/datasets/1/hierarchies", _first_link('main tr:has-text("occupation") a')),
    Screen("survey", "researcher", "/app/survey", until="main svg, main form"),
    Screen("jobs", "steward", "/app/jobs"),
    Screen("review", "approver", "/app/drafts", _first_link("main table a"), until="main .verdict"),
    Screen("release", "researcher", "/app/projects/1"),
    Screen("ask", "researcher", "/app/projects/2/ask"),
    Screen("series", "officer", "/app/series/registry", until="main svg"),
    Screen("requests", "approver", "/app/exchange/requests"),
    Screen("request", "approver", "/app/exchange/requests", _first_link("main table a")),
    Screen("cases", "trustee", "/app/patients"),
    Screen("case", "trustee", "/app/patients", _first_link("main table a")),
    Screen("way-back", "approver", "/app/way-back"),
)


def main() -> int:
    """Write all pictures, or those whose name contains a text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only screens whose name contains this")
    parser.add_argument("--folder", type=Path, default=PICTURES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [screen for screen in SCREENS if options.only in screen.name]
    with (
        tempfile.TemporaryDirectory() as folder,
        demonstration(Path(folder)) as (address, passwords),
        _browser() as browser,
    ):
        _submit_draft(browser, address, passwords["steward"])
        for language in LANGUAGES:
            for scheme in SCHEMES:
                for size in SIZES:
                    _take(browser, address, passwords, wanted, (language, scheme, size), options.folder)
    return 0


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def demonstration(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start the demonstration; its passwords are printed once."""
    command = [sys.executable, "-m", "kohorte.cli.main", "demo", "--serve", "--rows", SEED_ROWS, "--port", "0"]
    output = folder / "output"
    with output.open("w") as file:
        process = subprocess.Popen([*command, "--folder", str(folder / "demo")], stdout=file, stderr=subprocess.STDOUT)
    try:
        yield _printed(process, output)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _printed(process: subprocess.Popen[bytes], output: Path) -> tuple[str, dict[str, str]]:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        text = output.read_text(encoding="utf-8")
        serving = re.search(r"serving on (http://[\d.:]+)", text)
        if serving is not None:
            return serving[1], dict(re.findall(r"([a-z-]+)@example\.org\s+(\S+)", text))
        time.sleep(0.2)
    raise RuntimeError(f"the demonstration did not start: {output.read_text(encoding='utf-8')}")


def _submit_draft(browser: Browser, address: str, password: str) -> None:
    """Let the steward submit a plan, so that there is something to review."""
    context = browser.new_context(base_url=address)
    page = _signed_in(context, "steward", password)
    page.goto(PLAN)
    page.locator("#researcher").select_option(index=1)
    page.locator('button[formaction$="/plan/draft"]').click()
    page.wait_for_url("**/app/drafts/*")
    page.locator('button[formaction$="submit"], form[action$="submit"] button').first.click()
    page.wait_for_load_state()
    context.close()


def _signed_in(context: BrowserContext, who: str, password: str) -> Page:
    page = context.new_page()
    page.goto("/app/sign-in")
    page.fill("#email_address", f"{who}@example.org")
    page.fill("#password", password)
    page.click("main button[type=submit]")
    page.wait_for_url("**/app*")
    return page


def _take(
    browser: Browser,
    address: str,
    passwords: Mapping[str, str],
    screens: list[Screen],
    kind: tuple[str, str, str],
    folder: Path,
) -> None:
    """Take all pictures of one language, scheme and size; everybody signs in once."""
    language, scheme, size = kind
    width, height = SIZES[size]
    for who in dict.fromkeys(screen.who for screen in screens):
        context = browser.new_context(
            base_url=address,
            locale=LANGUAGES[language],
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": height},
        )
        context.set_default_timeout(LOOK_MILLISECONDS)
        page = _signed_in(context, who, passwords[who]) if who else context.new_page()
        for screen in (screen for screen in screens if screen.who == who):
            page.goto(screen.path)
            if screen.look is not None:
                screen.look(page)
            page.locator(screen.until).first.wait_for()
            _write(page, folder / f"{screen.name}-{language}-{scheme}-{size}.webp")
            print(screen.name, *kind, flush=True)
        context.close()


def _write(page: Page, path: Path) -> None:
    page.evaluate("window.scrollTo(0, 0)")
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    path.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    sys.exit(main())
