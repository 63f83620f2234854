"""The timeline of a series: releases over time, what the next one would be, and what is not told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

import kohorte as ko
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.projects import store_dataset
from support.screens import enter, send, words
from support.service import new_user_with, on_sqlite

pytestmark = on_sqlite
PLAN = {
    "kohorte": 1,
    "person": "none",
    "attributes": {
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 120, "widths": [10, 30]}},
        },
        "sex": {"role": "quasi-identifying", "hierarchy": {"ordering": {"values": ["f", "m"], "fanouts": []}}},
        "result": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "suppression_limit": 1,
}


def registry(rows: int) -> pl.DataFrame:
    numbers = range(rows)
    ages = [str(20 + 7 * number % 53) for number in numbers]
    return pl.DataFrame({"age": ages, "sex": ["fm"[number % 2] for number in numbers], "result": ["x"] * rows})


def start(service: Service, name: str = "registry") -> ko.Series:
    folder = service.settings.series_path / name
    return ko.Series.start(
        folder,
        ko.Plan.from_dict(PLAN),
        {"arrivals": "known", "regions": {"age": {"lower": 0, "upper": 120, "step": 1}}},
    )


@pytest.fixture
def series(service: Service) -> ko.Series:
    """A series of two releases; the three rows that came with the second are held back."""
    found = start(service)
    found.release(registry(120))
    found.release(registry(123))
    return found


def test_the_timeline_shows_every_release_and_tells_few_rows_only_roughly(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    enter(service, client, Role.DATA_PROTECTION_OFFICER)
    assert '<a href="/app/series/registry">registry</a>' in client.get("/app/series").text
    page = client.get("/app/series/registry")
    assert page.status_code == 200
    for entry in series.history:
        assert f"<td>{entry.shown}</td>" in page.text
        assert f"{100 * entry.loss:.1f}\u00a0%" in page.text
    assert [entry.held for entry in series.history] == [0, 3]
    assert page.text.count("fewer than 5</td>") == 1
    assert page.text.count("<svg") == 3
    assert "style=" not in page.text
    assert "preview" not in words(page).lower()


def test_what_the_next_release_would_be_is_that_of_the_command_and_changes_nothing(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    row = enter(service, client, Role.STEWARD)
    number = store_dataset(service, registry(500), row.id)
    before = {path.name: path.read_bytes() for path in series.folder.iterdir() if path.is_file()}
    page = send(client, "/app/series/registry", dataset=str(number))
    coming = series.status(registry(500)).coming
    assert coming is not None
    assert f"<dd>{coming.figures.shown} of 500</dd>" in page.text
    assert f"{coming.regions_before} → {coming.figures.regions}" in page.text
    assert {path.name: path.read_bytes() for path in series.folder.iterdir() if path.is_file()} == before
    told = client.get("/app/series").text
    assert "<td>2</td>" in told
    assert send(client, "/app/series/registry", dataset="").status_code == 400


def test_a_table_that_does_not_fit_is_explained_on_the_page(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    row = enter(service, client, Role.STEWARD)
    number = store_dataset(service, registry(20).drop("sex"), row.id)
    page = send(client, "/app/series/registry", dataset=str(number))
    assert page.status_code == 400
    assert "sex" in words(page)


def test_a_damaged_series_is_named_in_the_list_and_opens_no_other_folder(
    service: Service, client: TestClient, series: ko.Series, tmp_path: Path
) -> None:
    start(service, "<b>other")
    state = service.settings.series_path / "<b>other" / "series.json"
    state.write_text(state.read_text(encoding="utf-8").replace("0", "1", 1), encoding="utf-8")
    enter(service, client, Role.STEWARD)
    listed = client.get("/app/series").text
    assert "&lt;b&gt;other" in listed
    assert "cannot be read" in listed
    for name in ("nobody", "%2e%2e%2fkeys", "registry%2f.."):
        assert client.get(f"/app/series/{name}").status_code == 404


def test_researchers_and_trustees_see_no_series(service: Service, client: TestClient, series: ko.Series) -> None:
    for role in (Role.RESEARCHER, Role.TRUSTEE, Role.OPERATOR):
        enter(service, client, role)
        assert client.get("/app/series").status_code == 403
        assert client.get("/app/series/registry").status_code == 403


def test_the_timeline_is_accessible_in_a_browser(service: Service, series: ko.Series, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        for path in ("/app/series", "/app/series/registry"):
            page.goto(path)
            look(page)
